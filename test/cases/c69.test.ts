/** C69, the parts that need no database: column counts, and state from a job that has changed. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { assertKilled } from '../support/crash.js';
import { sync, type SyncResult } from '../support/sync.js';
import { publishedLines, Workspace } from '../support/workspace.js';

interface Edit {
  readonly reader?: Readonly<Record<string, unknown>>;
  readonly writer?: Readonly<Record<string, unknown>>;
  readonly channel?: number;
}

function job(ws: Workspace, edit: Edit = {}): string {
  return ws.job({
    job: {
      content: [
        {
          reader: {
            name: 'filereader',
            parameter: {
              path: 'in',
              fileType: 'csv',
              column: ['a', 'b', 'c'],
              isFirstLineHeader: true,
              ...edit.reader,
            },
          },
          writer: { name: 'filewriter', parameter: { path: 'out', fileType: 'csv', ...edit.writer } },
        },
      ],
      setting: { speed: { record: 400, channel: edit.channel ?? 1 }, checkpoint: { interval: 10 } },
    },
  });
}

function input(ws: Workspace, folder: string): readonly string[] {
  const rows: string[] = [];
  for (const f of ['1', '2', '3', '4']) {
    let csv = 'a,b,c\n';
    for (let i = 1; i <= 20; i++) {
      csv += `${folder}${f},${String(i)},x\n`;
      rows.push(`${folder}${f},${String(i)},x`);
    }
    ws.write(`${folder}/${f}.csv`, csv);
  }
  return rows.sort();
}

const run = (ws: Workspace, path: string, more: readonly string[] = [], failpoint?: string): Promise<SyncResult> =>
  sync(['run', path, '--output', 'json', ...more], { cwd: ws.dir, ...(failpoint === undefined ? {} : { failpoint }) });

test('C69 (a) 3 columns against 4 are a config error before anything happens', async () => {
  using ws = new Workspace();
  input(ws, 'in');
  const r = await run(ws, job(ws, { writer: { column: ['a', 'b', 'c', 'd'] } }));
  assert.equal(r.code, 2, r.stderr);
  assert.match(r.stderr, /reader has 3 columns, the writer 4 columns/);
  assert.deepEqual(readdirSync(ws.dir).sort(), ['in', 'job.json'], 'no target, no state');
});

for (const [what, edit, named] of [
  ['another source', { reader: { path: 'in2' } }, /reader\.parameter\.path \(".*\/in" → ".*\/in2"\)/],
  ['another target', { writer: { path: 'out2' } }, /writer\.parameter\.path \(".*\/out" → ".*\/out2"\)/],
  ['other columns', { reader: { column: ['a', 'c', 'b'] } }, /reader\.parameter\.column/],
] as const) {
  test(`C69 (b) state of a job that now has ${what} is refused, naming it; --fresh starts anew`, async () => {
    using ws = new Workspace();
    input(ws, 'in');
    input(ws, 'in2');
    assertKilled(await run(ws, job(ws), [], 'outcome.after'), 'outcome.after');
    const before = publishedLines(ws.path('out'));
    const edited = job(ws, edit);
    const r = await run(ws, edited);
    assert.equal(r.code, 4, r.stderr);
    assert.equal(r.summary?.error?.code, 'STATE_MISFIT');
    assert.match(r.summary.error.message, named);
    assert.deepEqual(publishedLines(ws.path('out')), before);
    const fresh = await run(ws, edited, ['--fresh']);
    assert.equal(fresh.code, 0, fresh.stderr);
    assert.equal(fresh.summary?.written, 80);
  });
}

test('C69 (b) another channel count goes on: no row is lost or doubled', async () => {
  using ws = new Workspace();
  const rows = input(ws, 'in');
  assertKilled(await run(ws, job(ws, { channel: 2 }), [], 'outcome.after'), 'outcome.after');
  const r = await run(ws, job(ws, { channel: 4 }));
  assert.equal(r.code, 0, r.stderr);
  assert.equal(r.summary?.['resumed'], true);
  assert.deepEqual(publishedLines(ws.path('out')), rows);
});

test('C69 (b) the same relative paths from another folder are another job', async () => {
  using ws = new Workspace();
  input(ws, 'in');
  input(ws, 'elsewhere/in');
  const path = job(ws);
  assertKilled(await run(ws, path, [], 'outcome.after'), 'outcome.after');
  const env = { SYNC_STATE_DIR: ws.path('state') };
  const r = await sync(['run', path, '--output', 'json'], { cwd: ws.path('elsewhere'), env });
  assert.equal(r.code, 4, r.stderr);
  assert.match(r.summary?.error?.message ?? '', /reader\.parameter\.path .*elsewhere/);
  // The target that was used is swept, not the one that the path means from here.
  const fresh = await sync(['run', path, '--output', 'json', '--fresh'], { cwd: ws.path('elsewhere'), env });
  assert.equal(fresh.code, 0, fresh.stderr);
  assert.equal(readdirSync(ws.path('out')).filter((n) => n.startsWith('.')).length, 0);
  assert.equal(publishedLines(ws.path('elsewhere/out')).length, 80);
});
