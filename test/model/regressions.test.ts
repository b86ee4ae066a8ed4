/** Schedules that the model test found to go wrong, cut down to what matters. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { STATE_FORMAT, type Outcome } from '../../src/core/checkpoint/format.js';
import { RunStore } from '../../src/core/checkpoint/run-store.js';
import { parseFailpoints } from '../../src/core/failpoints.js';
import { runJob } from '../../src/core/job/run-job.js';
import { memoryLog, specOf, type EngineRun, type LogLine } from '../support/engine.js';
import { tapped, tapPlugins, type Call, type Taps } from '../support/taps.js';
import { until } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';
import { assertFails, Scripted } from '../unit/core/scripted-job.js';

const RUN_DEPS = {
  log: memoryLog([]),
  fresh: false,
  allowReplay: false,
  takeOver: false,
  stop: new AbortController().signal,
  loadWriter: () => Promise.resolve(null),
};

/** A start that stands still at one of its calls until it is told to go on. */
class Standing implements Taps {
  stands = false;
  goOn: () => void = () => undefined;
  readonly #gone = new Promise<void>((resolve) => (this.goOn = resolve));
  readonly #at: { readonly when: 'before' | 'after'; readonly step: string; readonly hit: number };
  #hits = 0;

  constructor(when: 'before' | 'after', step: string, hit: number) {
    this.#at = { when, step, hit };
  }

  /** Without the lock, as another host would. */
  run(s: Scripted): Promise<EngineRun> {
    const spec = tapPlugins(specOf(s.job()), this);
    const deps = { ...RUN_DEPS, stateRoot: s.state, failpoint: 'lock:release' };
    return tapped(this, () => runJob(spec, deps)).then((r) => ({ ...r, logs: [] }));
  }

  async around<T>(call: Call, effect: () => Promise<T>): Promise<T> {
    const here = call.step === this.#at.step && ++this.#hits === this.#at.hit;
    if (here && this.#at.when === 'before') await this.#stand();
    const result = await effect();
    if (here && this.#at.when === 'after') await this.#stand();
    return result;
  }

  #stand(): Promise<void> {
    this.stands = true;
    return this.#gone;
  }
}

test('a stop outlives a barrier that runs out of its own time', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: [{ id: 'a', rows: 4, bounded: false, transaction: 4 }],
    events: [{ split: 'a', at: 3, do: 'pause', until: ws.path('go') }],
    reader: { batchRows: 1 },
    // Inside the transaction no barrier passes, however often it is tried.
    more: { checkpoint: { intervalMs: 1, timeoutMs: 200, tolerableFailed: 1000 } },
  });
  const stop = new AbortController();
  const lines: LogLine[] = [];
  const withdrawn = (): number => lines.filter((l) => l.message.startsWith('a checkpoint timed out')).length;
  let over = false;
  const running = s.run({ stop: stop.signal, log: memoryLog(lines) }).finally(() => (over = true));
  await until('a barrier is withdrawn', () => withdrawn() > 0);
  stop.abort('SIGTERM');
  const atStop = withdrawn();
  // Where the stop came between two barriers (hardly ever) there is no such moment, and nothing to see.
  await until('the barrier of that moment is withdrawn', () => over || withdrawn() > atStop, 3000).catch(
    () => undefined,
  );
  s.open('go');
  const r = await running;
  assert.deepEqual([r.state, r.exitCode, r.error], ['stopped', 143, null]);
  await s.assertRows();
});

test('a start that a newer one overtook before it looked at the target is fenced, not told that its state is old', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: [{ id: 'a', rows: 4 }],
    events: [{ split: 'a', at: 3, do: 'fail', times: 1 }],
    more: { checkpoint: { intervalMs: 1 } },
  });
  assertFails(await s.run(), 'SOURCE_IO', 1);
  // The second look at the state: the first one chose the run.
  const first = new Standing('after', 'state.newest', 2);
  const overtaken = first.run(s);
  await until('the first start has read its state', () => first.stands);
  await s.assertExact(await s.run());
  first.goOn();
  assertFails(await overtaken, 'FENCED', 4);
  await s.assertRows();
});

test('an overtaken start does not sweep what the newer one has staged', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: [{ id: 'a', rows: 4 }],
    events: [{ split: 'a', at: 3, do: 'fail', times: 1 }],
    more: { checkpoint: { intervalMs: 10_000 } },
  });
  assertFails(await s.run(), 'SOURCE_IO', 1);
  const older = new Standing('before', 'state.record', 1); // it has just looked whether it is the newest
  const olderRun = older.run(s);
  await until('the older start is about to sweep', () => older.stands);
  const newer = new Standing('after', 'lane.prepare', 1);
  const newerRun = newer.run(s);
  await until('the newer start has staged its rows', () => newer.stands);
  older.goOn();
  assertFails(await olderRun, 'FENCED', 4);
  newer.goOn();
  await s.assertExact(await newerRun);
});

test('a start that ends its run leaves another one alone that is just beginning', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, { splits: [{ id: 'a', rows: 4 }] });
  const ending = new Standing('after', 'state.current', 2); // of pruneRuns: from here on it knows the current run
  const first = ending.run(s);
  await until('the first start has finished its run and prunes', () => ending.stands);
  const beginning = new Standing('after', 'state.setCurrent', 1);
  const second = beginning.run(s);
  await until('the second start has made a run', () => beginning.stands);
  ending.goOn();
  assert.equal((await first).state, 'finished');
  beginning.goOn();
  await s.assertExact(await second, 2);
});

test('an overtaken start that finds the epoch decided otherwise is fenced; nobody else may find that', async () => {
  using ws = new Workspace();
  const store = new RunStore(ws.path('runs'), 'default', 'a', parseFailpoints(undefined));
  mkdirSync(store.dir, { recursive: true });
  const outcome = (attempt: number, as: 'committed' | 'lost'): Outcome => ({
    format: STATE_FORMAT,
    epoch: 1,
    attempt,
    lanes: { 0: as },
    by: 'recover',
  });
  assert.deepEqual([await store.createAttempt(1), await store.createAttempt(1)], [1, 2]);
  await store.putOutcome(outcome(2, 'lost'));
  await store.putOutcome(outcome(1, 'lost'));
  await assert.rejects(store.putOutcome(outcome(1, 'committed')), { code: 'FENCED' });
  await assert.rejects(store.putOutcome(outcome(2, 'committed')), { code: 'STATE_CORRUPT' });
});
