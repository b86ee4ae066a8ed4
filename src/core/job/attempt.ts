/**
 * One attempt at a run: a start of a process, or a restart within it. The order of the steps is the protocol
 * (docs/specs/checkpoint-protocol.md): run → attempt → recover → takeover → sweep → planner → begin → lanes → epochs →
 * complete → finished.
 */
import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import {
  SyncError,
  toSyncError,
  type Delivery,
  type Logger,
  type PluginContext,
  type Reader,
  type RunIdentity,
  type Writer,
} from '../../plugin-api/index.js';
import type { JobStore } from '../checkpoint/job-store.js';
import { recoverRun, type Restored } from '../checkpoint/recovery.js';
import type { RunStore } from '../checkpoint/run-store.js';
import { Coordinator } from '../coordinator/coordinator.js';
import type { Failpoints } from '../failpoints.js';
import { laneCount, laneStates, makeHosts, openHosts } from '../lane/open-lanes.js';
import { DirtyLimit, dirtyMemory } from '../limits/dirty-limit.js';
import { MetricRegistry } from '../observe/metrics.js';
import { chooseRun, isBounded, mintRun } from './choose-run.js';
import { assertDelivery, pairDelivery } from './delivery.js';
import { sweepDirty } from '../dirty/dirty-rows.js';
import { fingerprintOf } from './fingerprint.js';
import { pluginCall, readingSaved } from './plugin-call.js';
import type { Progress, RunDeps } from './run-types.js';
import type { JobSpec } from '../../job/job-spec.js';
import { abandonRun, writerOfRun } from './sweep-run.js';

const STOP_TIMEOUT_MS = 10_000;

export interface AttemptParts {
  readonly job: JobSpec;
  readonly deps: RunDeps;
  readonly jobs: JobStore;
  readonly points: Failpoints;
  /** Counts the hits of failpoints over all threads and attempts. */
  readonly hits: SharedArrayBuffer;
  /** The run to go on with; null: to be chosen. */
  readonly run: RunStore | null;
}

export class Attempt {
  readonly #p: AttemptParts;
  readonly #abort = new AbortController();
  #phase: Progress['phase'] = 'starting';
  #coordinator: Coordinator | null = null;
  #delivery: Delivery | null = null;
  #store: RunStore | null = null;
  #resumed = false;
  #restored: Restored | null = null;
  #dirtyDir: string | null = null;
  #stuck = false;

  constructor(parts: AttemptParts) {
    this.#p = parts;
    setMaxListeners(0, this.#abort.signal); // every lane listens
  }

  get phase(): Progress['phase'] {
    return this.#phase;
  }

  get coordinator(): Coordinator | null {
    return this.#coordinator;
  }

  /** Null before the plugins are there. */
  get delivery(): Delivery | null {
    return this.#delivery;
  }

  /** Null before it is chosen. */
  get store(): RunStore | null {
    return this.#store;
  }

  get resumed(): boolean {
    return this.#resumed;
  }

  /** What the run had committed before; null before that is known. */
  get restored(): Restored | null {
    return this.#restored;
  }

  get dirtyDir(): string | null {
    return this.#dirtyDir;
  }

  /** A lane in this thread is still at work: another attempt in this process would run beside it. */
  get stuck(): boolean {
    return this.#stuck;
  }

  async run(): Promise<'finished' | 'stopped'> {
    const { job, deps, points } = this.#p;
    const context: PluginContext = {
      log: deps.log,
      metrics: new MetricRegistry(),
      signal: this.#abort.signal,
      failpoint: (step) => {
        points.hit(step);
      },
    };
    try {
      const reader = await pluginCall('SOURCE_IO', () => job.reader.definition.create(job.reader.options, context));
      try {
        const writer = await pluginCall('SINK_IO', () => job.writer.definition.create(job.writer.options, context));
        try {
          return await this.#chosen(reader, writer, context);
        } finally {
          await writer.close?.();
        }
      } finally {
        await reader.close?.();
      }
    } finally {
      this.#abort.abort(new SyncError('INTERNAL', 'the run has ended'));
    }
  }

  async #chosen(reader: Reader, writer: Writer, context: PluginContext): Promise<'finished' | 'stopped'> {
    const { job, jobs, points, run: given } = this.#p;
    const { log } = this.#p.deps;
    this.#delivery = pairDelivery(reader, writer);
    assertDelivery(job, reader, writer);
    const choice = given
      ? ({ is: 'resume', run: given } as const)
      : await chooseRun(jobs, job, writer, this.#p.deps, log);
    if (choice.is === 'new' && choice.abandons) {
      const old = await writerOfRun(choice.abandons, job, this.#p.deps.loadWriter, context);
      try {
        const removed = await abandonRun(choice.abandons, old);
        await sweepDirty(this.#dirtyDirOf(choice.abandons), choice.abandons.runId, Infinity);
        log.info({ run: choice.abandons.runId, removed }, 'swept what the given-up run left');
      } finally {
        await old.close?.();
      }
    }
    const store = choice.is === 'new' ? await this.#mint(reader) : choice.run;
    points.hit('run.chosen');
    if (choice.is === 'new') await jobs.setCurrent(store, choice.after);
    this.#store = store;
    this.#resumed = choice.is === 'resume';
    points.hit('attempt.before');
    const attempt = await store.createAttempt(job.settings.channel);
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
      positions: reader.positions.format,
      allowReplay: this.#p.deps.allowReplay,
      points,
      log,
    });
    this.#restored = restored;
    if (attempt > 1) {
      await store.assertNewest(attempt);
      points.hit('sweep.before');
      const record = await store.record(attempt);
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
    const saved = store.checkpointPath(restored.epoch);
    const end = await readingSaved(saved, () => this.#epochs(store, run, reader, writer, restored));
    if (end === 'finished') {
      this.#phase = 'completing';
      await store.assertNewest(attempt);
      points.hit('complete.before');
      await pluginCall('SINK_IO', () => writer.complete(run));
      points.hit('complete.after');
      await store.assertNewest(attempt);
      const cursor = job.cursor ? (await store.info()).cursor : undefined;
      const { round } = this.#p.deps;
      await store.put('finished', run, {
        ...(cursor ? { cursor: cursor.upper } : {}),
        ...(round === undefined ? {} : { round }),
      });
      points.hit('finished.after');
      // The run is over and noted so: a failure now would have its caller run the job a second time.
      const keep = job.settings.checkpoint.numRetainedRuns;
      await jobs
        .pruneRuns(store.runName, keep)
        .then(() => jobs.pruneNames(store.runName, keep))
        .catch((e: unknown) => {
          log.warn({ error: toSyncError(e).message }, 'the state of old runs could not be removed');
        });
    } else if (job.settings.checkpoint.onCancel === 'delete') {
      await store.assertNewest(attempt);
      await abandonRun(store, writer);
      log.info({ run: store.runId }, 'the stopped run is given up (checkpoint.onCancel: delete)');
    }
    return end;
  }

  async #mint(reader: Reader): Promise<RunStore> {
    const { job, jobs } = this.#p;
    const lower = job.cursor ? await jobs.cursor() : null;
    const cursor = job.cursor ? await pluginCall('SOURCE_IO', async () => reader.bounds?.(lower)) : undefined;
    if (job.cursor && !cursor) {
      throw new SyncError('PLUGIN_BROKEN', `reader ${job.reader.definition.name} has a cursor and no bounds`);
    }
    return mintRun(jobs, job, cursor);
  }

  async #epochs(
    store: RunStore,
    run: RunIdentity,
    reader: Reader,
    writer: Writer,
    restored: Restored,
  ): Promise<'finished' | 'stopped'> {
    const { job, points, hits } = this.#p;
    const { log, stop } = this.#p.deps;
    const dirty = dirtyMemory(restored.base.dirty);
    const limit = new DirtyLimit(job.settings.errorLimit, dirty);
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
      stopTimeoutMs: this.#p.deps.stopTimeoutMs ?? STOP_TIMEOUT_MS,
      signal: this.#abort.signal,
    });
    this.#coordinator = coordinator;

