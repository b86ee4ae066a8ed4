import { mkdtemp, readdir, readFile, rm, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contractTests, readerHarness, writerHarness } from 'syncx/plugin-testkit';
import { reader, writer } from '../index.js';

contractTests(
  readerHarness({
    plugin: reader,
    seeds: ['plain', 'large'],
    seed: async (kind, rows) => ({
      options:
        kind === 'large'
          ? { count: 65536, splits: 1, text: 'x'.repeat(1024) }
          : { count: rows, splits: 2, text: 'row' },
      rows: kind === 'large' ? 65536 : rows,
      dispose: async () => {},
    }),
    // Rules that this source cannot break, each with the reason. A waiver of a case that would pass is an error.
    waive: {
      'transaction.safe-points': 'numbers have no transactions',
      'flow.abort-idle': 'there is always a next number, until the end',
      'trouble.bad-row': 'every number is a good row',
      'trouble.bad-alone': 'every number is a good row',
      'trouble.error': 'counting cannot fail',
      'trouble.missing': 'there is no source that could be missing',
    },
  }),
);

/** @param {string} folder */
async function published(folder) {
  const names = (await readdir(folder)).filter((n) => !n.startsWith('.'));
  const texts = await Promise.all(names.map((n) => readFile(join(folder, n), 'utf8')));
  return texts.flatMap((t) => t.split('\n').slice(0, -1));
}

/** @param {string} folder */
async function staged(folder) {
  const names = await readdir(folder, { recursive: true });
  return names.filter((n) => n.startsWith('.') && n.includes('/')).map((n) => join(folder, n));
}

/** @param {string} line */
const parsed = (line) =>
  JSON.parse(line, (_, v) => (typeof v?.base64 === 'string' ? Buffer.from(v.base64, 'base64') : v));

contractTests(
  writerHarness({
    plugin: writer,
    prepared: 'survive',
    async target() {
      const path = await mkdtemp(join(tmpdir(), 'counter-'));
      return {
        options: { path },
        readBack: async () => (await published(path)).map(parsed),
        leftovers: () => staged(path),
        damage: async () => {
          for (const file of await staged(path)) await unlink(file);
        },
        dispose: () => rm(path, { recursive: true }),
      };
    },
    waive: {
      'values.bad-row': 'a JSON line has a form for every value, so no row is refused',
    },
  }),
);
