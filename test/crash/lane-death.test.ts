/** The worker thread of a lane ends or blocks: told with a code, nothing committed of the epoch, exact afterwards. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce } from '../support/crash.js';
import { assertLaneJobExact, laneJob, roundsOf, targetRows, type LaneJob } from '../support/lane-job.js';
import { startSync, sync, until, type SyncResult } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const AT_ONCE = 4;
const DIRTY = ['r1.0:3', 'r2.1:7', 'r3.1:2'];
const RESTART = { strategy: 'fixed-delay', attempts: 2, delay: 10 };

interface Death {
  readonly how: 'exit' | 'throw-async' | 'oom' | 'spin';
  /** The call in which it happens; `read`: before row 6 of split r3.1, in whatever lane. */
  readonly at: 'read' | 'write' | 'prepare' | 'commit' | 'openLane';
  readonly when?: 'before' | 'after';
  readonly lane?: number;
}

const DEATHS: readonly Death[] = [
  { how: 'exit', at: 'read' },
  { how: 'throw-async', at: 'read' },
  { how: 'oom', at: 'read' },
  { how: 'exit', at: 'openLane', lane: 2 },
  { how: 'throw-async', at: 'openLane', lane: 0, when: 'after' },
  { how: 'exit', at: 'write', lane: 0 },
  { how: 'oom', at: 'write', lane: 2, when: 'after' },
  { how: 'throw-async', at: 'prepare', lane: 0 },
  { how: 'oom', at: 'prepare', lane: 1 },
  { how: 'exit', at: 'prepare', lane: 2, when: 'after' },
  { how: 'throw-async', at: 'commit', lane: 2 },
  { how: 'oom', at: 'commit', lane: 0 },
  { how: 'exit', at: 'commit', lane: 1, when: 'after' },
];

const SAYS = {
  exit: /its thread ended with code 7/,
  'throw-async': /the script throws in a timer/,
  oom: /it ran out of memory/,
  spin: /blocked for \d+ s/,
};

const nameOf = (d: Death): string =>
  `${d.how} in ${d.at}${d.lane === undefined ? '' : ` of lane ${String(d.lane)}, ${d.when ?? 'before'} its effect`}`;

function deadlyJob(
  ws: Workspace,
  d: Death,
  more: { readonly restart?: object; readonly checkpoint?: object; readonly times?: number } = {},
): LaneJob {
  // Write and openLane do not know their epoch.
  const place = d.at === 'write' ? { hit: 4 } : d.at === 'openLane' ? {} : { epoch: 3 };
  const call = {
    step: d.at,
    lane: d.lane ?? -1,
    how: d.how,
    when: d.when ?? 'before',
    times: more.times ?? 1,
    ...place,
  };
  return laneJob(ws, {
    splits: roundsOf(4, 3),
    dirty: DIRTY,
    ...(d.at === 'read'
      ? { events: [{ split: 'r3.1', at: 6, do: d.how, times: more.times ?? 1 }] }
      : { writer: { failOn: [call] } }),
    ...(more.restart ? { restart: { ...more.restart } } : {}),
    ...(more.checkpoint ? { checkpoint: { ...more.checkpoint } } : {}),
  });
}

/** Little memory only where it must run out soon. */
function start(ws: Workspace, job: LaneJob, d: Death): Promise<SyncResult> {
  const env = d.how === 'oom' ? { NODE_OPTIONS: '--max-old-space-size=48' } : {};
  return sync(['run', job.job, '--output', 'json'], { cwd: ws.dir, env });
}

/** Nothing of the epoch in which the lane died is at the target, unless it died in its commit. */
async function assertCommitted(job: LaneJob, d: Death): Promise<void> {
  const rows = await targetRows(job);
  const upTo = (round: number): readonly string[] =>
    job.expected.filter((r) => Number((JSON.parse(r) as { readonly split: string }).split.slice(1, 2)) <= round);
  switch (d.at) {
    case 'openLane':
      assert.deepEqual(rows, []);
      break;
    case 'write':
      assert.ok(
        [0, 1, 2].some((n) => rows.join('\n') === upTo(n).join('\n')),
        `${String(rows.length)} rows`,
      );
      break;
    case 'read':
    case 'prepare':
      assert.deepEqual(rows, upTo(2));
      break;
    case 'commit':
      // Of the third round each lane has all of its rows there or none; which ones is a matter of time.
      assert.equal(new Set(rows).size, rows.length, 'doubled');
      assert.deepEqual(
        upTo(2).filter((r) => !rows.includes(r)),
        [],
      );
      assert.deepEqual(
        rows.filter((r) => !upTo(3).includes(r)),
        [],
      );
      break;
  }
}

