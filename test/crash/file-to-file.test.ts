/** kill -9 at every numbered step of the protocol, file → file: the next run makes it exactly right. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertExact, assertFinishes, assertKilled, fileJob, inPairs, ONCE, run, zombieAt } from '../support/crash.js';
import { publishedLines, Workspace } from '../support/workspace.js';

const EVERY_EPOCH = [
  'write.before',
  'write.after',
  'barrier.passed',
  'prepare.before',
  'prepare.after',
  'ckpt.before',
  'ckpt.written',
  'ckpt.after',
  'commit.before',
  'file.commit.between',
  'commit.data',
  'commit.after',
  'outcome.before',
  'outcome.after',
  'committed.after',
  'prune.after',
];
const COMMIT = ['ckpt.after', 'commit.before', 'file.commit.between', 'commit.data', 'commit.after', 'outcome.before'];
const RESTART = [
  'attempt.before',
  'attempt.after',
  'recover.before',
  'recover.after',
  'recover.outcome',
  'takeover.before',
  'takeover.written',
  'takeover.after',
  'sweep.before',
  'sweep.after',
  'planner.after',
  'lanes.opened',
  'prepare.after',
  'ckpt.after',
  'file.commit.between',
  'outcome.before',
];

test('killed at any step, the next run makes the target exact', { concurrency: 2 }, async (t) => {
  const points = [...ONCE, ...EVERY_EPOCH, ...EVERY_EPOCH.map((s) => `${s}#3`)];
  await inPairs(points, async (point) => {
    await t.test(point, async () => {
      using ws = new Workspace();
      const job = fileJob(ws);
      assertKilled(await run(ws, job, point), point);
      const r = await assertFinishes(ws, job, point);
      assert.equal(r.summary?.written, job.expected.length, 'the summary counts the run, not the start');
      assertExact(job);
    });
  });
});

test('killed at the commit and again while recovering', { concurrency: 2 }, async (t) => {
  const pairs = COMMIT.flatMap((first) => RESTART.map((second) => [`${first}#2`, second] as const));
  await inPairs(pairs, async ([first, second]) => {
    await t.test(`${first} then ${second}`, async () => {
      using ws = new Workspace();
      const job = fileJob(ws);
      assertKilled(await run(ws, job, first), first);
      assertKilled(await run(ws, job, second), second);
      await assertFinishes(ws, job, `${first}, ${second}`);
      assertExact(job);
    });
  });
});

test('several part files of an epoch: killed between the first and the second', async () => {
  using ws = new Workspace();
  const job = fileJob(ws, { maxFileSize: 500 });
  assertKilled(await run(ws, job, 'file.commit.next'), 'file.commit.next');
  await assertFinishes(ws, job, 'file.commit.next');
  assertExact(job);
});

test('killed after the run was noted as finished, the next run is a new one', async () => {
  using ws = new Workspace();
  const job = fileJob(ws);
  assertKilled(await run(ws, job, 'finished.after'), 'finished.after');
  assertExact(job);
  await assertFinishes(ws, job, 'second run');
  assertExact(job, 2);
});

test('a finished job that runs again appends its rows again', async () => {
  using ws = new Workspace();
  const job = fileJob(ws, {}, 100_000);
  await assertFinishes(ws, job, 'first');
  await assertFinishes(ws, job, 'second');
  assertExact(job, 2);
});

test('--fresh after an unfinished run sweeps it and starts anew', async () => {
  using ws = new Workspace();
  const job = fileJob(ws);
  assertKilled(await run(ws, job, 'prepare.after'), 'prepare.after');
  const r = await run(ws, job, undefined, ['--fresh']);
  assert.equal(r.code, 0, r.stderr);
  assertExact(job);
});

test('--fresh keeps what the given-up run had committed', async () => {
  using ws = new Workspace();
  const job = fileJob(ws);
  assertKilled(await run(ws, job, 'outcome.after'), 'outcome.after');
  const before = publishedLines(job.out);
  assert.ok(before.length > 0 && before.length < job.expected.length);
  const r = await run(ws, job, undefined, ['--fresh']);
  assert.equal(r.code, 0, r.stderr);
  const after = publishedLines(job.out);
  assert.deepEqual(after, [...before, ...job.expected].sort());
});

const ZOMBIE = [
  'run.chosen',
  'attempt.before',
  'attempt.after',
  'planner.after',
  'begin.before',
  'begin.after',
  'lanes.opened',
  'write.after',
  'prepare.before',
  'prepare.after',
  'ckpt.before',
  'ckpt.written',
  'ckpt.after',
  'commit.before',
  'file.commit.between',
  'commit.data',
  'outcome.before',
  'outcome.after',
  'prune.after',
  'complete.before',
];

test(
  'a stopped process that wakes after its successor is done changes nothing and exits 4',
  { concurrency: 2 },
  async (t) => {
    await inPairs(ZOMBIE, async (point) => {
      await t.test(point, async () => {
        using ws = new Workspace();
        const job = fileJob(ws);
        await zombieAt(ws, job, point, async () => {
          await assertFinishes(ws, job, point);
          assertExact(job);
        });
        assertExact(job);
        const again = await assertFinishes(ws, job, 'after the zombie');
        assert.equal(again.summary?.['resumed'], false);
        assertExact(job, 2);
      });
    });
  },
);
