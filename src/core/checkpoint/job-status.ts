/** What `sync status` and `sync stop` know of a job: its owner, whether it runs, and its newest run. */
import { readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { hasCode, readIfThere } from '../../durable/files.js';
import { toSyncError } from '../../plugin-api/index.js';
import type { Progress } from '../job/run-types.js';
import { isLocked } from './job-lock.js';
import { jobKey, type JobStore } from './job-store.js';
import { readOwner, type Owner } from './owner-file.js';
import { jobOf, listing, type StateListing } from './state-admin.js';

/**
 * `running`: its lock is held. The others are of its newest run: `stopped` at a checkpoint, `failed` with an error,
 * `died` without a word (killed, or the machine went down); these three are resumed by the next start. `new`: no run.
 */
export type JobState =
  'running' | 'finished' | 'stopped' | 'failed' | 'died' | 'in doubt' | 'given up' | 'damaged' | 'new';

export interface JobStatus {
  readonly jobId: string;
  readonly state: JobState;
  /** Of a running job. */
  readonly phase: Progress['phase'] | null;
  readonly pid: number | null;
  readonly host: string | null;
  /** When the running start, or the last one, began (ISO 8601). */
  readonly since: string | null;
  readonly runId: string | null;
  /** Of a running job: so far, committed or not; else what is committed. Null: not known. */
  readonly rows: number | null;
  readonly written: number | null;
  readonly dirty: number | null;
  readonly rowsPerSecond: number | null;
  /** Of a running job: records of an endless source that were not read yet. */
  readonly lag: number | null;
  /** The last checkpoint and its age. */
  readonly epoch: number;
  readonly checkpointAgeMs: number | null;
  /** How old the figures of a running job are; null: it has told none yet. */
  readonly toldMsAgo: number | null;
  /** Code of the error that the last start ended with. */
  readonly error: string | null;
  /** What is wrong with a damaged state. */
  readonly problem: string | null;
}

/** One for each job that the state folder knows, by id; a damaged one is an entry like the others. */
export async function listStatus(stateRoot: string): Promise<readonly JobStatus[]> {
  const all: JobStatus[] = [];
  for (const name of await folders(stateRoot)) {
    try {
      const text = await readIfThere(join(stateRoot, name, 'job'));
      if (text === null) continue;
      const jobs = jobOf(stateRoot, text);
      all.push(jobs ? await statusOf(jobs) : damaged(name, 'the record of its job id is damaged'));
    } catch (e) {
      all.push(damaged(name, toSyncError(e).message));
    }
  }
  return all;
}

async function folders(stateRoot: string): Promise<readonly string[]> {
  try {
    return (await readdir(stateRoot)).sort();
  } catch (e) {
    if (hasCode(e, 'ENOENT')) return [];
    throw e;
  }
}

/** The statuses of one job: its own, and those of its further content entries (`<id>#2` …). */
export function partsOf(all: readonly JobStatus[], jobId: string): readonly JobStatus[] {
  const isPart = (id: string): boolean => id.startsWith(`${jobId}#`) && /^\d+$/.test(id.slice(jobId.length + 1));
  // The record of a damaged one names it no more; its folder does.
  return all.filter((s) => s.jobId === jobId || isPart(s.jobId) || s.jobId === jobKey(jobId));
}

async function statusOf(jobs: JobStore): Promise<JobStatus> {
  const running = await isLocked(jobs.dir);
  const owner = await readOwner(jobs.dir);
  try {
    const run = await newestRun(jobs);
    return running ? ofRunning(jobs.jobId, owner, run) : ofResting(jobs.jobId, owner, run);
  } catch (e) {
    const error = toSyncError(e);
    return damaged(jobs.jobId, `${error.message}${error.place === undefined ? '' : ` (${error.place})`}`);
  }
}

/** Of the current runs of all names the one that did something last. */
async function newestRun(jobs: JobStore): Promise<StateListing | null> {
  let newest: StateListing | null = null;
  for (const name of await jobs.runNames()) {
    const current = await jobs.current(name);
    const run = current && (await listing(jobs.jobId, current.run));
    if (run && (!newest || run.at > newest.at)) newest = run;
  }
  return newest;
}

function ofRunning(jobId: string, owner: Owner | null, run: StateListing | null): JobStatus {
  // In the moment between the lock and the first word of its new owner the file is the last one's.
  const mine = owner?.end === null ? owner : null;
  const live = mine?.live ?? null;
  const at = live?.checkpoint?.at ?? (run && run.epoch > 0 ? run.at : null);
  return {
    ...NOTHING,
    jobId,
    state: 'running',
    phase: live?.phase ?? 'starting',
    pid: mine?.pid ?? null,
    host: mine?.host ?? hostname(),
    since: mine?.since ?? null,
    runId: live?.runId ?? run?.runId ?? null,
    rows: live?.read ?? null,
    written: live?.written ?? null,
    dirty: live?.dirty ?? null,
    rowsPerSecond: live?.rowsPerSecond ?? null,
    lag: live?.lag ?? null,
    epoch: live?.checkpoint?.epoch ?? run?.epoch ?? 0,
    checkpointAgeMs: at === null ? null : Math.max(0, Date.now() - at),
    toldMsAgo: live ? Math.max(0, Date.now() - live.at) : null,
  };
}

function ofResting(jobId: string, owner: Owner | null, run: StateListing | null): JobStatus {
  const state = restingState(owner, run);
  return {
    ...NOTHING,
    jobId,
    state,
    since: owner?.since ?? null,
    runId: run?.runId ?? null,
    rows: run && state !== 'damaged' ? run.rows : null,
    written: run && state !== 'damaged' ? run.rows : null,
    epoch: run?.epoch ?? 0,
    checkpointAgeMs: run && run.epoch > 0 && run.at > 0 ? Math.max(0, Date.now() - run.at) : null,
    error: owner?.end?.code ?? null,
    problem: state === 'damaged' ? 'a state file of its run is damaged' : null,
  };
}

function restingState(owner: Owner | null, run: StateListing | null): JobState {
  if (!run) return owner?.end?.state === 'failed' ? 'failed' : 'new';
  if (run.state !== 'unfinished' && run.state !== 'in doubt') return run.state;
  if (run.state === 'in doubt') return 'in doubt';
  if (owner?.end === null) return owner.token === '' ? 'stopped' : 'died';
  return owner?.end?.state === 'failed' ? 'failed' : 'stopped';
}

function damaged(jobId: string, problem: string): JobStatus {
  return { ...NOTHING, jobId, state: 'damaged', problem };
}

const NOTHING: JobStatus = {
  jobId: '',
  state: 'new',
  phase: null,
  pid: null,
  host: null,
  since: null,
  runId: null,
  rows: null,
  written: null,
  dirty: null,
  rowsPerSecond: null,
  lag: null,
  epoch: 0,
  checkpointAgeMs: null,
  toldMsAgo: null,
  error: null,
  problem: null,
};