test('a lane that dies: LANE_DIED, exit 1, and the next start is exact', { concurrency: AT_ONCE }, async (t) => {
  await atOnce(AT_ONCE, DEATHS, async (d) => {
    await t.test(nameOf(d), async () => {
      using ws = new Workspace();
      const job = deadlyJob(ws, d);
      const r = await start(ws, job, d);
      assert.equal(r.code, 1, `exit ${String(r.code)} ${String(r.signal)}\n${r.stderr}`);
      assert.equal(r.summary?.error?.code, 'LANE_DIED', r.stderr);
      assert.match(
        r.summary.error.message,
        d.lane === undefined ? /^lane \d has died/ : RegExp(`^lane ${String(d.lane)} `),
      );
      assert.match(r.summary.error.message, SAYS[d.how]);
      assert.match(r.stderr, /^sync: LANE_DIED: /m);
      await assertCommitted(job, d);
      await assertLaneJobExact(job, await start(ws, job, d), nameOf(d));
    });
  });
});

test('a lane that dies, with setting.restart: the same start finishes', { concurrency: AT_ONCE }, async (t) => {
  await atOnce(AT_ONCE, DEATHS, async (d) => {
    await t.test(nameOf(d), async () => {
      using ws = new Workspace();
      const job = deadlyJob(ws, d, { restart: RESTART });
      const r = await start(ws, job, d);
      await assertLaneJobExact(job, r, nameOf(d));
      assert.equal(r.summary?.['restarts'], 1);
      assert.match(r.stderr, /LANE_DIED/);
    });
  });
});

test('all lanes die, again and again, until no restart is left', async () => {
  using ws = new Workspace();
  const d: Death = { how: 'exit', at: 'openLane', when: 'after' };
  const job = deadlyJob(ws, d, { restart: RESTART, times: 9 });
  const r = await start(ws, job, d);
  assert.deepEqual([r.code, r.summary?.error?.code, r.summary?.['restarts']], [1, 'LANE_DIED', 2], r.stderr);
  await assertLaneJobExact(job, await start(ws, job, d), 'next start');
});

const BLOCKED = [
  { at: 'read', code: 'CHECKPOINT_TIMEOUT', checkpoint: { interval: 300, timeout: 1000 } },
  { at: 'write', lane: 1, code: 'CHECKPOINT_TIMEOUT', checkpoint: { interval: 300, timeout: 1000 } },
  { at: 'prepare', lane: 2, code: 'CHECKPOINT_TIMEOUT', checkpoint: { timeout: 1000 } },
  // Neither a commit nor a barrier that is taken back has a limit; but a thread that shows no sign of life will not answer.
  { at: 'commit', lane: 0, code: 'LANE_DIED', checkpoint: { timeout: 1000 } },
  { at: 'read', code: 'LANE_DIED', checkpoint: { interval: 300, timeout: 500, tolerableFailed: 5 } },
] as const;

test(
  'a lane that is blocked for good ends the start within 15 s, and the next one is exact',
  { concurrency: 8 },
  async (t) => {
    const tests = BLOCKED.map(async ({ code, checkpoint, ...place }) => {
      const d: Death = { how: 'spin', ...place };
      const { tolerableFailed } = { tolerableFailed: 0, ...checkpoint };
      await t.test(`${nameOf(d)}${tolerableFailed > 0 ? ', timeouts tolerated' : ''}`, async () => {
        using ws = new Workspace();
        const job = deadlyJob(ws, d, { checkpoint });
        const r = await start(ws, job, d);
        assert.equal(r.code, 1, r.stderr);
        assert.equal(r.summary?.error?.code, code, r.stderr);
        assert.match(r.stderr, SAYS.spin); // says which lane
        assert.ok(r.ms < 15_000, `${String(Math.round(r.ms))} ms`);
        await assertCommitted(job, d);
        await assertLaneJobExact(job, await start(ws, job, d), nameOf(d));
      });
    });
    const restarted = t.test('with setting.restart', async () => {
      using ws = new Workspace();
      const d: Death = { how: 'spin', at: 'read' };
      const job = deadlyJob(ws, d, { checkpoint: { interval: 300, timeout: 1000 }, restart: RESTART });
      const r = await start(ws, job, d);
      await assertLaneJobExact(job, r, 'restarted');
      assert.equal(r.summary?.['restarts'], 1);
    });
    const stopped = t.test('SIGTERM: STOP_TIMEOUT', async () => {
      using ws = new Workspace();
      const d: Death = { how: 'spin', at: 'read' };
      const job = deadlyJob(ws, d);
      const p = startSync(['run', job.job, '--output', 'json'], { cwd: ws.dir });
      await until('two rounds are committed', async () => (await targetRows(job)).length >= 70);
      const from = performance.now();
      p.child.kill('SIGTERM');
      const r = await p.done;
      assert.ok(performance.now() - from < 20_000);
      assert.deepEqual([r.code, r.summary?.error?.code], [1, 'STOP_TIMEOUT'], r.stderr);
      await assertLaneJobExact(job, await start(ws, job, d), 'after the stop');
    });
    await Promise.all([...tests, restarted, stopped]);
  },
);
