import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_COUNTERS, STATE_FORMAT, type Checkpoint, type LaneRecord } from '../../../src/core/checkpoint/format.js';
import { recoverRun } from '../../../src/core/checkpoint/recovery.js';
import { RunStore } from '../../../src/core/checkpoint/run-store.js';
import { resolveState } from '../../../src/core/checkpoint/state-admin.js';
import { parseFailpoints } from '../../../src/core/failpoints.js';
import type { RecoverAnswer, Writer } from '../../../src/plugin-api/index.js';
import { makeDirDurable } from '../../../src/durable/files.js';
import { strayFiles } from '../../../plugins/scripted/target.js';
import { Store } from '../../../plugins/scripted/store.js';
import { memoryLog } from '../../support/engine.js';
import { until } from '../../support/sync.js';
import { tree, Workspace } from '../../support/workspace.js';
import { assertFails, chain, Scripted, type Script } from './scripted-job.js';

const POINTS = parseFailpoints(undefined);
const COMMIT_2 = { step: 'commit', epoch: 2 };

/** Epoch 1: all of `a` and rows 1 to 9 of `b`; then a failure in its commit. */
function halfRead(ws: Workspace, writer: Script['writer']): Scripted {
  return new Scripted(ws, {
    splits: [
      { id: 'a', rows: 5 },
      { id: 'b', rows: 20 },
      { id: 'c', rows: 3, after: ['a'] },
    ],
    events: [
      { split: 'a', at: 2, do: 'dirty' },
      { split: 'b', at: 4, do: 'dirty' },
      { split: 'b', at: 10, do: 'pause', until: ws.path('go') },
    ],
    writer: { failOn: [{ step: 'commit', epoch: 1 }], ...writer },
    reader: { batchRows: 3 },
    more: {
      dirtyDir: ws.path('dirty'),
      errorLimit: { record: 2, percentage: null },
      checkpoint: { intervalMs: 200 },
    },
  });
}

test('a lost epoch is read again, with the splits that ended in it', async () => {
  for (const protocol of ['staged', 'marker']) {
    using ws = new Workspace();
    const s = halfRead(ws, { protocol, lose: [{ epoch: 1 }] });
    const one = await s.run();
    assertFails(one, 'SINK_IO', 1);
    assert.deepEqual([one.read, one.written, one.dirty], [0, 0, 0]);
    assert.deepEqual(tree(ws.path('dirty')).length, 1, 'a staged file of dirty rows');
    s.open('go');
    const two = await s.run();
    await s.assertExact(two);
    assert.deepEqual(
      tree(ws.path('dirty')).map((n) => n.replace(/-[a-z0-9]{12}-/, '-run-')),
      ['dirty-run-0-3.jsonl'],
      'published by the epoch that was committed',
    );
  }
});

test('an epoch that is rolled forward brings its dirty rows and counters', async () => {
  using ws = new Workspace();
  const s = halfRead(ws, { protocol: 'staged' });
  assertFails(await s.run(), 'SINK_IO', 1);
  s.open('go');
  const two = await s.run();
  await s.assertExact(two);
  assert.equal(tree(ws.path('dirty')).length, 1);
});

test('what cannot be told stops every start, and changes nothing', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, { splits: chain(7, 4, 5), writer: { failOn: [COMMIT_2], unknown: [{ epoch: 2 }] } });
  assertFails(await s.run(), 'SINK_IO', 1);
  const rows = await s.rows();
  const stray = await strayFiles(s.target);
  for (let i = 0; i < 2; i++) {
    const r = await s.run();
    assertFails(r, 'COMMIT_UNKNOWN', 4, 'epoch 2', 'lane 0', 'sync state resolve');
    assert.deepEqual(await s.rows(), rows);
    assert.deepEqual(await strayFiles(s.target), stray);
  }
});

for (const as of ['committed', 'lost'] as const) {
  test(`an epoch that a person takes as ${as} ends exactly where that is true`, async () => {
    using ws = new Workspace();
    const when = as === 'committed' ? 'after' : 'before';
    const s = new Scripted(ws, {
      splits: chain(7, 4, 5),
      writer: { failOn: [{ ...COMMIT_2, when }], unknown: [{ epoch: 2 }] },
    });
    assertFails(await s.run(), 'SINK_IO', 1);
    await resolveState(s.state, 'test-job', 'all', as);
    await assert.rejects(resolveState(s.state, 'test-job', 0, as), { code: 'USAGE' });
    await s.assertExact(await s.run());
    await assert.rejects(resolveState(s.state, 'test-job', 0, as), { code: 'USAGE' });
  });
}

test('a commit that lands after recovery has asked is fenced', async () => {
  for (const protocol of ['staged', 'marker']) {
    using ws = new Workspace();
    const s = new Scripted(ws, {
      splits: chain(7, 4, 5),
      writer: { protocol, late: [{ epoch: 2, until: ws.path('land') }] },
    });
    assertFails(await s.run(), 'SINK_IO', 1);
    const r = await s.run();
    s.open('land');
    const store = new Store(s.target);
    await until('the late commit has ended', () => {
      const names = tree(store.late);
      return names.length === 1 && names[0]?.startsWith('.') === false;
    });
    await s.assertExact(r);
  }
});

// ---- answers of several committables and lanes, which one scripted lane cannot give ----

function record(lane: number, committables: readonly string[]): LaneRecord {
  const split = { id: `s${String(lane)}`, bounded: true, spec: null, weight: null };
  const ten = { ...NO_COUNTERS, read: 10, written: 10 };
  return {
    lane,
    splits: [{ split, from: { row: 1 }, to: { row: 11 }, ended: { outcome: null } }],
    writer: { from: 'from', to: 'to' },
    counters: { from: NO_COUNTERS, to: ten },
    committables: committables.map((data) => ({ data })),
    dirty: null,
  };
}

