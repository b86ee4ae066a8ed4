/**
 * The owner file of a job: who runs it, how far it is, and how its last start ended. It informs people and
 * `sync status`; nothing of the protocol depends on it, so no write of it is durable, and none may fail the job.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { readIfThere } from '../../durable/files.js';
import type { Counters, Progress } from '../job/run-types.js';

/** How far a running job is. Counts are the run's so far, committed or not. */
export interface LiveState extends Counters {
  /** ms since 1970. */
  readonly at: number;
  readonly phase: Progress['phase'];
  readonly runId: string | null;
  /** Rows read per second since the note before; null: not known yet. */
  readonly rowsPerSecond: number | null;
  readonly restarts: number;
  /** Missing: an earlier version wrote it. */
  readonly lag?: number | null;
  /** The last durable checkpoint; null: there is none yet. */
  readonly checkpoint: Progress['checkpoint'];
}

export interface OwnerEnd {
  /** ms since 1970. */
  readonly at: number;
  /** `other`: it held the lock for something else than a run, as `sync state resolve` does. */
  readonly state: 'finished' | 'stopped' | 'failed' | 'other';
  /** Of the error; a message might name what must not be kept. */
  readonly code: string | null;
}

export interface Owner {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
  /** Tells the process from a later one that got its pid; null where the system does not tell. See `processStart`. */
  readonly started: string | null;
  /** This start's own. */
  readonly token: string;
  readonly live: LiveState | null;
  /** Set when the lock was given up; null: it is held, or its owner died. */
  readonly end: OwnerEnd | null;
}

const NAME = 'owner';

/** When the process began, as the kernel counts it, and in which boot; null: no such process, or not Linux. */
export function processStart(pid: number): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    // The name of the program, in brackets, may hold anything; the start time is the 20th field behind it.
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return ticks === undefined ? null : `${boot}:${ticks}`;
  } catch {
    return null;
  }
}

/** Null: there is none, or it cannot be read. A version that knew less wrote less of it. */
export async function readOwner(dir: string): Promise<Owner | null> {
  try {
    const o = JSON.parse((await readIfThere(join(dir, NAME))) ?? 'null') as Partial<Owner> | null;
    if (typeof o?.pid !== 'number' || typeof o.host !== 'string') return null;
    const { pid, host, since = '', started = null, token = '', live = null, end = null } = o;
    return { pid, host, since, started, token, live, end };
  } catch {
    return null;
  }
}

/** The owner file of this start. */
export class OwnerFile {
  readonly #dir: string;
  #owner: Owner;
  #busy: Promise<void> | null = null;
  #ended = false;

  constructor(dir: string) {
    this.#dir = dir;
    this.#owner = {
      pid: process.pid,
      host: hostname(),
      since: new Date().toISOString(),
      started: processStart(process.pid),
      token: randomBytes(8).toString('hex'),
      live: null,
      end: null,
    };
  }

  get text(): string {
    return JSON.stringify(this.#owner);
  }

  /** Skipped while an earlier note is under way: a slow disk must not pile them up. */
  async note(live: LiveState): Promise<void> {
    if (this.#ended || this.#busy) return;
    this.#owner = { ...this.#owner, live };
    await this.#replace();
  }

  async end(end: OwnerEnd): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    await this.#busy;
    this.#owner = { ...this.#owner, end };
    await this.#replace();
  }

  async #replace(): Promise<void> {
    this.#busy = this.#tryReplace().catch(() => undefined);
    await this.#busy;
    this.#busy = null;
  }

  /** Never makes the file anew: where it is gone, or a newer start's, this one has nothing to say any more. */
  async #tryReplace(): Promise<void> {
    if ((await readOwner(this.#dir))?.token !== this.#owner.token) return;
    const temp = join(this.#dir, `.${NAME}.tmp`);
    await writeFile(temp, this.text);
    await rename(temp, join(this.#dir, NAME));
  }
}
