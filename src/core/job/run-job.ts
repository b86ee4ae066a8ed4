/**
 * One start of a job, from lock to summary. The order of the steps is the protocol (docs/specs/checkpoint-protocol.md):
 * lock → run → attempt → recover → takeover → sweep → planner → begin → lanes → epochs → complete → finished.
 */
import { join } from 'node:path';
import {
  exitCodeOf,
  reportError,
  SyncError,
  toSyncError,
  type Delivery,
  type Logger,
  type PluginContext,
  type Reader,
  type RunIdentity,
  type Writer,
} from '../../plugin-api/index.js';
import { lockJob } from '../checkpoint/job-lock.js';
import { JobStore } from '../checkpoint/job-store.js';
import { recoverRun, type Restored } from '../checkpoint/recovery.js';
import type { RunStore } from '../checkpoint/run-store.js';
import { countersBetween, NO_COUNTERS } from '../checkpoint/format.js';
import { Coordinator } from '../coordinator/coordinator.js';
import { parseFailpoints, type Failpoints } from '../failpoints.js';
import { InProcessHost } from '../lane/in-process-host.js';
import type { LaneHost } from '../lane/lane-host.js';
import { DirtyLimit } from '../limits/dirty-limit.js';
import { RateLimit } from '../limits/rate-limit.js';
import { MetricRegistry } from '../observe/metrics.js';
import { chooseRun, isBounded, mintRun } from './choose-run.js';
import { pairDelivery } from './delivery.js';
import { sweepDirty } from '../dirty/dirty-rows.js';
import { fingerprintOf } from './fingerprint.js';
import { pluginCall } from './plugin-call.js';
import type { Progress, RunDeps, RunSummary } from './run-types.js';
import type { JobSpec } from '../../job/job-spec.js';
import { abandonRun, writerOfRun } from './sweep-run.js';

const STOP_TIMEOUT_MS = 10_000;

/** Never rejects: every failure is in the summary. */
export async function runJob(job: JobSpec, deps: RunDeps): Promise<RunSummary> {
  const start = new JobStart(job, deps);
  return start.run();
}

class JobStart {
  readonly #job: JobSpec;
  readonly #deps: RunDeps;
  readonly #began = performance.now();
  readonly #abort = new AbortController();
  #phase: Progress['phase'] = 'starting';
  #coordinator: Coordinator | null = null;
  #delivery: Delivery = 'at-least-once';
  #runId: string | null = null;
  #resumed = false;
  #restored: Restored | null = null;
  #dirtyDir: string | null = null;

  constructor(job: JobSpec, deps: RunDeps) {
    this.#job = job;
    this.#deps = deps;
  }

  async run(): Promise<RunSummary> {
    this.#deps.onStart?.(() => this.#progress());
    let end: 'finished' | 'stopped' | null = null;
    let error: SyncError | null = null;
    try {
      end = await this.#locked(parseFailpoints(this.#deps.failpoint));
    } catch (e) {
      error = toSyncError(e);
      if (error.code === 'INTERNAL') this.#deps.log.debug({ stack: error.stack ?? '' }, 'stack of the failure');
    } finally {
      this.#abort.abort(new SyncError('INTERNAL', 'the run has ended'));
    }
    this.#phase = 'done';
    return this.#summary(end, error);
  }

