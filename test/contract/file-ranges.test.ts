/** The file reader again, with three lanes asked for and files cut into small parts. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contractTests, readerHarness } from 'syncx/plugin-testkit';
import { reader } from '../../plugins/file/index.js';

const inParts: typeof reader = {
  ...reader,
  async create(options, context) {
    const r = await reader.create({ ...options, splitSize: 60 }, context);
    return { ...r, planner: (saved) => r.planner(saved, 3) };
  },
};

function line(n: number): string {
  const note = n % 5 === 0 ? '\\N' : n % 3 === 0 ? '"two\nlines, ""quoted"""' : 'é🙂';
  return `${String(n)},name ${String(n)},${note}\n`;
}

contractTests(
  readerHarness({
    plugin: inParts,
    seeds: ['missing', 'bad-row'],
    async seed(kind, rows) {
      const path = await mkdtemp(join(tmpdir(), 'syncx-file-'));
      const lines = Array.from({ length: rows }, (_, i) => line(i + 1));
      if (kind === 'bad-row') lines.splice(rows >> 1, 0, 'not a number,x,y\n');
      if (kind !== 'missing') await writeFile(join(path, 'a.csv'), `id,name,note\n${lines.join('')}`);
      await writeFile(join(path, 'b.csv'), 'id,name,note\n');
      return {
        options: {
          path: kind === 'missing' ? join(path, 'nowhere.csv') : path,
          isFirstLineHeader: true,
          column: [{ name: 'id', type: 'bigint' }, { name: 'name' }, { name: 'note' }],
        },
        rows,
        dispose: () => rm(path, { recursive: true }),
      };
    },
    waive: {
      'descriptor.defaults': 'filterRegex has no default: without it all files are read',
      'transaction.safe-points': 'a file has no transactions',
      'flow.abort-idle': 'files are bounded; standard input belongs to the test runner',
      'flow.slow-consumer': 'the case wants one large split',
      'batch.size': 'the case wants large data; parts are read as whole files are',
      'trouble.error': 'compressed files are not cut',
    },
  }),
);
