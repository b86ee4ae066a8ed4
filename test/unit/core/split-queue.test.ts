import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as macrotask } from 'node:timers/promises';
import type { OpenSplit } from '../../../src/core/checkpoint/format.js';
import { SplitQueue, type SplitTaker } from '../../../src/core/coordinator/split-queue.js';
import type { JsonValue, Split, SplitPlanner, SyncError } from '../../../src/plugin-api/index.js';

function split(id: string, bounded = true): Split {
  return { id, bounded, spec: null, weight: null };
}

interface Harness {
  readonly queue: SplitQueue;
  readonly assigned: string[];
  readonly failures: SyncError[];
}

function harness(
  planner: Partial<SplitPlanner>,
  more: { readonly again?: readonly OpenSplit[]; readonly taker?: SplitTaker; readonly changed?: () => void } = {},
): Harness {
  const assigned: string[] = [];
  const failures: SyncError[] = [];
  const queue = new SplitQueue({
    planner: {
      next: () => new Promise(() => undefined),
      finished: () => undefined,
      committed: () => undefined,
      reopen: () => undefined,
      snapshot: () => null,
      ...planner,
    },
    lanes: [more.taker ?? { assign: (s) => void assigned.push(s.id) }],
    again: more.again ?? [],
    epoch: 1,
    signal: new AbortController().signal,
    changed: more.changed ?? (() => undefined),
    fail: (e) => void failures.push(e),
  });
  return { queue, assigned, failures };
}

test("an unchanged plan is kept as the planner's last full answer", () => {
  const answers: (JsonValue | { readonly unchangedSince: number })[] = [
    { plan: 'full' },
    { unchangedSince: 1 },
    { unchangedSince: 1 },
    { plan: 'new' },
    { unchangedSince: 4 },
  ];
  const { queue } = harness({ snapshot: (n) => answers[n - 1] ?? null });
  const plans = answers.map((_, i) => queue.snapshot(i + 1).planner);
  assert.deepEqual(plans, [{ plan: 'full' }, { plan: 'full' }, { plan: 'full' }, { plan: 'new' }, { plan: 'new' }]);
});

test('a planner that names a snapshot it never gave is broken', () => {
  const { queue } = harness({ snapshot: () => ({ unchangedSince: 7 }) });
  assert.throws(() => queue.snapshot(1), { code: 'PLUGIN_BROKEN' });
});

test('a reader that refuses a split fails the run, not the process', async () => {
  const { queue, failures } = harness(
    { next: () => Promise.resolve(split('a')) },
    {
      taker: {
        assign: () => {
          throw new Error('refused');
        },
      },
    },
  );
  queue.want(0, 1);
  await macrotask();
  assert.deepEqual(
    failures.map((f) => f.message),
    ['refused'],
  );
});

test('restored unbounded splits do not wait for a bounded one to end', () => {
  const { queue, assigned } = harness(
    {},
    {
      again: [
        { split: split('a'), position: null },
        { split: split('b'), position: null },
        { split: split('u', false), position: { row: 3 } },
      ],
    },
  );
  queue.want(0, 1);
  assert.deepEqual([...assigned].sort(), ['a', 'u']);
  assert.deepEqual(
    queue
      .snapshot(1)
      .open.map((o) => [o.split.id, o.position])
      .sort(),
    [
      ['a', null],
      ['b', null],
      ['u', { row: 3 }],
    ],
  );
});

test('what a lane says of the next epoch counts after the snapshot of this one', () => {
  const finished: string[] = [];
  const { queue } = harness(
    { finished: (id) => void finished.push(id) },
    { again: [{ split: split('a'), position: null }] },
  );
  queue.want(0, 1);
  queue.finished(2, 'a', null);
  assert.deepEqual(
    queue.snapshot(1).open.map((o) => o.split.id),
    ['a'],
  );
  assert.deepEqual(finished, []);
  queue.enter(2);
  assert.deepEqual(finished, ['a']);
  assert.deepEqual(queue.snapshot(2).open, []);
});

test('a planner that waits for a commit gets one, also beside an unbounded split', () => {
  const { queue } = harness(
    {},
    {
      again: [
        { split: split('u', false), position: null },
        { split: split('a'), position: null },
      ],
    },
  );
  queue.want(0, 1);
  queue.want(0, 1);
  assert.equal(queue.waitsForCommit, false);
  queue.finished(1, 'a', null);
  queue.want(0, 1);
  assert.equal(queue.waitsForCommit, true);
  const a = { split: split('a'), from: null, to: null, ended: { outcome: null } };
  queue.committed([a]);
  assert.equal(queue.waitsForCommit, false);
});

test('it tells that only a commit helps, also where a lane asks only after its split has ended', async () => {
  const answers: (Promise<Split> | undefined)[] = [Promise.resolve(split('a'))];
  const told: boolean[] = [];
  const { queue } = harness(
    { next: () => answers.shift() ?? new Promise(() => undefined) },
    { changed: () => void told.push(queue.waitsForCommit) },
  );
  queue.want(0, 1);
  await macrotask();
  queue.finished(1, 'a', null);
  assert.equal(told.at(-1), false, 'nobody asks for more yet');
  queue.want(0, 1);
  assert.equal(told.at(-1), true);
});
