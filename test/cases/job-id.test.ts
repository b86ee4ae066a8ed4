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
