/** What `sync state` does: look at, decide and drop the saved state of jobs. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode, readIfThere } from '../../durable/files.js';
import {
  SyncError,
  toSyncError,
  type AnyWriterDefinition,
  type JsonValue,
  type Logger,
  type PluginContext,
} from '../../plugin-api/index.js';
import { parseFailpoints } from '../failpoints.js';
import { abandonRun, writerOfRun } from '../job/sweep-run.js';
import type { JobSpec } from '../../job/job-spec.js';
import { MetricRegistry } from '../observe/metrics.js';
import { addCounters, STATE_FORMAT } from './format.js';
import { lockJob } from './job-lock.js';
import { jobKey, JobStore, type JobRecord } from './job-store.js';
import type { RunStore } from './run-store.js';

export interface CursorListing {
  readonly jobId: string;
  /** Where the job's next run goes on; null: it has none. */
  readonly cursor: JsonValue | null;
}

/** @throws SyncError STATE_IO, STATE_CORRUPT */
export async function showCursor(stateRoot: string, jobId: string): Promise<CursorListing> {
  return { jobId, cursor: await store(stateRoot, jobId).cursor() };
}

/** Of all jobs that have one. */
export async function listCursors(stateRoot: string): Promise<readonly CursorListing[]> {
  const all: CursorListing[] = [];
  for (const jobs of await jobStores(stateRoot)) {
    if (typeof jobs === 'string') continue;
    const cursor = await jobs.cursor().catch(() => null);
    if (cursor !== null) all.push({ jobId: jobs.jobId, cursor });
  }
  return all;
}

export interface StateListing {
  readonly jobId: string;
  readonly runId: string;
  /** The parameters that name the run; empty: none do. */
  readonly parameters: string;
  readonly state: 'finished' | 'unfinished' | 'in doubt' | 'given up' | 'damaged';
  readonly epoch: number;
  /** ms since 1970 of the last checkpoint, or of the run's start. */
  readonly at: number;
  readonly rows: number;
}

function store(stateRoot: string, jobId: string): JobStore {
  return new JobStore(stateRoot, jobId, parseFailpoints(undefined));
}

/** Of all jobs, by folder; the name of a folder whose record is damaged. */
async function jobStores(stateRoot: string): Promise<readonly (JobStore | string)[]> {
  let names: readonly string[] = [];
  try {
    names = (await readdir(stateRoot)).sort();
  } catch (e) {
    if (!hasCode(e, 'ENOENT')) throw e;
  }
  const out: (JobStore | string)[] = [];
  for (const name of names) {
    const text = await readIfThere(join(stateRoot, name, 'job'));
    if (text !== null) out.push(jobOf(stateRoot, text) ?? name);
  }
  return out;
}

export async function listStates(stateRoot: string): Promise<readonly StateListing[]> {
  const out: StateListing[] = [];
  for (const jobs of await jobStores(stateRoot)) {
    if (typeof jobs === 'string') {
      out.push({ jobId: jobs, runId: '', parameters: '', state: 'damaged', epoch: 0, at: 0, rows: 0 });
      continue;
    }
    const { jobId } = jobs;
    for (const runName of await jobs.runNames()) {
      for (const id of await jobs.runIds(runName)) out.push(await listing(jobId, jobs.run(runName, id)));
    }
  }
  return out;
}

/** Null: the record of the job's id is damaged or from a newer version, or holds none that a job may have. */
export function jobOf(stateRoot: string, record: string): JobStore | null {
  try {
    const { format = STATE_FORMAT, jobId } = JSON.parse(record) as JobRecord;
    return format === STATE_FORMAT ? store(stateRoot, jobId) : null;
  } catch {
    return null;
  }
}

/** A run that cannot be read must not hide the others. */
export async function listing(jobId: string, run: RunStore): Promise<StateListing> {
  try {
    return await soundListing(jobId, run);
  } catch (e) {
    if (toSyncError(e).code !== 'STATE_CORRUPT') throw e;
    const epoch = (await run.epochs()).at(-1) ?? 0;
    return { jobId, runId: run.runId, parameters: parametersOf(run), state: 'damaged', epoch, at: 0, rows: 0 };
  }
}

