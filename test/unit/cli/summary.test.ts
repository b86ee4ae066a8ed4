/** Summaries as a person reads them. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { sync } from '../../support/sync.js';
import { Workspace } from '../../support/workspace.js';
import { assertGolden } from './golden.js';

const CSV = { fileType: 'csv', isFirstLineHeader: true };

function entry(out: string): object {
  return {
    reader: {
      name: 'file',
      parameter: { path: 'in/*.csv', ...CSV, column: ['id', { name: 'age', type: 'int' }] },
    },
    transform: [{ op: 'filter', where: 'age > 17' }],
    writer: { name: 'file', parameter: { path: out, ...CSV } },
  };
}

function jobOf(ws: Workspace, content: readonly object[], setting: object = {}): string {
  ws.write('in/a.csv', 'id,age\n1,20\n2,old\n3,8\n4,71\n');
  return ws.job({ job: { content, setting } });
}

/** Without what differs from run to run. */
function told(ws: Workspace, text: string): string {
  return text
    .replaceAll(ws.dir, '{{DIR}}')
    .replace(/state\/[^/]+\/runs\/default\/\w{12}\//g, 'state/{{JOB}}/runs/default/{{RUN}}/')
    .replace(/^time .*$/gm, 'time         {{SECONDS}} s')
    .replace(/^rate .*$/gm, 'rate         {{ROWS}} rows/s, {{BYTES}}/s');
}

for (const [what, content, setting, code] of [
  ['finished', [entry('out')], { errorLimit: { record: 1 } }, 0],
  ['dirty-limit', [entry('out')], {}, 3],
  ['entries', [entry('out-1'), entry('out-2')], { errorLimit: { record: 1 } }, 0],
] as const) {
  test(`the summary of a job: ${what}`, async () => {
    using ws = new Workspace();
    const r = await sync(['run', jobOf(ws, content, setting)], { cwd: ws.dir });
    assert.equal(r.code, code, r.stderr);
    const errors = r.stderr.split('\n').filter((l) => !l.startsWith('{"level"'));
    assertGolden(`summary-${what}.txt`, told(ws, `${r.stdout}--- stderr\n${errors.join('\n')}`));
  });
}
