/** One start of a job, from lock to summary: an attempt, and as many more as setting.restart allows. */
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodeOf, reportError, toSyncError, type SyncError } from '../../plugin-api/index.js';
import { lockJob } from '../checkpoint/job-lock.js';
import { JobStore } from '../checkpoint/job-store.js';
import { addCounters, countersBetween, NO_COUNTERS } from '../checkpoint/format.js';
import { failpointMemory, parseFailpoints, type Failpoints } from '../failpoints.js';
import { Attempt } from './attempt.js';
import { keepTimes } from './keep-times.js';
import { noteProgress } from './note-progress.js';
import { RestartPolicy } from './restart-policy.js';
import type { Counters, Progress, RunDeps, RunSummary } from './run-types.js';
import type { JobSpec } from '../../job/job-spec.js';

/** Never rejects: every failure is in the summary. */
export async function runJob(job: JobSpec, deps: RunDeps): Promise<RunSummary> {
  const start = new JobStart(job, deps);
  return start.run();
}

class JobStart {
  readonly #job: JobSpec;
  readonly #deps: RunDeps;
  readonly #began = performance.now();
  #attempt: Attempt | null = null;
  /** The last attempt that knew what the run had committed. */
  #counted: Attempt | null = null;
  /** What was committed before this start. */
  #before: Counters | null = null;
  #resumed = false;
  #restarts = 0;
  #done = false;
  /** Of a job with a cursor: the run that this start finished before its own. */
  #earlier: { readonly counters: Counters; readonly epochs: number } | null = null;

  constructor(job: JobSpec, deps: RunDeps) {
    this.#job = job;
    this.#deps = deps;
  }

  async run(): Promise<RunSummary> {
    this.#deps.onStart?.(() => this.#progress());
    let end: 'finished' | 'stopped' | null = null;
    let error: SyncError | null = null;
    try {
      end = await this.#locked();
    } catch (e) {
      error = toSyncError(e);
      if (error.code === 'INTERNAL') this.#deps.log.debug({ stack: error.stack ?? '' }, 'stack of the failure');
    }
    this.#done = true;
    return this.#summary(end, error);
  }

  async #locked(): Promise<'finished' | 'stopped'> {
    const deps = this.#deps;
    const hits = deps.hits ?? failpointMemory();
    const points = parseFailpoints(deps.failpoint, hits);
    const jobs = new JobStore(deps.stateRoot, this.#job.jobId, points);
    await jobs.open();
    await using lock = await lockJob(jobs.dir, this.#job.jobId);
    if (points.releaseLock) await lock.release();
    using notes = noteProgress(lock, deps.stop, () => ({
      progress: this.#progress(),
      runId: this.#attempt?.store?.runId ?? null,
    }));
    void notes;
    try {
      const end = await this.#attempts(jobs, points, hits);
      lock.ending({ state: end, code: null });
      return end;
    } catch (e) {
      lock.ending({ state: 'failed', code: toSyncError(e).code });
      throw e;
    }
  }

  async #attempts(jobs: JobStore, points: Failpoints, hits: SharedArrayBuffer): Promise<'finished' | 'stopped'> {
    const deps = this.#deps;
    const job = await keepTimes(jobs, this.#job, deps);
    const policy = new RestartPolicy(job.settings.restart);
    for (;;) {
      // A restart goes on with the run of the attempt before it, whatever was asked of the first one.
      const attempt: Attempt = new Attempt({ job, deps, jobs, points, hits, run: this.#attempt?.store ?? null });
      this.#attempt = attempt;
      try {
        const end = await attempt.run().finally(() => {
          this.#note(attempt);
        });
        if (!this.#hasNext(end, job)) return end;
        // What was left of the run before is done; what has come since is the next run's.
        this.#earlier = {
          counters: attempt.coordinator?.committed ?? NO_COUNTERS,
          epochs: attempt.coordinator?.epochs ?? 0,
        };
        this.#attempt = this.#counted = null;
        deps.log.info({ job: job.jobId }, 'the unfinished run is finished; going on with the next one');
      } catch (e) {
        const error = toSyncError(e);
        const pause = attempt.stuck || deps.stop.aborted ? null : policy.next(error.retry, performance.now());
        if (pause === null) throw error;
        this.#restarts++;
        const fields = { code: error.code, error: error.message, restarts: this.#restarts };
        deps.log.warn(fields, `the job failed and starts again in ${String(pause)} ms`);
        await sleep(pause, undefined, { signal: deps.stop }).catch(() => undefined);
        // Nothing runs now, and the failure is what the job ended with.
        if (deps.stop.aborted) {
          deps.log.warn(fields, 'the job was told to stop in the pause before its restart: it ends with its failure');
          throw error;
        }
      }
    }
  }

  #hasNext(end: 'finished' | 'stopped', job: JobSpec): boolean {
    return end === 'finished' && job.cursor && this.#resumed && this.#earlier === null && !this.#deps.stop.aborted;
  }

  #note(attempt: Attempt): void {
    if (!attempt.restored) return;
    this.#before ??= attempt.restored.base;
    if (this.#counted === null && this.#earlier === null) this.#resumed = attempt.resumed;
    this.#counted = attempt;
  }

  #progress(): Progress {
    const c = this.#attempt?.coordinator;
    return {
      phase: this.#done ? 'done' : (this.#attempt?.phase ?? 'starting'),
      counters: this.#withEarlier(c?.moved ?? this.#counted?.coordinator?.committed ?? NO_COUNTERS),
      epochs: (c?.epochs ?? 0) + (this.#earlier?.epochs ?? 0),
      restarts: this.#restarts,
      ...(c?.progress ?? { splits: { done: 0, open: 0, bytes: null }, lag: null, checkpoint: null }),
    };
  }

  #withEarlier(counters: Counters): Counters {
    return this.#earlier ? addCounters(this.#earlier.counters, counters) : counters;
  }

  #summary(end: 'finished' | 'stopped' | null, error: SyncError | null): RunSummary {
    const last = this.#counted ?? this.#attempt;
    const c = last?.coordinator ?? null;
    const before = this.#before ?? NO_COUNTERS;
    const ofRun = c?.committed ?? last?.restored?.base ?? NO_COUNTERS;
    const committed = this.#withEarlier(ofRun);
    const uncommitted = c && error ? countersBetween(ofRun, c.moved) : NO_COUNTERS;
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
      begun: this.#earlier !== null || (last?.restored !== null && last?.restored !== undefined),
      restarts: this.#restarts,
      epochs: (c?.epochs ?? last?.restored?.epochs ?? 0) + (this.#earlier?.epochs ?? 0),
      delivery: this.#attempt?.delivery ?? 'at-least-once',
      jobId: this.#job.jobId,
      runId: this.#attempt?.store?.runId ?? null,
      resumed: this.#resumed,
      dirtyFiles: dirty > 0 || error?.code === 'DIRTY_LIMIT' ? (last?.dirtyDir ?? null) : null,
      error: error ? reportError(error) : null,
    };
  }
}
