/**
 * One process a job and host: a convenience with a good message. Correctness rests on attempts, not on this lock.
 * On Linux the kernel releases it with the process (abstract Unix socket); elsewhere a file with a live pid holds it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { createServer, type Server } from 'node:net';
import { realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createExclusive, hasCode, readIfThere, unlinkIfThere } from '../../durable/files.js';
import { SyncError } from '../../plugin-api/index.js';
import { stateIo } from './run-store.js';

export interface JobLock extends AsyncDisposable {
  release(): Promise<void>;
}

interface Owner {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
}

const me = (): string =>
  JSON.stringify({ pid: process.pid, host: hostname(), since: new Date().toISOString() } satisfies Owner);

async function readOwner(dir: string): Promise<Owner | null> {
  try {
    return JSON.parse((await readIfThere(join(dir, 'owner'))) ?? 'null') as Owner | null;
  } catch {
    return null; // only for the message
  }
}

async function locked(dir: string, jobId: string): Promise<SyncError> {
  const o = await readOwner(dir);
  const who = o ? `pid ${String(o.pid)} on ${o.host}, since ${o.since}` : 'another process';
  return new SyncError('STATE_LOCKED', `the job is already running: ${who}`, {
    place: jobId,
    hint: 'Wait for it or stop it. Two runs side by side need two job ids (--job-id).',
  });
}

function listenAbstract(name: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((s) => s.destroy());
    server.once('error', (e) => {
      if (hasCode(e, 'EADDRINUSE')) resolve(null);
      else reject(e);
    });
    server.listen(`\0${name}`, () => {
      server.unref();
      resolve(server);
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

/** @throws SyncError STATE_LOCKED naming the owner. */
export async function lockJob(dir: string, jobId: string): Promise<JobLock> {
  if (process.platform === 'linux') {
    const name = `syncx-${createHash('sha256')
      .update(await realpath(dir))
      .digest('hex')
      .slice(0, 40)}`;
    const server = await listenAbstract(name);
    if (!server) throw await locked(dir, jobId);
    const owner = join(dir, 'owner');
    await stateIo(owner, () => writeFile(owner, me())); // not durable: it is only for the message
    const release = (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    return { release, [Symbol.asyncDispose]: release };
  }
  for (;;) {
    if (await createExclusive(dir, 'owner', me(), randomBytes(6).toString('hex'))) break;
    const o = await readOwner(dir);
    if (o && o.host === hostname() && !alive(o.pid)) await unlinkIfThere(join(dir, 'owner'));
    else throw await locked(dir, jobId);
  }
  const release = async (): Promise<void> => {
    await unlinkIfThere(join(dir, 'owner'));
  };
  return { release, [Symbol.asyncDispose]: release };
}