interface Recovery {
  readonly store: RunStore;
  again(): ReturnType<typeof recoverRun>;
}

/** `meanwhile` runs in the middle of each recovery. */
async function undecided(
  ws: Workspace,
  lanes: readonly LaneRecord[],
  meanwhile: () => Promise<void> = () => Promise.resolve(),
): Promise<Recovery> {
  const store = new RunStore(ws.path('state'), 'default', 'aaaaaaaaaaaa', POINTS);
  await makeDirDurable(store.dir);
  await store.createAttempt(lanes.length);
  const c: Checkpoint = {
    format: STATE_FORMAT,
    kind: 'epoch',
    runId: store.runId,
    attempt: 1,
    epoch: 1,
    at: Date.now(),
    fingerprint: '',
    planner: 'plan',
    replay: { committed: [], reopened: [] },
    open: [],
    base: NO_COUNTERS,
    epochs: 0,
    lanes,
    end: true,
  };
  await store.putCheckpoint(c);
  const committer = {
    // A committable's data is the answer to it.
    recover: (_run: unknown, cs: readonly { readonly data: unknown }[]) =>
      Promise.resolve(cs.map((x) => String(x.data).split(':')[0] as RecoverAnswer)),
    sweep: () => Promise.resolve({ removed: 0 }),
    highWater: async () => {
      await meanwhile();
      return 0;
    },
  };
  const writer = { committer } as unknown as Writer;
  const again = async (): ReturnType<typeof recoverRun> => {
    const attempt = await store.createAttempt(lanes.length);
    const run = { jobId: 'j', runId: store.runId, attempt };
    const common = { fingerprint: '', positions: 1, allowReplay: false, points: POINTS, log: memoryLog([]) };
    return recoverRun({ store, run, writer, ...common });
  };
  return { store, again };
}

test('lanes are lost and committed each by itself', async () => {
  using ws = new Workspace();
  const r = await undecided(ws, [record(0, ['committed', 'committed']), record(1, ['lost']), record(2, [])]);
  const restored = await r.again();
  assert.deepEqual((await r.store.outcome(1))?.lanes, { 0: 'committed', 1: 'lost', 2: 'committed' });
  assert.deepEqual(
    restored.open.map((o) => [o.split.id, o.position]),
    [['s1', { row: 1 }]],
  );
  assert.deepEqual(restored.replay.committed, ['s0', 's2']);
  assert.deepEqual(restored.writerStates, ['to', 'from', 'to']);
  assert.deepEqual([restored.base.read, restored.end], [20, false]);
  // The takeover says the same to the start after.
  assert.deepEqual(await r.again(), { ...restored, epoch: restored.epoch + 1 });
});

test('lost beside committed in one lane is nobody’s guess, and lanes in doubt are all named', async () => {
  using ws = new Workspace();
  const r = await undecided(ws, [
    record(0, ['committed:a', 'lost:b']),
    record(1, ['committed:c']),
    record(2, ['lost:d', 'unknown:e']),
  ]);
  for (let i = 0; i < 2; i++) {
    await assert.rejects(r.again(), (e: { readonly code?: string; readonly message: string }) => {
      assert.equal(e.code, 'COMMIT_UNKNOWN');
      for (const word of [
        'lane 0: 1 of 2 pieces of epoch 1 are published; 1 are lost: "lost:b"',
        'lane 2: 0 of 2 pieces of epoch 1 are published; 1 cannot be found, neither prepared nor published: "unknown:e"; 1 are lost: "lost:d"',
      ]) {
        assert.ok(e.message.includes(word), `${word} is not in ${e.message}`);
      }
      assert.ok(!e.message.includes('lane 1'), e.message);
      return true;
    });
    assert.equal(await r.store.outcome(1), null);
    assert.deepEqual(await r.store.epochs(), [1]);
  }
  await r.store.resolve(1, 0, 'committed');
  await assert.rejects(r.again(), { code: 'COMMIT_UNKNOWN' });
  await r.store.resolve(1, 2, 'lost');
  await r.again();
  assert.deepEqual((await r.store.outcome(1))?.lanes, { 0: 'committed', 1: 'committed', 2: 'lost' });
});

test('a zombie that links its checkpoint in the middle of a recovery is recovered too', async () => {
  using ws = new Workspace();
  let linked = false;
  const r: Recovery = await undecided(ws, [record(0, ['committed'])], async () => {
    if (linked) return;
    linked = true;
    const c = await r.store.checkpoint(1);
    assert.ok(c);
    const of2 = { ...record(0, ['lost']), counters: { from: c.lanes[0]?.counters.to ?? NO_COUNTERS, to: NO_COUNTERS } };
    const zombie = new RunStore(ws.path('state'), 'default', r.store.runId, POINTS);
    assert.equal(await zombie.putCheckpoint({ ...c, epoch: 2, lanes: [of2] }), true);
  });
  const restored = await r.again();
  assert.deepEqual(await r.store.epochs(), [1, 2, 3]);
  assert.deepEqual((await r.store.outcome(2))?.lanes, { 0: 'lost' });
  assert.deepEqual([restored.epoch, restored.base.read, restored.open.length], [3, 10, 1]);
  const late = await r.store.checkpoint(2);
  assert.ok(late);
  assert.equal(await r.store.putCheckpoint({ ...late, epoch: 3 }), false, 'the slot after it is sealed');
});
