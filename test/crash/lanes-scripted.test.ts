/**
 * Three lanes in workers and a target that lives outside the process: kill -9 at every step, epochs that are lost in one
 * lane and committed in another, outcomes that nobody can tell, another number of lanes at the next start.
 *
 * The splits come in rounds (`roundsOf`): round n is epoch n, and each lane has a split of it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertKilled, atOnce, run, setSpeed, zombieAt } from '../support/crash.js';
import {
  assertLaneJobExact,
  flowOf,
  laneJob,
  newestCheckpoint,
  roundsOf,
  targetRows,
  type LaneJob,
  type LaneJobOptions,
} from '../support/lane-job.js';
import { sync } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const LANES = [0, 1, 2] as const;
const AT_ONCE = 4;
const PROTOCOLS = ['staged', 'marker'] as const;

const DIRTY = ['r1.0:3', 'r2.1:7', 'r2.2:2', 'r3.0:12'];
const rounds = (ws: Workspace, writer: LaneJobOptions['writer'] = {}): LaneJob =>
  laneJob(ws, { splits: roundsOf(4, 3), dirty: DIRTY, writer });

/** Splits that are read over several epochs, so that positions inside them are restored. */
const flow = (ws: Workspace, writer: LaneJobOptions['writer'] = {}): LaneJob =>
  laneJob(ws, {
    splits: flowOf(7, 24),
    dirty: ['s1:5', 's4:24'],
    writer,
    limit: 250,
    checkpoint: { interval: 10 },
  });

/** Of the second epoch, where lane states and counters are not those of a beginning; lanes take turns. */
const STEPS = [
  'begin.after',
  'lanes.opened',
  'write.before@1#4',
  'write.after@2#4',
  'barrier.passed@0#2',
  'prepare.before@1#2',
  'scripted.prepared@2#2',
  'prepare.after@0#2',
  'prepare.after#5',
  'ckpt.before#2',
  'ckpt.written#2',
  'ckpt.after#2',
  'commit.before@2#2',
  'scripted.committed@1#2',
  'commit.data@0#2',
  'commit.data#5',
  'commit.after@1#2',
  'outcome.before#2',
  'outcome.after#2',
  'committed.after#2',
  'prune.after#2',
  'complete.before',
  'complete.after',
];
/** In the other protocol the lanes of these are others. */
const turned = (step: string): string => step.replace(/@(\d)/, (_, lane) => `@${String((Number(lane) + 1) % 3)}`);

