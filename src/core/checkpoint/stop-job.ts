/** Asks the process that runs a job to stop at a checkpoint, and waits for it. Never kills. */
import { execFile } from 'node:child_process';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { hasCode } from '../../durable/files.js';
import { SyncError } from '../../plugin-api/index.js';
import { isHeldByOther, isLocked } from './job-lock.js';
import { processStart, readOwner, type Owner } from './owner-file.js';

/** How often it is looked whether a lock is free (ms). */
const LOOK_MS = 50;
/** How long a lock may be held by somebody whom the owner file does not name: an owner that is just starting (ms). */
const NAMELESS_MS = 3000;

/** A job, or one content entry of it, in its folder. */
export interface StoppablePart {
  readonly jobId: string;
  readonly dir: string;
}

export interface Stopped {
  /** Whether all locks are free; false: the time ran out. */
  readonly clean: boolean;
  /** The processes that were told to stop. */
  readonly pids: readonly number[];
}

/**
 * Null: nothing of the job runs on this host.
 * @throws SyncError STATE_LOCKED where something holds a lock and nobody can tell for sure who: no signal is sent then.
 */
export async function stopParts(parts: readonly StoppablePart[], timeoutMs: number): Promise<Stopped | null> {
  const end = performance.now() + timeoutMs;
  const running: StoppablePart[] = [];
  for (const p of parts) if (await isLocked(p.dir)) running.push(p);
  if (running.length === 0) return null;
  const told = new Set<number>();
  for (const p of running) {
    const owner = await ownerOf(p);
    if (owner === null) continue; // it has ended in the meantime
    // A second signal would end the job at once, without a checkpoint.
    if (told.has(owner.pid)) continue;
    told.add(owner.pid);
    if (owner.live?.phase !== 'stopping') tell(owner, p);
  }
  // The process goes on to no other entry of the job once it was told; but one may just have been beginning.
  while ((await anyLocked(parts, told)) && performance.now() < end) await sleep(LOOK_MS);
  return { clean: !(await anyLocked(parts, told)), pids: [...told] };
}

/** Whether one of these processes still holds a lock; one that a newer process took in the meantime is not theirs. */
async function anyLocked(parts: readonly StoppablePart[], pids: ReadonlySet<number>): Promise<boolean> {
  for (const p of parts) {
    if (!(await isLocked(p.dir))) continue;
    const owner = await readOwner(p.dir);
    if (owner === null || (owner.end === null && pids.has(owner.pid))) return true;
  }
  return false;
}

/** The process that holds the lock, beyond doubt; null: nobody does any more. */
async function ownerOf({ jobId, dir }: StoppablePart): Promise<Owner | null> {
  const end = performance.now() + NAMELESS_MS;
  for (;;) {
    if (!(await isLocked(dir))) return null;
    const owner = await readOwner(dir);
    if (owner?.end === null && (await isSameProcess(owner)) && !(await isHeldByOther(dir, owner.pid))) return owner;
    if (performance.now() < end) {
      await sleep(LOOK_MS);
      continue;
    }
    const who = owner ? `pid ${String(owner.pid)} on ${owner.host}` : 'no owner';
    throw new SyncError('STATE_LOCKED', `the job runs, but its owner file names ${who}, which is not what holds it`, {
      place: jobId,
      hint: 'Nothing was signalled. Run sync stop on the host and in the container where the job runs.',
    });
  }
}

/** Pids are given out again: only a process that began when the owner did is the owner. */
async function isSameProcess(o: Owner): Promise<boolean> {
  if (o.host !== hostname()) return false;
  if (o.started !== null) return processStart(o.pid) === o.started;
  if (process.platform === 'linux') return false; // written by an older version: it says too little
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(o.pid)], {
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    });
    // A process that got the pid later began after the owner wrote its file.
    return Date.parse(stdout.trim()) <= Date.parse(o.since) + 1000;
  } catch {
    return false;
  }
}

function tell(owner: Owner, part: StoppablePart): void {
  try {
    process.kill(owner.pid, 'SIGTERM');
  } catch (e) {
    if (hasCode(e, 'ESRCH')) return;
    throw new SyncError('STATE_LOCKED', `pid ${String(owner.pid)} cannot be signalled: ${(e as Error).message}`, {
      place: part.jobId,
      hint: 'Run sync stop as the user that runs the job, or as root.',
      cause: e,
    });
  }
}
