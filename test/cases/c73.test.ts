/** C73: exit code and summary tell the truth. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sync, type SyncResult } from '../support/sync.js';
import { publishedLines, Workspace } from '../support/workspace.js';

interface Parts {
  readonly rows?: number;
  readonly reader?: Readonly<Record<string, unknown>>;
  readonly writer?: Readonly<Record<string, unknown>>;
  readonly setting?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** Row i is bad where `n` is not a number. */
async function runFiles(ws: Workspace, bad: readonly number[], parts: Parts = {}): Promise<SyncResult> {
  let csv = 'id,n\n';
  for (let i = 1; i <= (parts.rows ?? 1000); i++) csv += `r${String(i)},${bad.includes(i) ? 'x' : String(i)}\n`;
  ws.write('in/a.csv', csv);
  const job = ws.job({
    job: {
      content: [
        {
          reader: {
            name: 'filereader',
            parameter: {
              path: 'in',
              fileType: 'csv',
              isFirstLineHeader: true,
              column: [{ name: 'id' }, { name: 'n', type: 'int' }],
              ...parts.reader,
            },
          },
          writer: { name: 'filewriter', parameter: { path: 'out', fileType: 'json', ...parts.writer } },
        },
      ],
      setting: parts.setting ?? {},
    },
  });
  return sync(['run', job, '--output', 'json'], { cwd: ws.dir, ...(parts.env ? { env: parts.env } : {}) });
}

function counts(r: SyncResult): readonly unknown[] {
  return [r.summary?.read, r.summary?.written, r.summary?.dirty];
}

/** One line with the cause at the end of stderr, and no stack. */
function assertTold(r: SyncResult, what: RegExp): void {
  assert.notEqual(r.code, 0);
  assert.match(r.stderr.trimEnd().split('\n').at(-1) ?? '', what, r.stderr);
  assert.doesNotMatch(r.stderr, /^\s+at .*:\d+:\d+\)?$/m);
}

test('C73 (1) a clean job of 1,000 rows', async () => {
  using ws = new Workspace();
  const r = await runFiles(ws, []);
  assert.equal(r.code, 0, r.stderr);
  assert.deepEqual(counts(r), [1000, 1000, 0]);
  assert.equal(r.summary?.error, null);
  assert.equal(publishedLines(ws.path('out')).length, 1000);
  for (const key of 'state read written dirty filtered bytesRead bytesWritten seconds epochs delivery error'.split(
    ' ',
  )) {
    assert.ok(r.summary && key in r.summary, `the summary has ${key}`);
  }
});

test('C73 (2) three dirty rows within the limit', async () => {
  using ws = new Workspace();
  const r = await runFiles(ws, [1, 500, 1000], { setting: { errorLimit: { record: 3 } } });
  assert.equal(r.code, 0, r.stderr);
  assert.deepEqual(counts(r), [1000, 997, 3]);
  assert.equal(publishedLines(ws.path('out')).length, 997);
});

test('C73 (3) the dirty limit is passed', async () => {
  using ws = new Workspace();
  const r = await runFiles(ws, [1, 500, 1000], { setting: { errorLimit: { record: 2 } } });
  assert.equal(r.code, 3, r.stderr);
  assertTold(r, /DIRTY_LIMIT|dirty/);
  assert.equal(r.summary?.written, publishedLines(ws.path('out')).length);
});

test('C73 (4) the source is missing', async () => {
  using ws = new Workspace();
  const r = await runFiles(ws, [], { reader: { path: 'nowhere' } });
  assert.equal(r.code, 1, r.stderr);
  assertTold(r, /nowhere/);
  assert.deepEqual(counts(r), [0, 0, 0]);
});

test('C73 (5) the target cannot be written', async () => {
  using ws = new Workspace();
  ws.write('out', 'a file where the folder should be');
  const r = await runFiles(ws, []);
  assert.equal(r.code, 1, r.stderr);
  assertTold(r, /out/);
  assert.deepEqual(counts(r), [0, 0, 0]);
});

for (const [what, script] of [
  ['timer', "setTimeout(()=>{throw new Error('boom in a timer')},250)"],
  ['promise', "setTimeout(()=>{Promise.reject(new Error('boom in a promise'))},250)"],
] as const) {
  test(`C73 (6) something throws inside a ${what} that nobody awaits`, async () => {
    using ws = new Workspace();
    const r = await runFiles(ws, [], {
      setting: { speed: { record: 500 } },
      env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` },
    });
    assert.equal(r.code, 1, r.stderr);
    assertTold(r, /boom in a/);
    assert.ok(r.ms < 10_000);
  });
}

test('C73 (7) the reader fails at row 500', async () => {
  using ws = new Workspace();
  const job = ws.job({
    job: {
      content: [
        {
          reader: {
            name: 'scripted',
            parameter: {
              splits: [{ id: 's', rows: 1000 }],
              folder: 'faults',
              events: [{ split: 's', at: 500, do: 'fail', code: 'SOURCE_IO', times: 9 }],
            },
          },
          writer: { name: 'filewriter', parameter: { path: 'out', fileType: 'json' } },
        },
      ],
    },
  });
  const r = await sync(['run', job, '--output', 'json'], { cwd: ws.dir });
  assert.equal(r.code, 1, r.stderr);
  assertTold(r, /SOURCE_IO/);
  assert.equal(r.summary?.state, 'failed');
  assert.equal(r.summary.written, publishedLines(ws.path('out')).length);
});

test('C73 (8) the job file is missing', async () => {
  using ws = new Workspace();
  const r = await sync(['run', 'no-such-job.json', '--output', 'json'], { cwd: ws.dir });
  assert.equal(r.code, 2, r.stderr);
  assertTold(r, /no-such-job\.json/);
});

test('C73 (9) an empty source', async () => {
  using ws = new Workspace();
  const r = await runFiles(ws, [], { rows: 0 });
  assert.equal(r.code, 0, r.stderr);
  assert.deepEqual(counts(r), [0, 0, 0]);
});