for (const protocol of PROTOCOLS) {
  test(
    `${protocol}, three lanes: killed at any step, exact after the next run`,
    { concurrency: AT_ONCE },
    async (t) => {
      const steps = protocol === 'staged' ? STEPS : STEPS.map(turned);
      await atOnce(AT_ONCE, steps, async (step) => {
        await t.test(step, async () => {
          using ws = new Workspace();
          const job = rounds(ws, { protocol });
          assertKilled(await run(ws, job, step), step);
          await assertLaneJobExact(job, await run(ws, job), step);
        });
      });
    },
  );

  test(`${protocol}, three lanes: killed in the middle of splits, and again`, { concurrency: AT_ONCE }, async (t) => {
    const pairs = [
      ['prepare.after@2', 'prepare.after@0'],
      ['ckpt.after', 'recover.after'],
      ['commit.before@1', 'recover.outcome'],
      ['commit.data@0', 'takeover.before'],
      ['commit.data#2', 'takeover.written'],
      ['commit.after@2', 'takeover.after'],
      ['outcome.before', 'sweep.before'],
      ['ckpt.after', 'sweep.after'],
      ['commit.data@1', 'scripted.recovered'],
      ['commit.before@2', 'ckpt.after'],
      ['outcome.before', 'commit.data#2'],
    ] as const;
    await atOnce(AT_ONCE, pairs, async ([first, second]) => {
      await t.test(`${first} then ${second}`, async () => {
        using ws = new Workspace();
        const job = flow(ws, { protocol });
        assertKilled(await run(ws, job, first), first);
        assertKilled(await run(ws, job, second), second);
        setSpeed(job.job, { record: 2000 });
        await assertLaneJobExact(job, await run(ws, job), `${first}, ${second}`);
      });
    });
  });

  test(`${protocol}: 2, then 8, then 1 lane, the first two starts killed`, { concurrency: AT_ONCE }, async (t) => {
    const pairs = [
      ['prepare.after@1#2', 'takeover.after'],
      ['ckpt.after#2', 'scripted.prepared@7'],
      ['commit.before@1#2', 'ckpt.after'],
      ['commit.data@0#2', 'commit.before@6'],
      ['scripted.committed@1#2', 'commit.data@7'],
      ['outcome.before#2', 'commit.data#5'],
      ['outcome.after#2', 'outcome.before'],
      ['prune.after#2', 'ckpt.after#2'],
    ] as const;
    await atOnce(AT_ONCE, pairs, async ([first, second]) => {
      await t.test(`2 lanes: ${first}, 8 lanes: ${second}`, async () => {
        using ws = new Workspace();
        const job = laneJob(ws, { splits: roundsOf(5, 8, 8), dirty: ['r2.7:3'], channel: 2, writer: { protocol } });
        assertKilled(await run(ws, job, first), first);
        setSpeed(job.job, { channel: 8 });
        assertKilled(await run(ws, job, second), second);
        setSpeed(job.job, { channel: 1 });
        await assertLaneJobExact(job, await run(ws, job), `${first}, ${second}`);
      });
    });
  });

  test(`${protocol}: 3, then 1, then 3 lanes, the first two starts killed`, { concurrency: AT_ONCE }, async (t) => {
    const pairs = [
      ['ckpt.after#2', 'lanes.opened'],
      ['commit.data@2#2', 'ckpt.after'],
      ['outcome.before#2', 'commit.data#2'],
      ['prune.after#2', 'outcome.after'],
    ] as const;
    await atOnce(AT_ONCE, pairs, async ([first, second]) => {
      await t.test(`3 lanes: ${first}, 1 lane: ${second}`, async () => {
        using ws = new Workspace();
        const job = laneJob(ws, { splits: roundsOf(6, 3), dirty: DIRTY, writer: { protocol } });
        assertKilled(await run(ws, job, first), first);
        setSpeed(job.job, { channel: 1 });
        assertKilled(await run(ws, job, second), second);
        setSpeed(job.job, { channel: 3 });
        // Lanes that were gone for a start go on with their own states: the pieces of each must join.
        await assertLaneJobExact(job, await run(ws, job), `${first}, ${second}`);
      });
    });
  });

  test(
    `${protocol}, three lanes: a stopped process that wakes changes nothing`,
    { concurrency: AT_ONCE },
    async (t) => {
      const points = [
        'write.after@1#4',
        'prepare.after@0#2',
        'ckpt.written#2',
        'commit.before@1#2',
        'commit.data@2#2',
        'outcome.before#2',
      ];
      await atOnce(AT_ONCE, points, async (point) => {
        await t.test(point, async () => {
          using ws = new Workspace();
          const job = rounds(ws, { protocol });
          const r = await zombieAt(ws, job, point, async () => {
            await assertLaneJobExact(job, await run(ws, job), point);
          });
          assert.equal(r.summary?.error?.code, 'FENCED', r.stderr);
          assert.deepEqual(await targetRows(job), job.expected, `${point}, after the zombie`);
        });
      });
    },
  );
}

/** Epoch 2 is durable and undecided, and all three lanes have rows of it. */
async function killedInDoubt(ws: Workspace, job: LaneJob, failpoint: string): Promise<void> {
  assertKilled(await run(ws, job, failpoint), failpoint);
  const { kind, epoch, lanes } = newestCheckpoint(ws);
  assert.deepEqual([kind, epoch], ['epoch', 2]);
  assert.deepEqual(
    lanes.map((l) => [l.lane, l.committables.length]),
    LANES.map((lane) => [lane, 1]),
  );
}

