/** C61: ragged rows, headers that differ, empty and missing files. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sync, type SyncResult } from '../support/sync.js';
import { publishedLines, Workspace } from '../support/workspace.js';

const FILES = {
  'a.csv': 'id,name,age\n1,ann,30\n2,bob\n3,carl,40,extra\n',
  'b.csv': 'age,id,name\n50,4,dan\n',
  'c.csv': '',
  'd.csv': 'id,name,age\n',
};
const RIGHT = ['{"id":"1","name":"ann","age":"30"}', '{"id":"4","name":"dan","age":"50"}'];

function workspace(): Workspace {
  const ws = new Workspace();
  for (const [name, text] of Object.entries(FILES)) ws.write(`in/${name}`, text);
  return ws;
}

function run(ws: Workspace, dirty: number, path = 'in'): Promise<SyncResult> {
  const job = ws.job({
    job: {
      content: [
        {
          reader: { name: 'filereader', parameter: { path, isFirstLineHeader: true, column: ['id', 'name', 'age'] } },
          writer: { name: 'filewriter', parameter: { path: 'out', fileType: 'json' } },
        },
      ],
      setting: { errorLimit: { record: dirty }, dirty: { path: 'dirty' } },
    },
  });
  return sync(['run', job, '--output', 'json'], { cwd: ws.dir });
}

interface DirtyLine {
  readonly place: string;
  readonly reason: string;
  readonly row: unknown;
}

function dirtyLines(ws: Workspace): readonly DirtyLine[] {
  const dir = ws.path('dirty');
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((e) => e.isFile());
  return files
    .flatMap((e) => readFileSync(join(e.parentPath, e.name), 'utf8').trimEnd().split('\n'))
    .map((line) => JSON.parse(line) as DirtyLine)
    .sort((a, b) => (a.place < b.place ? -1 : 1));
}

test('C61 headers in another order go by name; ragged rows are dirty; empty files and headers alone give nothing', async () => {
  using ws = workspace();
  const r = await run(ws, 2);
  assert.equal(r.code, 0, r.stderr);
  assert.deepEqual(publishedLines(ws.path('out')), RIGHT);
  assert.deepEqual([r.summary?.read, r.summary?.written, r.summary?.dirty], [4, 2, 2]);
  assert.deepEqual(
    dirtyLines(ws).map((d) => [d.place, d.reason.replace(/ \(.*/, ''), d.row]),
    [
      [`${ws.path('in', 'a.csv')}:3`, 'the record has 2 fields, not 3', '2,bob'],
      [`${ws.path('in', 'a.csv')}:4`, 'the record has 4 fields, not 3', '3,carl,40,extra'],
    ],
  );
});

test('C61 a header that names a column twice is loud and names file and column', async () => {
  using ws = workspace();
  ws.write('in/e.csv', 'id,id,age\n9,9,9\n');
  const r = await run(ws, 2);
  assert.equal(r.code, 1, r.stderr);
  assert.equal(r.summary?.error?.code, 'SOURCE_FORMAT');
  assert.equal(r.summary.error.message, `the header of ${ws.path('in', 'e.csv')} has the name \`id\` twice`);
});

test('C61 a path that matches nothing is loud and names it', async () => {
  using ws = workspace();
  for (const path of ['none', 'in/*.txt', 'in/none.csv']) {
    const r = await run(ws, 2, path);
    assert.equal(r.code, 1, r.stderr);
    assert.equal(r.summary?.error?.code, 'SOURCE_MISSING');
    assert.ok(r.summary.error.message.includes(path), r.summary.error.message);
  }
});

test('C61 with one dirty row allowed the job fails', async () => {
  using ws = workspace();
  const r = await run(ws, 1);
  assert.equal(r.code, 3, r.stderr);
  assert.equal(r.summary?.error?.code, 'DIRTY_LIMIT');
});
