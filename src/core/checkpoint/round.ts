/**
 * A job with several content entries is one round over them: after a failure the next start goes on with the entries
 * that are not done, and does not run the finished ones again. The round is open from its first start until all are done;
 * a run that is noted finished is so in a round, so there is no moment in which it is over and the round does not know it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createExclusive, readIfThere, unlinkIfThere } from '../../durable/files.js';
import { newRunId, type JobStore } from './job-store.js';
import { SyncError } from '../../plugin-api/index.js';
import { sealed, STATE_FORMAT, unsealed, type RunInfo } from './format.js';
import { assertNotLocked } from './job-lock.js';
import { stateIo, type RunStore } from './run-store.js';

interface RoundRecord {
  readonly format: number;
  readonly id: string;
}

/** One entry of the job: its store and the name of its run. */
export interface RoundPart {
  readonly jobs: JobStore;
  readonly runName: string;
  /** What of the entry is not as it was in that run, by option. */
  readonly differences: (run: RunInfo) => Promise<readonly string[]>;
}

/** The round of one job and one set of run names: a job that gets a further entry goes on with its open round. */
export class Round {
  readonly #jobs: JobStore;
  readonly #parts: readonly RoundPart[];
  readonly #name: string;

  /** `parts[0]` holds the record. */
  constructor(first: RoundPart, others: readonly RoundPart[]) {
    this.#jobs = first.jobs;
    this.#parts = [first, ...others];
    const names = [...new Set(this.#parts.map((p) => p.runName))].sort();
    this.#name = `round-${createHash('sha256').update(JSON.stringify(names)).digest('hex').slice(0, 16)}`;
  }

  get #path(): string {
    return join(this.#jobs.dir, this.#name);
  }

  async #id(): Promise<string | null> {
    const text = await stateIo(this.#path, () => readIfThere(this.#path));
    return text === null ? null : unsealed<RoundRecord>(text, this.#path).id;
  }

  /**
   * The open round, or a new one; `fresh`: a new one in any case.
   * @returns its id and which entries are done in it.
   * @throws SyncError STATE_MISFIT where an entry that is done is another one now; STATE_LOCKED where `fresh` and it runs.
   */
  async open(fresh: boolean): Promise<{ readonly id: string; readonly done: readonly boolean[] }> {
    await this.#jobs.open();
    // A start that will be refused must not end the round of the one that runs: its finished entries would run again.
    if (fresh) for (const { jobs } of this.#parts) await assertNotLocked(jobs.dir, jobs.jobId);
    const id = fresh ? null : await this.#id();
    if (id !== null) {
      const done = await this.#done(id);
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

  /** Which entries an open round would not run again. Changes nothing. @throws SyncError STATE_MISFIT as `open`. */
  async look(): Promise<readonly boolean[]> {
    const id = await this.#id();
    const done = id === null ? [] : await this.#done(id);
    return done.every((d) => d) ? this.#parts.map(() => false) : done;
  }

  /** Entries are known by their place: one that was moved to the place of a done one would never run. */
  async #done(id: string): Promise<readonly boolean[]> {
    const runs = await Promise.all(this.#parts.map((p) => currentIn(p, id)));
    if (runs.every((r) => r !== null)) return runs.map(() => true);
    for (const [i, part] of this.#parts.entries()) {
      const run = runs[i];
      const changed = run ? await part.differences(await run.info()) : [];
      if (!run || changed.length === 0) continue;
      throw new SyncError(
        'STATE_MISFIT',
        `entry ${String(i + 1)} of content is done and others are not, but it has changed since: ${changed.join(', ')}`,
        {
          place: run.dir,
          hint: 'Put the entries back as they were to finish the others, or start all of them anew with --fresh.',
        },
      );
    }
    return runs.map((r) => r !== null);
  }

  async close(): Promise<void> {
    await stateIo(this.#path, () => unlinkIfThere(this.#path));
  }
}

async function currentIn({ jobs, runName }: RoundPart, round: string): Promise<RunStore | null> {
  const current = await jobs.current(runName);
  return current !== null && (await current.run.finishedIn(round)) ? current.run : null;
}