    const bounds = job.cursor ? (await store.info()).cursor : undefined;
    // The planner comes before begin: a source that is not there must not cost the target anything.
    const planner = await pluginCall('SOURCE_IO', () => reader.planner(restored.planner, job.settings.channel, bounds));
    for (const o of restored.replay.reopened) planner.reopen(o.split, o.position);
    if (restored.replay.committed.length > 0) planner.committed(restored.replay.committed);
    points.hit('planner.after');
    if (!(await store.noted('begun'))) {
      // What compares columns is not loaded for readers that know none before they read.
      const coming = reader.columns ? await (await import('./coming-columns.js')).comingColumns(job, reader) : [];
      await store.assertNewest(run.attempt);
      points.hit('begin.before');
      await pluginCall('SINK_IO', () => writer.begin(run, coming));
      points.hit('begin.after');
      await store.put('begun', run);
      points.hit('begun.after');
    }

    const lanes = laneCount(job.settings.channel, planner, restored.open.length, writer);
    log.debug({ lanes, channel: job.settings.channel }, 'lanes');
    this.#dirtyDir = this.#dirtyDirOf(store);
    const states = laneStates(writer, restored.writerStates, lanes);
    const hosts = makeHosts({
      job,
      reader,
      writer,
      lanes,
      workerEntry: this.#p.deps.workerEntry ?? null,
      log,
      failpoint: this.#p.deps.failpoint,
      memory: { dirty, hits },
      events: coordinator,
      signal: this.#abort.signal,
    });
    let outcome: 'finished' | 'stopped' | SyncError;
    try {
      await openHosts(hosts, run, reader.shared?.() ?? null, states, this.#dirtyDir);
      points.hit('lanes.opened');
      this.#phase = 'running';
      stop.addEventListener('abort', () => (this.#phase = 'stopping'), { once: true, signal: this.#abort.signal });
      outcome = await coordinator.run(hosts, planner);
    } catch (e) {
      outcome = await deeperCause(store, run, toSyncError(e), log);
    }
    const end = coordinator.laneEnd(typeof outcome === 'string' ? null : outcome);
    for (const r of await Promise.allSettled(hosts.map((h) => h.close(end)))) {
      if (r.status === 'fulfilled') continue;
      const error = toSyncError(r.reason);
      if (error.code === 'LANE_STUCK') this.#stuck = true;
      // The first failure is the one to tell; a failure of the clean-up alone is still a failure.
      if (typeof outcome === 'string') outcome = error;
      else log.warn({ error: error.message }, 'closing a lane failed too');
    }
    if (typeof outcome === 'string') return outcome;
    throw coordinator.told(outcome);
  }

  #dirtyDirOf(run: RunStore): string {
    return this.#p.job.settings.dirtyDir ?? join(run.dir, 'dirty');
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
