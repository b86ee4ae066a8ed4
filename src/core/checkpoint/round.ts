/**
 * A job with several content entries is one round over them: after a failure the next start goes on with the entries
 * that are not done, and does not run the finished ones again. The round is open from its first start until all are done;
 * a run that is noted finished is so in a round, so there is no moment in which it is over and the round does not know it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createExclusive, readIfThere, unlinkIfThere } from '../../durable/files.js';
import { newRunId, type JobStore } from './job-store.js';
import { sealed, STATE_FORMAT, unsealed } from './format.js';
import { stateIo } from './run-store.js';

interface RoundRecord {
  readonly format: number;
  readonly id: string;
}

/** One entry of the job: its store and the name of its run. */
export interface RoundPart {
  readonly jobs: JobStore;
  readonly runName: string;
}

/** The round of one job and one set of run names. */
export class Round {
  readonly #jobs: JobStore;
  readonly #parts: readonly RoundPart[];
  readonly #name: string;

  /** `parts[0]` holds the record. */
  constructor(first: RoundPart, others: readonly RoundPart[]) {
    this.#jobs = first.jobs;
    this.#parts = [first, ...others];
    const names = this.#parts.map((p) => p.runName);
    this.#name = `round-${createHash('sha256').update(JSON.stringify(names)).digest('hex').slice(0, 16)}`;
  }

  get #path(): string {
    return join(this.#jobs.dir, this.#name);
  }

  async #id(): Promise<string | null> {
    const text = await stateIo(this.#path, () => readIfThere(this.#path));
    return text === null ? null : unsealed<RoundRecord>(text, this.#path).id;
  }

  /** The open round, or a new one; `fresh`: a new one in any case. @returns its id and which entries are done in it. */
  async open(fresh: boolean): Promise<{ readonly id: string; readonly done: readonly boolean[] }> {
    await this.#jobs.open();
    const id = fresh ? null : await this.#id();
    if (id !== null) {
      const done = await Promise.all(this.#parts.map((p) => isDone(p, id)));
      if (!done.every((d) => d)) return { id, done };
    }
    await this.close();
    await stateIo(this.#path, () =>
      createExclusive(
        this.#jobs.dir,
        this.#name,
        sealed({ format: STATE_FORMAT, id: newRunId() } satisfies RoundRecord),
        randomBytes(6).toString('hex'),
      ),
    );
    // Of two starts at once both go on with the one that was created: the entries' own locks keep them apart.
    return { id: (await this.#id()) ?? '', done: this.#parts.map(() => false) };
  }

  /** Which entries an open round would not run again. Changes nothing. */
  async look(): Promise<readonly boolean[]> {
    const id = await this.#id();
    const done = id === null ? [] : await Promise.all(this.#parts.map((p) => isDone(p, id)));
    return done.every((d) => d) ? this.#parts.map(() => false) : done;
  }

  async close(): Promise<void> {
    await stateIo(this.#path, () => unlinkIfThere(this.#path));
  }
}

async function isDone({ jobs, runName }: RoundPart, round: string): Promise<boolean> {
  const current = await jobs.current(runName);
  return current !== null && (await current.run.finishedIn(round));
}
