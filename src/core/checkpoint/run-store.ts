import { hostname } from 'node:os';
import { randomBytes } from 'node:crypto';
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { createExclusive, hasCode, readIfThere, unlinkIfThere, makeDirDurable } from '../../durable/files.js';
import { SyncError, toSyncError, type JsonValue, type RunIdentity, type RunRecord } from '../../plugin-api/index.js';
import type { Failpoints } from '../failpoints.js';
import {
  sealed,
  STATE_FORMAT,
  unsealed,
  type AttemptInfo,
  type Checkpoint,
  type Outcome,
  type RunInfo,
} from './format.js';

export type Note = 'begun' | 'finished' | 'abandoned';

interface NoteRecord {
  readonly format: number;
  readonly attempt: number;
  readonly at: number;
  /** In `finished`: where the next run of a job with a cursor goes on. */
  readonly cursor?: JsonValue | null;
  /** In `finished`: the round in which the entry of the job is done (round.ts). */
  readonly round?: string;
}

interface Resolution {
  readonly format: number;
  readonly as: 'committed' | 'lost';
  readonly at: number;
}

/** State I/O errors say so and name the file; a full disk keeps its own code. */
export async function stateIo<T>(path: string, f: () => Promise<T>): Promise<T> {
  try {
    return await f();
  } catch (e) {
    const s = toSyncError(e, 'STATE_IO');
    if (s.place !== undefined) throw s;
    // A full disk of the state is not the target's.
    const full = s.code === 'SINK_FULL';
    throw new SyncError(full ? 'STATE_IO' : s.code, s.message, {
      place: path,
      ...(full ? { retry: 'never' as const } : {}),
      hint: s.hint ?? 'The last checkpoint is untouched; mend the state folder and run the job again.',
      cause: e,
    });
  }
}

/** The folder of one run: `attempt-K`, `N.ckpt`, `N.outcome` and notes, each created exclusively and durably. */
export class RunStore {
  readonly dir: string;
  readonly runId: string;
  readonly runName: string;
  readonly #points: Failpoints;
  /** Makes temporary names this process's own. */
  readonly #unique = randomBytes(6).toString('hex');

  constructor(runsDir: string, runName: string, runId: string, points: Failpoints) {
    this.dir = join(runsDir, runName, runId);
    this.runName = runName;
    this.runId = runId;
    this.#points = points;
  }

