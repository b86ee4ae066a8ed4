/** C73, what is printed: a start that was refused, a limit that was passed, a run that was resumed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertFinishes, assertKilled, fileJob, run } from '../support/crash.js';
import { startSync, sync, until } from '../support/sync.js';
import { tree, Workspace } from '../support/workspace.js';

test('C73 a start that finds the job running prints the error and nothing that looks like a run', async () => {
  using ws = new Workspace();
  const job = fileJob(ws, {}, 100);
  const running = startSync(['run', job.job], { cwd: ws.dir });
  await until('the job runs', () => tree(ws.path('state')).some((n) => n.endsWith('/begun')));
  const json = await run(ws, job);
  const text = await sync(['run', job.job], { cwd: ws.dir });
  running.child.kill('SIGTERM');
  await running.done;
  assert.equal(json.code, 4, json.stderr);
  assert.equal(json.summary?.error?.code, 'STATE_LOCKED');
  assert.deepEqual(
    [json.summary.state, json.summary.delivery, json.summary.read, json.summary['exitCode']],
    ['failed', null, 0, 4],
  );
  assert.equal(text.code, 4);
  assert.equal(text.stdout, '');
  assert.match(text.stderr, /^sync: STATE_LOCKED: .*\n$/);
});

test('C73 the dirty limit: a line for each row above the line that tells the failure', async () => {
  using ws = new Workspace();
  ws.write('in/a.csv', 'id,n\n1,x\n2,"two\nlines"\n3,3\n');
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
            },
          },
          writer: { name: 'filewriter', parameter: { path: 'out', fileType: 'json' } },
        },
      ],
      setting: { errorLimit: { record: 1 } },
    },
  });
  const r = await sync(['run', job, '--output', 'json'], { cwd: ws.dir });
  assert.equal(r.code, 3, r.stderr);
  const lines = r.stderr.trimEnd().split('\n').slice(-3);
  assert.match(lines[0] ?? '', /^ {2}.*a\.csv:2/);
  assert.match(lines[1] ?? '', /^ {2}.*a\.csv:3/);
  assert.match(lines[2] ?? '', /^sync: DIRTY_LIMIT: 2 dirty rows; errorLimit\.record allows 1; /);
  assert.deepEqual([r.summary?.dirty, r.summary?.written], [2, 0]);
});

test('C73 after a resume the counts are the run’s and thisStart is the start’s', async () => {
  using ws = new Workspace();
  const job = fileJob(ws);
  assertKilled(await run(ws, job, 'outcome.after#2'), 'outcome.after#2');
  const r = await assertFinishes(ws, job, 'resumed');
  const { read, written } = r.summary?.['thisStart'] as { readonly read: number; readonly written: number };
  assert.equal(r.summary?.read, job.expected.length);
  assert.ok(read > 0 && read < job.expected.length, String(read));
  assert.equal(written, read);
});