  async #locked(points: Failpoints): Promise<'finished' | 'stopped'> {
    const job = this.#job;
    const deps = this.#deps;
    const jobs = new JobStore(deps.stateRoot, job.jobId, points);
    await jobs.open();
    await using lock = await lockJob(jobs.dir, job.jobId);
    if (points.releaseLock) await lock.release();
    const context: PluginContext = {
      log: deps.log,
      metrics: new MetricRegistry(),
      signal: this.#abort.signal,
      failpoint: (step) => {
        points.hit(step);
      },
    };
    const reader = await job.reader.definition.create(job.reader.options, context);
    try {
      const writer = await job.writer.definition.create(job.writer.options, context);
      try {
        return await this.#chosen(jobs, reader, writer, context, points);
      } finally {
        await writer.close?.();
      }
    } finally {
      await reader.close?.();
    }
  }

  async #chosen(
    jobs: JobStore,
    reader: Reader,
    writer: Writer,
    context: PluginContext,
    points: Failpoints,
  ): Promise<'finished' | 'stopped'> {
    const { log } = this.#deps;
    const job = this.#job;
    this.#delivery = pairDelivery(reader, writer);
    const choice = await chooseRun(jobs, job, writer, this.#deps, log);
    if (choice.is === 'new' && choice.abandons) {
      const old = await writerOfRun(choice.abandons, job, this.#deps.loadWriter, context);
      try {
        const removed = await abandonRun(choice.abandons, old);
        await sweepDirty(this.#dirtyDirOf(choice.abandons), choice.abandons.runId, Infinity);
        log.info({ run: choice.abandons.runId, removed }, 'swept what the given-up run left');
      } finally {
        await old.close?.();
      }
    }
    const store = choice.is === 'new' ? await mintRun(jobs, job) : choice.run;
    points.hit('run.chosen');
    if (choice.is === 'new') await jobs.setCurrent(store, choice.after);
    this.#runId = store.runId;
    this.#resumed = choice.is === 'resume';
    points.hit('attempt.before');
    const attempt = await store.createAttempt(1);
    points.hit('attempt.after');
    // Read only after the attempt exists: whoever finished or gave up the run before this point is seen here.
    if ((await store.has('finished')) || (await store.has('abandoned'))) {
      throw new SyncError('FENCED', `run ${store.runId} was ended by another process in the meantime`, {
        place: store.dir,
        hint: 'Run the job again.',
      });
    }
    const run: RunIdentity = { jobId: job.jobId, runId: store.runId, attempt };
    this.#phase = 'recovering';
    const restored = await recoverRun({
      store,
      run,
      writer,
      fingerprint: fingerprintOf(job),
      allowReplay: this.#deps.allowReplay,
      points,
      log,
    });
    this.#restored = restored;
    if (attempt > 1) {
      await store.assertNewest(attempt);
      points.hit('sweep.before');
      const record = await store.record();
      await pluginCall('SINK_IO', async () => writer.committer?.sweep([record]));
      await sweepDirty(this.#dirtyDirOf(store), store.runId, attempt);
      points.hit('sweep.after');
    }
    log.info(
      { job: job.jobId, run: store.runId, attempt, delivery: this.#delivery, rows: restored.base.read },
      choice.is === 'resume'
        ? `resuming run ${store.runId} after epoch ${String(restored.epoch)}; delivery is ${this.#delivery}`
        : `starting run ${store.runId}; delivery is ${this.#delivery}`,
    );
    const end = await this.#epochs(store, run, reader, writer, restored, points);
    if (end === 'finished') {
      this.#phase = 'completing';
      await store.assertNewest(attempt);
      points.hit('complete.before');
      await pluginCall('SINK_IO', () => writer.complete(run));
      points.hit('complete.after');
      await store.assertNewest(attempt);
      await store.put('finished', run);
      points.hit('finished.after');
      // The run is over and noted so: a failure now would have its caller run the job a second time.
      await jobs.pruneRuns(store.runName, job.settings.checkpoint.numRetainedRuns).catch((e: unknown) => {
        log.warn({ error: toSyncError(e).message }, 'the state of old runs could not be removed');
      });
    } else if (job.settings.checkpoint.onCancel === 'delete') {
      await store.assertNewest(attempt);
      await abandonRun(store, writer);
      log.info({ run: store.runId }, 'the stopped run is given up (checkpoint.onCancel: delete)');
    }
    return end;
  }

  async #epochs(
    store: RunStore,
    run: RunIdentity,
    reader: Reader,
    writer: Writer,
    restored: Restored,
    points: Failpoints,
  ): Promise<'finished' | 'stopped'> {
    const { log, stop } = this.#deps;
    const job = this.#job;
    const limit = new DirtyLimit(job.settings.errorLimit, restored.base.dirty);
    const coordinator = new Coordinator({
      settings: job.settings,
      store,
      run,
      fingerprint: fingerprintOf(job),
      reader,
      bounded: isBounded(job),
      restored,
      limit,
      points,
      log,
      stop,
      stopTimeoutMs: this.#deps.stopTimeoutMs ?? STOP_TIMEOUT_MS,
      signal: this.#abort.signal,
    });
    this.#coordinator = coordinator;

    // The planner comes before begin: a source that is not there must not cost the target anything.
    const planner = await pluginCall('SOURCE_IO', () => reader.planner(restored.planner));
    for (const o of restored.replay.reopened) planner.reopen(o.split, o.position);
    if (restored.replay.committed.length > 0) planner.committed(restored.replay.committed);
    points.hit('planner.after');
    if (!(await store.has('begun'))) {
      await store.assertNewest(run.attempt);
      points.hit('begin.before');
      await pluginCall('SINK_IO', () => writer.begin(run));
      points.hit('begin.after');
      await store.put('begun', run);
      points.hit('begun.after');
    }

    if (job.settings.channel > 1) {
      log.info({ channel: job.settings.channel }, 'speed.channel above 1 runs on one lane in this version');
    }
    this.#dirtyDir = this.#dirtyDirOf(store);
    const host: LaneHost = new InProcessHost({
      job,
      log,
      points,
      rate: new RateLimit(job.settings.rowsPerSecond, job.settings.bytesPerSecond),
      limit,
      events: coordinator,
      signal: this.#abort.signal,
    });
    let failure: SyncError | null = null;
    try {
      await host.open({
        run,
        lane: 0,
        lanes: 1,
        shared: reader.shared?.() ?? null,
        writerState: laneStates(writer, restored)[0] ?? null,
        dirtyDir: this.#dirtyDir,
      });
      points.hit('lanes.opened');
      this.#phase = 'running';
      stop.addEventListener('abort', () => (this.#phase = 'stopping'), { once: true });
      return await coordinator.run([host], planner);
    } catch (e) {
      failure = await deeperCause(store, run, toSyncError(e), log);
      throw failure;
    } finally {
      try {
        await host.close(coordinator.laneEnd(failure));
      } catch (e) {
        // The first failure is the one to tell; a failure of the clean-up alone is still a failure.
        if (!failure) throw e;
        log.warn({ error: toSyncError(e).message }, 'closing the lane failed too');
      }
    }
  }

  #dirtyDirOf(run: RunStore): string {
    return this.#job.settings.dirtyDir ?? join(run.dir, 'dirty');
  }

  #progress(): Progress {
    const c = this.#coordinator;
    return {
      phase: this.#phase,
      counters: c?.moved ?? NO_COUNTERS,
      epochs: c?.epochs ?? 0,
      splits: c?.splits ?? { done: 0, open: 0, bytes: null },
    };
  }

  #summary(end: 'finished' | 'stopped' | null, error: SyncError | null): RunSummary {
    const c = this.#coordinator;
    const before = this.#restored?.base ?? NO_COUNTERS;
    const committed = c?.committed ?? before;
    const uncommitted = c && error ? countersBetween(committed, c.moved) : NO_COUNTERS;
    const dirty = committed.dirty + (error?.code === 'DIRTY_LIMIT' ? uncommitted.dirty : 0);
    const signal = String(this.#deps.stop.reason);
    return {
      ...committed,
      dirty,
      state: end ?? 'failed',
      exitCode: error ? exitCodeOf(error) : end === 'stopped' ? (signal === 'SIGINT' ? 130 : 143) : 0,
      seconds: Math.round(performance.now() - this.#began) / 1000,
      thisStart: countersBetween(before, committed),
      uncommitted,
      begun: this.#restored !== null,
      epochs: c?.epochs ?? this.#restored?.epochs ?? 0,
      delivery: this.#delivery,
      jobId: this.#job.jobId,
      runId: this.#runId,
      resumed: this.#resumed,
      dirtyFiles: dirty > 0 || error?.code === 'DIRTY_LIMIT' ? this.#dirtyDir : null,
      error: error ? reportError(error) : null,
    };
  }
}

/**
 * What fails after a newer start has taken over fails because of it: its staged files are swept, its sessions cut. And
 * once the run's state has vanished, that is what a person must know before the job is started again.
 */
async function deeperCause(store: RunStore, run: RunIdentity, failure: SyncError, log: Logger): Promise<SyncError> {
  if (failure.code === 'FENCED') return failure;
  try {
    await store.assertNewest(run.attempt);
    return failure;
  } catch (e) {
    const deeper = toSyncError(e);
    if (deeper.code !== 'FENCED' && deeper.code !== 'STATE_CORRUPT') return failure;
    log.warn({ code: failure.code, error: failure.message }, 'the failure that showed it');
    return deeper;
  }
}

/** @throws SyncError STATE_MISFIT where the writer cannot spread its lanes' states over another number of lanes. */
function laneStates(writer: Writer, restored: Restored): Restored['writerStates'] {
  const states = restored.writerStates;
  if (states.length <= 1) return states;
  if (writer.recoverLanes) return writer.recoverLanes(states, 1);
  if (states.every((s) => s === null)) return [null];
  throw new SyncError(
    'STATE_MISFIT',
    `the writer cannot go on with another number of lanes than ${String(states.length)}`,
  );
}