  async #names(): Promise<readonly string[]> {
    return stateIo(this.dir, async () => {
      try {
        return await readdir(this.dir);
      } catch (e) {
        if (hasCode(e, 'ENOENT')) return [];
        throw e;
      }
    });
  }

  async #numbers(shape: RegExp): Promise<readonly number[]> {
    const found: number[] = [];
    for (const n of await this.#names()) {
      const m = shape.exec(n);
      if (m?.[1] !== undefined) found.push(Number(m[1]));
    }
    return found.sort((a, b) => a - b);
  }

  async #read<T extends { readonly format: number }>(name: string): Promise<T | null> {
    const path = join(this.dir, name);
    return stateIo(path, async () => {
      const text = await readIfThere(path);
      return text === null ? null : unsealed<T>(text, path);
    });
  }

  async #create(name: string, doc: unknown, beforeLink?: () => void): Promise<boolean> {
    return stateIo(join(this.dir, name), async () => {
      try {
        return await createExclusive(this.dir, name, sealed(doc), this.#unique, beforeLink);
      } catch (e) {
        throw hasCode(e, 'ENOENT') ? this.#vanished(e) : e;
      }
    });
  }

  /** Exit 4, not 1: whoever just starts the job again would have its rows twice. */
  #vanished(cause?: unknown): SyncError {
    return new SyncError('STATE_CORRUPT', `the state folder of run ${this.runId} has vanished while the job ran`, {
      place: this.dir,
      hint:
        'What the run has published stays published. Without this folder the next start is a new run that reads everything again: ' +
        `where the target is appended to, these rows come twice. Restore the folder, or remove what run ${this.runId} has published first.`,
      cause,
    });
  }

  async createRun(info: RunInfo): Promise<void> {
    await stateIo(this.dir, () => makeDirDurable(this.dir));
    if (!(await this.#create('0.ckpt', info))) {
      throw new SyncError('STATE_CORRUPT', 'a new run id exists already', { place: this.dir });
    }
  }

  async info(): Promise<RunInfo> {
    const info = await this.#read<RunInfo>('0.ckpt');
    if (!info) {
      throw new SyncError('STATE_CORRUPT', 'the run has no record of what it is', {
        place: join(this.dir, '0.ckpt'),
        hint: 'Restore the state folder from a backup, or start anew with --fresh.',
      });
    }
    return info;
  }

  attempts(): Promise<readonly number[]> {
    return this.#numbers(/^attempt-(\d+)$/);
  }

  attempt(k: number): Promise<AttemptInfo | null> {
    return this.#read<AttemptInfo>(`attempt-${String(k)}`);
  }

  home(): Promise<string> {
    return stateIo(this.dir, () => realpath(this.dir));
  }

  /** Fences every earlier start of the run: their next check of the newest attempt fails. */
  async createAttempt(lanes: number): Promise<number> {
    const k = ((await this.attempts()).at(-1) ?? 0) + 1;
    const info: AttemptInfo = {
      format: STATE_FORMAT,
      attempt: k,
      token: randomBytes(8).toString('hex'),
      host: hostname(),
      pid: process.pid,
      at: Date.now(),
      lanes,
      home: await this.home(),
    };
    if (!(await this.#create(`attempt-${String(k)}`, info))) throw await this.#fenced(k);
    return k;
  }

  async #fenced(mine: number): Promise<SyncError> {
    const newest = (await this.attempts()).at(-1) ?? 0;
    const a = await this.attempt(newest).catch(() => null); // only for the message
    const who = a ? ` (host ${a.host}, pid ${String(a.pid)})` : '';
    return new SyncError(
      'FENCED',
      `start ${String(newest)} of run ${this.runId}${who} has taken over from start ${String(mine)}`,
      { place: this.dir, hint: 'Nothing more is written by this process. See the other one, or run the job again.' },
    );
  }

  /** @throws SyncError FENCED where a newer start exists, STATE_CORRUPT where the folder or this start's record is gone. */
  async assertNewest(attempt: number): Promise<void> {
    const newest = (await this.attempts()).at(-1) ?? 0;
    if (newest < attempt) throw this.#vanished();
    if (newest > attempt) throw await this.#fenced(attempt);
  }

  /**
   * The run with everything that its starts up to `attempt` may have left, for sweeping by that one. A newer one may be
   * there by now, for all that was checked before: what it has staged is alive. `givenUp`: for a run that nobody goes on
   * with; damaged records of its attempts are skipped.
   */
  async record(attempt: number, givenUp = false): Promise<RunRecord> {
    const attempts = (await this.attempts()).filter((k) => k <= attempt);
    let lanes = 1;
    for (const k of attempts) {
      const a = this.attempt(k);
      lanes = Math.max(lanes, (await (givenUp ? a.catch(() => null) : a))?.lanes ?? 1);
    }
    return { runId: this.runId, attempts, lanes, givenUp };
  }

  epochs(): Promise<readonly number[]> {
    return this.#numbers(/^(\d+)\.ckpt$/);
  }

  checkpointPath(epoch: number): string {
    return join(this.dir, `${String(epoch)}.ckpt`);
  }

  async checkpoint(epoch: number): Promise<Checkpoint | null> {
    return this.#read<Checkpoint>(`${String(epoch)}.ckpt`);
  }

  /** Null: no epoch yet. @throws SyncError STATE_CORRUPT, never falls back to an older one. */
  async newest(): Promise<Checkpoint | null> {
    const n = (await this.epochs()).at(-1) ?? 0;
    return n === 0 ? null : this.checkpoint(n);
  }

  /** @returns false where the slot is taken: another attempt was here. */
  async putCheckpoint(c: Checkpoint): Promise<boolean> {
    return this.#create(`${String(c.epoch)}.ckpt`, c, () => {
      this.#points.hit(c.kind === 'takeover' ? 'takeover.written' : 'ckpt.written');
    });
  }

  outcome(epoch: number): Promise<Outcome | null> {
    return this.#read<Outcome>(`${String(epoch)}.outcome`);
  }

  /**
   * Idempotent.
   * @throws SyncError FENCED where a newer start noted something else, STATE_CORRUPT where nobody can have.
   */
  async putOutcome(o: Outcome): Promise<void> {
    if (await this.#create(`${String(o.epoch)}.outcome`, o)) return;
    const there = await this.outcome(o.epoch);
    const same = there && Object.keys(o.lanes).every((l) => there.lanes[l] === o.lanes[l]);
    if (!same) {
      // A newer start decided it, and may have pruned it since.
      await this.assertNewest(o.attempt);
      throw new SyncError('STATE_CORRUPT', `epoch ${String(o.epoch)} has another outcome on record`, {
        place: join(this.dir, `${String(o.epoch)}.outcome`),
      });
    }
  }

  /** What a person decided about a lane whose outcome nobody can tell. */
  async resolution(epoch: number, lane: number): Promise<'committed' | 'lost' | null> {
    const r = await this.#read<Resolution>(`${String(epoch)}.resolved-${String(lane)}`);
    return r?.as ?? null;
  }

  async resolve(epoch: number, lane: number, as: 'committed' | 'lost'): Promise<void> {
    const doc: Resolution = { format: STATE_FORMAT, as, at: Date.now() };
    if (!(await this.#create(`${String(epoch)}.resolved-${String(lane)}`, doc))) {
      throw new SyncError('USAGE', `lane ${String(lane)} of epoch ${String(epoch)} is resolved already`, {
        place: this.dir,
      });
    }
  }

  /** Whether it is there, in whatever state. */
  async has(note: Note): Promise<boolean> {
    return (await this.#names()).includes(note);
  }

  /** Whether it is there and whole. @throws SyncError STATE_CORRUPT */
  async noted(note: Note): Promise<boolean> {
    return (await this.#read<NoteRecord>(note)) !== null;
  }

  /**
   * Where a run after this one goes on: its upper bound once it is finished, else what it went on from itself.
   * Undefined: it is no run of a job with a cursor.
   */
  async cursor(): Promise<JsonValue | null | undefined> {
    const { cursor } = await this.info();
    const note = await this.#read<NoteRecord>('finished');
    return note ? note.cursor : cursor?.lower;
  }

  /** Whether the run was finished in this round. */
  async finishedIn(round: string): Promise<boolean> {
    return (await this.#read<NoteRecord>('finished'))?.round === round;
  }

  /** `more`: what else the note says. */
  async put(note: Note, run: RunIdentity, more: Pick<NoteRecord, 'cursor' | 'round'> = {}): Promise<void> {
    const doc: NoteRecord = { format: STATE_FORMAT, attempt: run.attempt, at: Date.now(), ...more };
    await this.#create(note, doc);
  }

  /** Keeps the newest `keep` checkpoints with their outcomes; never 0, the run's own record. */
  async prune(keep: number): Promise<void> {
    const epochs = (await this.epochs()).filter((n) => n > 0);
    for (const n of epochs.slice(0, Math.max(0, epochs.length - Math.max(1, keep)))) {
      await stateIo(this.dir, async () => {
        // The checkpoint first: one without its outcome would be undecided, and only the newest may be that.
        await unlinkIfThere(join(this.dir, `${String(n)}.ckpt`));
        await unlinkIfThere(join(this.dir, `${String(n)}.outcome`));
      });
    }
  }
}