async function soundListing(jobId: string, run: RunStore): Promise<StateListing> {
  const newest = await run.newest();
  const doubt = newest?.kind === 'epoch' && !(await run.outcome(newest.epoch));
  const state = (await run.has('finished'))
    ? 'finished'
    : (await run.has('abandoned'))
      ? 'given up'
      : doubt
        ? 'in doubt'
        : 'unfinished';
  const rows = newest ? addCounters(newest.base, ...newest.lanes.map((l) => l.counters.to)).written : 0;
  const at = newest?.at ?? (await run.info()).at;
  return { jobId, runId: run.runId, parameters: parametersOf(run), state, epoch: newest?.epoch ?? 0, at, rows };
}

function labelOf(run: RunStore): string {
  const parameters = parametersOf(run);
  return parameters === '' ? run.runId : `${run.runId} (${parameters})`;
}

function parametersOf(run: RunStore): string {
  return run.runName === 'default' ? '' : decodeURIComponent(run.runName);
}

/**
 * The run that is meant: by its id, else the unfinished one, else the one that began last.
 * @throws SyncError USAGE where the job has no state, or several unfinished runs.
 */
async function currentRun(jobs: JobStore, wanted: string | undefined): Promise<RunStore> {
  const found: { readonly run: RunStore; readonly open: boolean; readonly at: number }[] = [];
  for (const name of await jobs.runNames()) {
    for (const id of wanted === undefined ? [] : await jobs.runIds(name)) if (id === wanted) return jobs.run(name, id);
    const run = (await jobs.current(name))?.run;
    if (!run) continue;
    const open = !(await run.has('finished')) && !(await run.has('abandoned'));
    found.push({
      run,
      open,
      at: await run.info().then(
        (i) => i.at,
        () => 0,
      ),
    });
  }
  const known = found.map((f) => labelOf(f.run)).join(', ');
  if (wanted !== undefined) {
    throw new SyncError('USAGE', `job ${jobs.jobId} has no run ${wanted}`, { hint: `its runs are ${known || 'none'}` });
  }
  const open = found.filter((f) => f.open);
  if (open.length > 1) {
    const names = open.map((f) => labelOf(f.run)).join(', ');
    throw new SyncError('USAGE', `job ${jobs.jobId} has several unfinished runs: ${names}`, {
      hint: 'Say which: --run <id>.',
    });
  }
  const best = open[0] ?? found.sort((a, b) => b.at - a.at)[0];
  if (best) return best.run;
  throw new SyncError('USAGE', `there is no state of job ${jobs.jobId}`, {
    place: join(jobs.root, jobKey(jobs.jobId)),
    hint: '`sync state list` shows what there is.',
  });
}

/** The current run as JSON: what it is, its newest checkpoint, its outcome. */
export async function showState(stateRoot: string, jobId: string, runId?: string): Promise<JsonValue> {
  const run = await currentRun(store(stateRoot, jobId), runId);
  const newest = await run.newest();
  const attempts = await run.attempts();
  return {
    ...(await soundListing(jobId, run)),
    folder: run.dir,
    run: (await run.info()) as unknown as JsonValue,
    attempt: (await run.attempt(attempts.at(-1) ?? 0)) as unknown as JsonValue,
    checkpoint: newest as unknown as JsonValue,
    outcome: newest ? ((await run.outcome(newest.epoch)) as unknown as JsonValue) : null,
  };
}

/**
 * A person's word on an epoch whose outcome nobody can tell; the next start acts on it.
 * @throws SyncError USAGE where nothing is in doubt.
 */
