import { createHash, randomBytes } from 'node:crypto';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createExclusive, hasCode, makeDirDurable, readIfThere, unlinkIfThere } from '../../durable/files.js';
import { jobIdProblem } from '../../job/job-id.js';
import { SyncError, type JsonValue } from '../../plugin-api/index.js';
import type { Failpoints } from '../failpoints.js';
import { sealed, STATE_FORMAT, unsealed } from './format.js';
import { RunStore, stateIo } from './run-store.js';

/** A folder name for a job id: readable where it can be, always unique. */
export function jobKey(jobId: string): string {
  // An empty name would make the folder of all jobs this job's own, and a reset of it would drop them all.
  if (typeof jobId !== 'string' || jobId.trim() === '') {
    throw new SyncError('USAGE', 'the job id is empty', { hint: 'Name the job, or leave --job-id out.' });
  }
  const problem = jobIdProblem(jobId);
  if (problem !== null) {
    throw new SyncError('JOB_INVALID', problem, {
      place: JSON.stringify(jobId),
      hint: 'Name the job with characters that can be shown: --job-id, or setting.jobId.',
    });
  }
  const readable = encodeURIComponent(jobId).replace(/^\./, '%2E');
  if (readable.length <= 180) return readable;
  return `${readable.slice(-120).replace(/^%?[0-9A-F]?/, '')}-${createHash('sha256').update(jobId).digest('hex').slice(0, 24)}`;
}

/** Ids live in file names, SQL and Kafka ids: small letters and digits only. */
export function newRunId(): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
  return Array.from(randomBytes(12), (b) => alphabet[b & 31]).join('');
}

/** Prefix of run folders that are being removed. */
const REMOVED = '.removed-';

/** `job`: whose state it is, for `state list`. Where it has no format number, that is 1. */
export interface JobRecord {
  readonly format?: number;
  readonly jobId: string;
}

export interface CurrentRun {
  readonly run: RunStore;
  readonly number: number;
}

/** Jobs with a cursor have one run at a time. */
const CURSOR_RUN = 'default';

/** `cursor`: what is kept of a job whose runs were dropped. */
interface CursorRecord {
  readonly format: number;
  readonly cursor: JsonValue | null;
}

/** How long a run without a start is left alone (ms). */
const BEGINNING_MS = 3_600_000;

async function isOld(path: string): Promise<boolean> {
  const s = await stateIo(path, () => stat(path));
  return Date.now() - s.mtimeMs > BEGINNING_MS;
}

/** `<state root>/<job key>`: the state of all runs of one job. */
export class JobStore {
  readonly root: string;
  readonly dir: string;
  readonly jobId: string;
  readonly #points: Failpoints;
  /** Makes temporary names this start's own; a pid would not, on a folder that several hosts share. */
  readonly #unique = randomBytes(6).toString('hex');

  constructor(root: string, jobId: string, points: Failpoints) {
    this.root = root;
    this.jobId = jobId;
    this.dir = join(root, jobKey(jobId));
    this.#points = points;
  }