test('lanes whose epoch is lost go back, the others go on', { concurrency: AT_ONCE }, async (t) => {
  const cases = [
    { lost: [0], second: null },
    { lost: [1], second: 'recover.after' },
    { lost: [2], second: 'recover.outcome' },
    { lost: [0, 1], second: 'takeover.written' },
    { lost: [0, 2], second: 'takeover.after' },
    { lost: [1, 2], second: 'sweep.after' },
    { lost: [0, 1, 2], second: 'planner.after' },
    { lost: [1], second: 'prepare.after@1' },
  ];
  await atOnce(AT_ONCE, cases, async ({ lost, second }) => {
    await t.test(`lost in ${lost.join(', ')}; ${second ?? 'not'} killed again`, async () => {
      using ws = new Workspace();
      const job = rounds(ws, { lose: lost.map((lane) => ({ lane, epoch: 2 })) });
      await killedInDoubt(ws, job, 'ckpt.after#2');
      if (second !== null) assertKilled(await run(ws, job, second), second);
      const r = await run(ws, job);
      await assertLaneJobExact(job, r, `lost in ${lost.join()}`);
      const said = Object.fromEntries(LANES.map((lane) => [lane, lost.includes(lane) ? 'lost' : 'committed']));
      if (second === null) assert.ok(r.stderr.includes(JSON.stringify(said)), r.stderr);
    });
  });
});

test(
  'a lane that had committed and one that had not, in another number of lanes',
  { concurrency: AT_ONCE },
  async (t) => {
    const cases = LANES.flatMap((lane) => [1, 2, 5].map((channel) => ({ lane, channel })));
    await atOnce(AT_ONCE, cases, async ({ lane, channel }) => {
      await t.test(`lane ${String(lane)} had, then ${String(channel)}`, async () => {
        using ws = new Workspace();
        // The gates never open: only one lane gets to its commit. The others lose theirs with the process.
        const others = LANES.filter((l) => l !== lane);
        const gates = others.map((l) => ({ step: 'commit', lane: l, epoch: 2, until: 'never' }));
        const job = rounds(ws, { protocol: 'marker', gates });
        const point = `commit.data@${String(lane)}#2`;
        await killedInDoubt(ws, job, point);
        ws.write('never', ''); // for the next start
        setSpeed(job.job, { channel: channel });
        const r = await run(ws, job);
        await assertLaneJobExact(job, r, point);
        const said = Object.fromEntries(LANES.map((l) => [l, l === lane ? 'committed' : 'lost']));
        assert.ok(r.stderr.includes(JSON.stringify(said)), r.stderr);
      });
    });
  },
);

test('an outcome that nobody can tell stops the job until it is resolved', { concurrency: AT_ONCE }, async (t) => {
  const cases = [
    ...LANES.flatMap((lane) =>
      (['committed', 'lost'] as const).map((as) => ({ lanes: [lane] as readonly number[], as })),
    ),
    { lanes: [0, 2], as: 'committed' as const },
    { lanes: [1, 2], as: 'lost' as const },
  ];
  await atOnce(AT_ONCE, cases, async ({ lanes, as }) => {
    await t.test(`of ${lanes.join(', ')}: ${as}`, async () => {
      using ws = new Workspace();
      // Killed after the commit, the rows are there; killed before it, they are not.
      const step = as === 'committed' ? 'outcome.before#2' : 'ckpt.after#2';
      const job = rounds(ws, { protocol: 'marker', unknown: lanes.map((lane) => ({ lane, epoch: 2 })) });
      await killedInDoubt(ws, job, step);
      for (const [i, lane] of lanes.entries()) {
        const r = await run(ws, job);
        assert.equal(r.code, 4, r.stderr);
        assert.equal(r.summary?.error?.code, 'COMMIT_UNKNOWN', r.stderr);
        const named = LANES.filter((l) => r.summary?.error?.message.includes(`lane ${String(l)}`));
        assert.deepEqual(named, lanes.slice(i), r.summary.error.message);
        const args = ['state', 'resolve', job.job, '--lane', String(lane), '--as', as];
        const said = await sync(args, { cwd: ws.dir });
        assert.equal(said.code, 0, said.stderr);
      }
      // Another number of lanes changes nothing of what was decided.
      setSpeed(job.job, { channel: lanes[0] === 1 ? 2 : 3 });
      await assertLaneJobExact(job, await run(ws, job), `${lanes.join()} ${as}`);
    });
  });
});
