import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sync } from '../support/sync.js';
import { tree, Workspace } from '../support/workspace.js';

test('an empty, missing or repeated job id is refused and touches no state', async () => {
  using ws = new Workspace();
  ws.write('state/id', 'x');
  ws.write('state/other/job', '{"jobId":"other"}');
  const before = tree(ws.path('state'));
  const job = ws.job({
    job: {
      content: [
        {
          reader: { name: 'streamreader', parameter: { column: [{ name: 'id', type: 'id' }], sliceRecordCount: [1] } },
          writer: { name: 'streamwriter', parameter: { print: false } },
        },
      ],
    },
  });
  for (const args of [
    ['state', 'reset', ''],
    ['state', 'reset', job, '--job-id', ''],
    ['run', job, '--job-id', ''],
    ['run', job, '--job-id', 'a', '--job-id', 'b'],
    ['run', job, '--state-dir', ''],
  ]) {
    const r = await sync(args, { cwd: ws.dir });
    assert.equal(r.code, 2, `${args.join(' ')}: ${r.stderr}`);
    assert.deepEqual(tree(ws.path('state')), before, args.join(' '));
  }
});

test('a job id that no list could show on one line is refused, wherever it is said, and touches no state', async () => {
  using ws = new Workspace();
  ws.write('state/id', 'x');
  ws.write('state/old/job', JSON.stringify({ jobId: 'two\nlines' }));
  ws.write('state/torn/job', '{"jobId":');
  const before = tree(ws.path('state'));
  const jobNamed = (jobId?: string): string =>
    ws.job({
      job: {
        content: [
          {
            reader: {
              name: 'streamreader',
              parameter: { column: [{ name: 'id', type: 'id' }], sliceRecordCount: [1] },
            },
            writer: { name: 'streamwriter', parameter: { print: false } },
          },
        ],
        setting: jobId === undefined ? {} : { jobId },
      },
    });
  for (const [id, word] of [
    ['two\nlines', 'U+000A at position 4'],
    ['tab\tbed', 'U+0009'],
    ['\u001b[31mred', 'U+001B'],
    ['a\u2028b', 'U+2028'],
  ] as const) {
    for (const args of [
      ['run', jobNamed(), '--job-id', id, '--output', 'json'],
      ['run', jobNamed(id), '--output', 'json'],
      ['validate', jobNamed(id), '--output', 'json'],
    ]) {
      const r = await sync(args, { cwd: ws.dir });
      assert.equal(r.code, 2, r.stderr);
      assert.match(r.stderr, /JOB_INVALID/);
      assert.ok(r.stderr.includes(word), r.stderr);
      assert.deepEqual(tree(ws.path('state')), before);
    }
  }
  const list = await sync(['state', 'list'], { cwd: ws.dir });
  assert.equal(list.code, 0, list.stderr);
  assert.match(list.stdout, /^damaged .* old$/m);
  assert.match(list.stdout, /^damaged .* torn$/m);
});