  get #runs(): string {
    return join(this.dir, 'runs');
  }

  async open(): Promise<void> {
    await stateIo(this.dir, async () => {
      await makeDirDurable(this.dir);
      if ((await readIfThere(join(this.dir, 'job'))) !== null) return;
      const record: JobRecord = { format: STATE_FORMAT, jobId: this.jobId };
      await createExclusive(this.dir, 'job', JSON.stringify(record), this.#unique);
    });
  }

  /** The state root's own random id; minted on first use. */
  async stateId(): Promise<string> {
    return stateIo(this.root, async () => {
      const id = await readIfThere(join(this.root, 'id'));
      if (id !== null) return id;
      await createExclusive(this.root, 'id', randomBytes(12).toString('hex'), this.#unique);
      return (await readIfThere(join(this.root, 'id'))) ?? '';
    });
  }

  run(runName: string, runId: string): RunStore {
    return new RunStore(this.#runs, runName, runId, this.#points);
  }

  /** The run that the next start would go on with, finished or not, and its number in the sequence of runs. */
  async current(runName: string): Promise<CurrentRun | null> {
    const number = (await this.#turns(runName)).at(-1);
    if (number === undefined) return null;
    const path = join(this.#runs, runName, `current-${String(number)}`);
    const id = ((await stateIo(path, () => readIfThere(path))) ?? '').trim();
    const ids = await this.runIds(runName);
    // The run exists before anything names it: where it does not, taking it for an empty one would lose the real one.
    if (!ids.includes(id)) {
      const known = ids.length > 0 ? ids.join(', ') : 'there is none';
      throw new SyncError('STATE_CORRUPT', `${JSON.stringify(id)} is not the id of a run`, {
        place: path,
        hint: `Restore the state folder from a backup. The file holds the name of one of the folders of runs beside it: ${known}.`,
      });
    }
    return { run: this.run(runName, id), number };
  }

  async #turns(runName: string): Promise<readonly number[]> {
    const numbers = (await list(join(this.#runs, runName))).map((n) => /^current-(\d+)$/.exec(n)?.[1]);
    return numbers
      .filter((n) => n !== undefined)
      .map(Number)
      .sort((a, b) => a - b);
  }

  /**
   * Makes a run the current one after the one that `after` names. Exclusive: of two starts that saw the same last run
   * only one may begin a new one.
   * @throws SyncError FENCED
   */
  async setCurrent(run: RunStore, after: CurrentRun | null): Promise<void> {
    const dir = join(this.#runs, run.runName);
    const name = `current-${String((after?.number ?? 0) + 1)}`;
    const mine = await stateIo(dir, () => createExclusive(dir, name, `${run.runId}\n`, run.runId));
    if (!mine) {
      throw new SyncError('FENCED', 'another process has begun a run of this job in the meantime', {
        place: join(dir, name),
        hint: 'Nothing was written. Run the job again.',
      });
    }
    for (const n of await this.#turns(run.runName)) {
      if (n < (after?.number ?? 0)) await stateIo(dir, () => unlinkIfThere(join(dir, `current-${String(n)}`)));
    }
  }

  /** Where the next run of a job with a cursor goes on; null: at the start. */
  async cursor(): Promise<JsonValue | null> {
    const current = await this.current(CURSOR_RUN);
    if (current) return (await current.run.cursor()) ?? null;
    const path = join(this.dir, 'cursor');
    const text = await stateIo(path, () => readIfThere(path));
    return text === null ? null : unsealed<CursorRecord>(text, path).cursor;
  }

  /** Drops everything but the cursor, which later runs go on from. A kill at any point leaves it where it is read. */
  async removeRuns(cursor: JsonValue): Promise<void> {
    // While there is a run the cursor is that run's, and an older file says nothing; without one the file is all there is.
    const isRun = (await this.current(CURSOR_RUN)) !== null;
    await stateIo(this.dir, async () => {
      if (isRun) {
        await unlinkIfThere(join(this.dir, 'cursor'));
        const record: CursorRecord = { format: STATE_FORMAT, cursor };
        await createExclusive(this.dir, 'cursor', sealed(record), this.#unique);
        // The name goes first: half of the runs would be a damaged state.
        await rename(this.#runs, join(this.dir, `${REMOVED}${newRunId()}`));
      }
      for (const name of await readdir(this.dir)) {
        if (name !== 'cursor' && name !== 'job') await rm(join(this.dir, name), { recursive: true, force: true });
      }
    });
  }

  async runNames(): Promise<readonly string[]> {
    return (await list(this.#runs)).filter((n) => !n.startsWith('.'));
  }

  async runIds(runName: string): Promise<readonly string[]> {
    return (await list(join(this.#runs, runName))).filter((n) => !n.startsWith('current-') && !n.startsWith('.'));
  }

  /**
   * Removes the oldest finished or swept runs beyond `keep`, and old runs that never had a start; others stay until
   * they are swept.
   */
  async pruneRuns(runName: string, keep: number): Promise<void> {
    const ended: { readonly run: RunStore; readonly at: number }[] = [];
    const current = await this.current(runName);
    for (const id of await this.runIds(runName)) {
      const run = this.run(runName, id);
      if (id === current?.run.runId) continue;
      if ((await run.attempts()).length === 0) {
        // A young one may belong to another process that is just beginning it.
        if (await isOld(run.dir)) await this.#removeRun(run);
      } else if ((await run.has('finished')) || (await run.has('abandoned'))) {
        // A damaged record of a run that is over is no reason to fail: it goes first.
        ended.push({
          run,
          at: await run.info().then(
            (i) => i.at,
            () => 0,
          ),
        });
      }
    }
    ended.sort((a, b) => b.at - a.at);
    for (const { run } of ended.slice(Math.max(0, keep - 1))) await this.#removeRun(run);
    const dir = join(this.#runs, runName);
    for (const name of await list(dir)) {
      if (name.startsWith(REMOVED)) await stateIo(dir, () => rm(join(dir, name), { recursive: true, force: true }));
    }
  }

  /** Removes all runs of the names that ended longest ago, beyond `keep` of them; this one's own stay. */
  async pruneNames(runName: string, keep: number): Promise<void> {
    const names = await list(this.#runs);
    // Most jobs have one.
    if (names.every((n) => n === runName)) return;
    const ended: { readonly name: string; readonly at: number }[] = [];
    for (const name of names.filter((n) => !n.startsWith('.'))) {
      const at = name === runName ? null : await this.#endedAt(name);
      if (at !== null) ended.push({ name, at });
    }
    ended.sort((a, b) => b.at - a.at);
    for (const { name } of ended.slice(Math.max(0, keep - 1))) {
      const gone = join(this.#runs, `${REMOVED}${newRunId()}`);
      await stateIo(this.#runs, () => rename(join(this.#runs, name), gone));
    }
    for (const name of await list(this.#runs)) {
      if (!name.startsWith(REMOVED)) continue;
      await stateIo(this.#runs, () => rm(join(this.#runs, name), { recursive: true, force: true }));
    }
  }

  /** When the newest run of a name began (ms), where all of them are over; else null. */
  async #endedAt(name: string): Promise<number | null> {
    let newest: number | null = null;
    for (const id of await this.runIds(name)) {
      const run = this.run(name, id);
      if (!(await run.has('finished')) && !(await run.has('abandoned'))) return null;
      const at = await run.info().then(
        (i) => i.at,
        () => 0,
      );
      newest = Math.max(newest ?? 0, at);
    }
    return newest;
  }

  /** The name goes first, so that a process that dies in between leaves no half of a run behind. */
  async #removeRun(run: RunStore): Promise<void> {
    await stateIo(run.dir, () => rename(run.dir, join(run.dir, '..', `${REMOVED}${run.runId}`)));
  }

  async remove(): Promise<void> {
    await stateIo(this.dir, () => rm(this.dir, { recursive: true, force: true }));
  }
}

async function list(dir: string): Promise<readonly string[]> {
  return stateIo(dir, async () => {
    try {
      return (await readdir(dir)).sort();
    } catch (e) {
      if (hasCode(e, 'ENOENT')) return [];
      throw e;
    }
  });
}
