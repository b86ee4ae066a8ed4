/** What a start says of the run and of itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lockJob } from '../../../src/core/checkpoint/job-lock.js';
import { JobStore } from '../../../src/core/checkpoint/job-store.js';
import { parseFailpoints } from '../../../src/core/failpoints.js';
import type { Counters } from '../../../src/core/job/run-types.js';
import { Workspace } from '../../support/workspace.js';
import { assertFails, chain, Scripted } from './scripted-job.js';

const three = (c: Counters): readonly number[] => [c.read, c.written, c.dirty];
const NONE = [0, 0, 0];

test('the counters are the run’s, thisStart those of the start, and the bytes go with them', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: chain(3, 4, 5),
    events: [{ split: 's1', at: 2, do: 'dirty' }],
    writer: { failOn: [{ step: 'prepare', epoch: 2 }] },
    more: { errorLimit: { record: 1, percentage: null } },
  });
  const one = await s.run();
  assertFails(one, 'SINK_IO', 1);
  assert.deepEqual(
    [three(one), three(one.thisStart), three(one.uncommitted)],
    [
      [3, 3, 0],
      [3, 3, 0],
      [4, 3, 1],
    ],
  );
  const two = await s.run();
  await s.assertExact(two);
  assert.equal(two.resumed, true);
  assert.deepEqual([three(two), three(two.thisStart), three(two.uncommitted)], [[12, 11, 1], [9, 8, 1], NONE]);
  for (const key of ['bytesRead', 'bytesWritten'] as const) {
    assert.ok(one[key] > 0 && two.thisStart[key] > 0, key);
    assert.equal(two[key], one[key] + two.thisStart[key], `${key}: epoch 2 was read twice and counts once`);
  }
});

test('after DIRTY_LIMIT the dirty rows are those that the limit counted; read and written are what is committed', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: chain(6, 7),
    events: [
      { split: 's0', at: 2, do: 'dirty' },
      { split: 's1', at: 2, do: 'dirty' },
      { split: 's1', at: 3, do: 'dirty' },
    ],
    more: { errorLimit: { record: 2, percentage: null }, dirtyDir: ws.path('dirty') },
  });
  const r = await s.run();
  assertFails(r, 'DIRTY_LIMIT', 3, '3 dirty rows', 'allows 2');
  assert.deepEqual(three(r), [6, 5, 3]);
  assert.deepEqual([r.uncommitted.read, r.uncommitted.dirty], [7, 2]);
  assert.equal(r.thisStart.dirty, 1);
  assert.equal(r.dirtyFiles, ws.path('dirty'));
});

test('a start that is refused has not begun: no run, no counts', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, { splits: chain(2) });
  const jobs = new JobStore(s.state, 'test-job', parseFailpoints(undefined));
  await jobs.open();
  {
    await using lock = await lockJob(jobs.dir, 'test-job');
    void lock;
    const r = await s.run();
    assertFails(r, 'STATE_LOCKED', 4);
    assert.deepEqual([r.begun, r.runId, three(r), three(r.thisStart), r.epochs], [false, null, NONE, NONE, 0]);
  }
  assert.equal((await s.run()).begun, true);
});
