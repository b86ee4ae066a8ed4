/**
 * One process a job and host: a convenience with a good message. Correctness rests on attempts, not on this lock.
 * On Linux the kernel releases it with the process (abstract Unix socket); elsewhere a file with a live pid holds it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { createConnection, createServer, type Server } from 'node:net';
import { realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createExclusive, hasCode, unlinkIfThere } from '../../durable/files.js';
import { SyncError } from '../../plugin-api/index.js';
import { OwnerFile, readOwner, type LiveState, type OwnerEnd } from './owner-file.js';
import { stateIo } from './run-store.js';

export interface JobLock extends AsyncDisposable {
  /** Notes how far the job is. Never rejects. */
  note(live: LiveState): Promise<void>;
  /** What the owner file says once the lock is given up. */
  ending(end: Omit<OwnerEnd, 'at'>): void;
  release(): Promise<void>;
}

async function locked(dir: string, jobId: string): Promise<SyncError> {
  const o = await readOwner(dir);
  const who = o ? `pid ${String(o.pid)} on ${o.host}, since ${o.since}` : 'another process';
  return new SyncError('STATE_LOCKED', `the job is already running: ${who}`, {
    place: jobId,
    hint: 'Wait for it or stop it. Two runs side by side need two job ids (--job-id).',
  });
}

async function socketName(dir: string): Promise<string> {
  const hash = createHash('sha256').update(await realpath(dir));
  return `\0syncx-${hash.digest('hex').slice(0, 40)}`;
}

function listenAbstract(name: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((s) => {
      s.on('error', () => undefined); // whoever asked has gone
      s.end(String(process.pid));
    });
    server.once('error', (e) => {
      if (hasCode(e, 'EADDRINUSE')) resolve(null);
      else reject(e);
    });
    server.listen(name, () => {
      server.unref();
      resolve(server);
    });
  });
}

/** How long the holder of a lock may take to say its pid: it may be busy, or stand still (ms). */
const ANSWER_MS = 1000;

/**
 * Null: nobody holds it. A process that stands still holds it too: the kernel takes the connection; `pid` is null then.
 * `ask` false: does not wait for the pid.
 */
function holderOf(name: string, ask: boolean): Promise<{ readonly pid: number | null } | null> {
  return new Promise((resolve) => {
    let text = '';
    const socket = createConnection(name);
    const end = (holder: { readonly pid: number | null } | null): void => {
      socket.destroy();
      resolve(holder);
    };
    socket.once('error', (e) => {
      end(hasCode(e, 'ECONNREFUSED', 'ENOENT') ? null : { pid: null });
    });
    socket.once('connect', () => {
      if (!ask) end({ pid: null });
    });
    socket.setTimeout(ANSWER_MS, () => {
      end({ pid: null });
    });
    socket.setEncoding('utf8').on('data', (s) => (text += String(s)));
    socket.once('end', () => {
      end({ pid: /^\d+$/.test(text) ? Number(text) : null });
    });
  });
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (e) {
    return hasCode(e, 'EPERM');
  }
}

/** Whether a process of this host holds the lock now. Takes and leaves nothing. */
export async function isLocked(dir: string): Promise<boolean> {
  try {
    if (process.platform === 'linux') return (await holderOf(await socketName(dir), false)) !== null;
  } catch (e) {
    if (hasCode(e, 'ENOENT', 'ENOTDIR')) return false; // no folder, no job
    throw e;
  }
  const o = await readOwner(dir);
  return o !== null && o.host === hostname() && alive(o.pid);
}

/** Whether the lock's holder, where it can be asked, says that it is another process. */
export async function isHeldByOther(dir: string, pid: number): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const holder = await holderOf(await socketName(dir), true);
  return holder !== null && holder.pid !== null && holder.pid !== pid;
}

/** @throws SyncError STATE_LOCKED, naming the owner, where the job runs. */
export async function assertNotLocked(dir: string, jobId: string): Promise<void> {
  if (await isLocked(dir)) throw await locked(dir, jobId);
}

/** `giveUp` ends what holds the lock. */
function held(owner: OwnerFile, giveUp: () => Promise<unknown>): JobLock {
  let end: Omit<OwnerEnd, 'at'> = { state: 'other', code: null };
  const release = async (): Promise<void> => {
    await owner.end({ at: Date.now(), ...end });
    await giveUp();
  };
  return {
    note: (live) => owner.note(live),
    ending: (e) => (end = e),
    release,
    [Symbol.asyncDispose]: release,
  };
}

/** @throws SyncError STATE_LOCKED naming the owner. */
export async function lockJob(dir: string, jobId: string): Promise<JobLock> {
  const owner = new OwnerFile(dir);
  const path = join(dir, 'owner');
  if (process.platform === 'linux') {
    const server = await listenAbstract(await socketName(dir));
    if (!server) throw await locked(dir, jobId);
    await stateIo(path, () => writeFile(path, owner.text)); // not durable: it is only for people
    return held(owner, () => new Promise((resolve) => server.close(resolve)));
  }
  for (;;) {
    if (await createExclusive(dir, 'owner', owner.text, randomBytes(6).toString('hex'))) break;
    const o = await readOwner(dir);
    if (o && o.host === hostname() && !alive(o.pid)) await unlinkIfThere(path);
    else throw await locked(dir, jobId);
  }
  return held(owner, () => unlinkIfThere(path));
}
