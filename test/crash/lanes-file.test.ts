/** Three lanes in workers, file → file: kill -9 at every step of the protocol, in every lane where the step is a lane's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assertExact,
  assertFinishes,
  assertKilled,
  atOnce,
  fileJob,
  ONCE,
  run,
  setSpeed,
  zombieAt,
  type CrashJob,
} from '../support/crash.js';
import type { SyncResult } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const LANES = [0, 1, 2];
/** Starts at once: they mostly wait, for workers to start and for the rate limit. */
const AT_ONCE = 4;

const COORDINATOR = [
  'ckpt.before',
  'ckpt.written',
  'ckpt.after',
  'outcome.before',
  'outcome.after',
  'committed.after',
  'prune.after',
];
const LANE = [
  'write.before',
  'write.after',
  'barrier.passed#2',
  'prepare.before#2',
  'prepare.after#2',
  'commit.before#2',
  'file.commit.between',
  'commit.data#2',
  'commit.after#2',
];
/** Hits count over all lanes: some lanes are past the step, the others are not. */
const BETWEEN_LANES = [
  'write.after#5',
  'barrier.passed#5',
  'prepare.after#4',
  'prepare.after#5',
  'commit.before#5',
  'commit.data#4',
  'commit.data#5',
  'commit.after#4',
];

/** `prepare.after#2` in lane 1 is `prepare.after@1#2`. */
const inLane = (step: string, lane: number): string => step.replace(/(?=#|$)/, `@${String(lane)}`);

/** Slow: most starts are killed early, and on a busy machine rows must be left for the epochs that come. */
const job3 = (ws: Workspace): CrashJob => fileJob(ws, {}, 200, { files: 7, channel: 3 });

/** The last start need not be slow. */
function finish(ws: Workspace, job: CrashJob, context: string): Promise<SyncResult> {
  setSpeed(job.job, { record: 2000 });
  return assertFinishes(ws, job, context);
}

test('three lanes: killed at any step, the next run makes the target exact', { concurrency: AT_ONCE }, async (t) => {
  const points = [
    ...ONCE,
    ...COORDINATOR,
    ...COORDINATOR.map((s) => `${s}#2`),
    ...LANE.flatMap((s) => LANES.map((lane) => inLane(s, lane))),
    ...BETWEEN_LANES,
  ];
  await atOnce(AT_ONCE, points, async (point) => {
    await t.test(point, async () => {
      using ws = new Workspace();
      const job = job3(ws);
      assertKilled(await run(ws, job, point), point);
      const r = await finish(ws, job, point);
      assert.equal(r.summary?.written, job.expected.length, 'the summary counts the run, not the start');
      assertExact(job);
    });
  });
});

const FIRST = [
  'ckpt.after',
  'commit.before@1',
  'file.commit.between#2',
  'commit.data@0',
  'commit.data#2',
  'commit.after@1',
  'outcome.before',
];
const SECOND = [
  'attempt.before',
  'attempt.after',
  'recover.before',
  'file.commit.between',
  'recover.after',
  'recover.outcome',
  'takeover.before',
  'takeover.written',
  'takeover.after',
  'sweep.before',
  'sweep.after',
  'planner.after',
  'lanes.opened',
  'prepare.after#2',
  'ckpt.after',
  'commit.data#2',
  'outcome.before',
];

test('three lanes: killed at the commit and again in the next start', { concurrency: AT_ONCE }, async (t) => {
  const pairs = SECOND.flatMap((second, i) => [i, i + 3].map((k) => [FIRST[k % FIRST.length] ?? '', second] as const));
  await atOnce(AT_ONCE, pairs, async ([first, second]) => {
    await t.test(`${first} then ${second}`, async () => {
      using ws = new Workspace();
      const job = job3(ws);
      assertKilled(await run(ws, job, first), first);
      assertKilled(await run(ws, job, second), second);
      await finish(ws, job, `${first}, ${second}`);
      assertExact(job);
    });
  });
});

test('2, then 8, then 1 lane, each of the first two starts killed', { concurrency: AT_ONCE }, async (t) => {
  const pairs = [
    ['prepare.after@1', 'takeover.after'],
    ['ckpt.after', 'lanes.opened'],
    ['commit.before@1', 'prepare.after@7'],
    ['commit.data@0', 'ckpt.written'],
    ['file.commit.between', 'ckpt.after'],
    ['commit.data@1', 'commit.data@7'],
    ['outcome.before', 'commit.before@4'],
    ['outcome.after', 'commit.data#5'],
    ['prune.after', 'outcome.before'],
    ['ckpt.written', 'outcome.after'],
    ['commit.after@0', 'recover.outcome'],
    ['barrier.passed@0', 'file.commit.between#2'],
  ] as const;
  await atOnce(AT_ONCE, pairs, async ([first, second]) => {
    await t.test(`2 lanes: ${first}, 8 lanes: ${second}`, async () => {
      using ws = new Workspace();
      const job = fileJob(ws, {}, 200, { files: 14, rows: 20, channel: 2 });
      assertKilled(await run(ws, job, first), first);
      setSpeed(job.job, { channel: 8 });
      assertKilled(await run(ws, job, second), second);
      setSpeed(job.job, { channel: 1 });
      const r = await finish(ws, job, `${first}, ${second}`);
      assert.equal(r.summary?.written, job.expected.length);
      assertExact(job);
    });
  });
});

const ZOMBIE = [
  'lanes.opened',
  'write.after@1',
  'barrier.passed@2',
  'prepare.before@0',
  'prepare.after@2',
  'ckpt.before',
  'ckpt.written',
  'ckpt.after',
  'commit.before@1',
  'file.commit.between@2',
  'commit.data@0',
  'commit.data#2',
  'commit.after@1',
  'outcome.before',
  'prune.after',
];

test(
  'three lanes: a stopped process that wakes after its successor is done changes nothing and exits 4',
  { concurrency: AT_ONCE },
  async (t) => {
    await atOnce(AT_ONCE, ZOMBIE, async (point) => {
      await t.test(point, async () => {
        using ws = new Workspace();
        const job = job3(ws);
        await zombieAt(ws, job, point, async () => {
          await finish(ws, job, point);
          assertExact(job);
        });
        assertExact(job);
      });
    });
  },
);