export async function resolveState(
  stateRoot: string,
  jobId: string,
  lane: number | 'all',
  as: 'committed' | 'lost',
  runId?: string,
): Promise<string> {
  const jobs = store(stateRoot, jobId);
  const run = await currentRun(jobs, runId);
  await using lock = await lockJob(jobs.dir, jobId);
  void lock;
  const newest = await run.newest();
  if (newest?.kind !== 'epoch' || (await run.outcome(newest.epoch))) {
    throw new SyncError('USAGE', `no epoch of run ${run.runId} is in doubt`, { place: run.dir });
  }
  const lanes = newest.lanes.map((l) => l.lane).filter((l) => lane === 'all' || l === lane);
  if (lanes.length === 0) {
    throw new SyncError('USAGE', `epoch ${String(newest.epoch)} has no lane ${String(lane)}`, { place: run.dir });
  }
  const open: number[] = [];
  for (const l of lanes) {
    if (lane !== 'all' || (await run.resolution(newest.epoch, l)) === null) open.push(l);
  }
  for (const l of open) await run.resolve(newest.epoch, l, as);
  if (open.length === 0) return `epoch ${String(newest.epoch)} of run ${run.runId}: every lane is decided already`;
  return `epoch ${String(newest.epoch)} of run ${run.runId}: lane ${open.join(', ')} is taken as ${as} by the next start`;
}

/** The job's own id and those of its further content entries (`<id>#2` …), as far as they have state. */
export async function entryIds(stateRoot: string, jobId: string): Promise<readonly string[]> {
  const ids = (await jobStores(stateRoot)).flatMap((j) => (typeof j === 'string' ? [] : [j.jobId]));
  const others = ids.filter((id) => id.startsWith(`${jobId}#`) && /^\d+$/.test(id.slice(jobId.length + 1)));
  return ids.includes(jobId) || others.length === 0 ? [jobId, ...others] : others;
}

export interface ResetDeps {
  readonly log: Logger;
  /** Null: the job file is not at hand; the recorded options must do. */
  readonly job: JobSpec | null;
  readonly loadWriter: (name: string) => Promise<AnyWriterDefinition | null>;
}

/** Null also where the state is damaged: a reset is the way out of that. */
async function readableCursor(jobs: JobStore, log: Logger): Promise<JsonValue | null> {
  try {
    return await jobs.cursor();
  } catch (e) {
    const error = toSyncError(e);
    if (error.code !== 'STATE_CORRUPT') throw e;
    const fields = { job: jobs.jobId, file: error.place ?? jobs.dir };
    log.warn(fields, 'the state is damaged: if the job keeps a cursor, it is lost, and the next run reads everything');
    return null;
  }
}

/**
 * Sweeps every run that may have left something at its target, then drops the job's state; its cursor only where
 * `cursor` says so.
 */
export async function resetState(stateRoot: string, jobId: string, deps: ResetDeps, cursor = false): Promise<string> {
  const jobs = store(stateRoot, jobId);
  // Without either there is nothing to reset, which this says.
  if ((await jobs.runNames()).length === 0 && (await jobs.cursor()) === null) await currentRun(jobs, undefined);
  await using lock = await lockJob(jobs.dir, jobId);
  void lock;
  const kept = cursor ? null : await readableCursor(jobs, deps.log);
  const ended = new AbortController();
  const context: PluginContext = {
    log: deps.log,
    metrics: new MetricRegistry(),
    signal: ended.signal,
    failpoint: () => undefined,
  };
  let removed = 0;
  let runs = 0;
  for (const name of await jobs.runNames()) {
    for (const id of await jobs.runIds(name)) {
      const run = jobs.run(name, id);
      if ((await run.has('finished')) || (await run.has('abandoned'))) continue;
      const writer = await writerOfRun(run, deps.job, deps.loadWriter, context);
      try {
        removed += await abandonRun(run, writer);
        runs++;
      } finally {
        await writer.close?.();
      }
    }
  }
  ended.abort();
  if (kept === null) await jobs.remove();
  else await jobs.removeRuns(kept);
  const rest = kept === null ? '' : `; its cursor stays at ${JSON.stringify(kept)} (--cursor drops it too)`;
  return `dropped the state of job ${jobId}${rest}; swept ${String(runs)} unfinished run(s), ${String(removed)} left-over(s) removed`;
}
