import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SyncError } from 'syncx/plugin-api';
import { createExclusive, listNames, makeDir, readJson } from './durable.js';

/** A piece of a committed epoch: which file of rows it made visible. */
export interface CommittedPiece {
  readonly epoch: number;
  readonly file: string;
  readonly rows: number;
  /** Number of the lane's rows in the run before this piece; -1: not counted. */
  readonly first: number;
}

/** The newest entry of a lane's log is its marker: who may commit, and up to where it has committed. */
export interface LogEntry {
  readonly format: 1;
  /** Only this start of the run may append commits. */
  readonly attempt: number;
  /** Highest committed epoch of the lane. */
  readonly epoch: number;
  readonly commit: CommittedPiece | null;
}

const SEQ_DIGITS = 8;
const lane = (runId: string, n: number): string => `${runId}.${String(n)}`;

/**
 * The target: a folder outside the engine's reach. Layout:
 * - `data/<runId>.<attempt>.<lane>.<n>.ndjson`: rows; they count only once a log entry names the file;
 * - `log/<runId>.<lane>/<seq>.json`: the lane's log. An entry is appended by creating the next number exclusively, so
 *   of two processes that append at once one fails, reads again and sees whether it was fenced. This stands for the
 *   conditional update of a marker row in a database;
 * - `runs/<runId>.begun`, `runs/<runId>.complete`; `once/…`: what happened already; `lost/<file>`: rows that were lost;
 *   `late/<file>`: how a late commit ended.
 */
export class Store {
  readonly path: string;
  readonly data: string;
  readonly runs: string;
  readonly once: string;
  readonly lost: string;
  readonly late: string;
  readonly #log: string;
  /** By path: an entry never changes. */
  readonly #entries = new Map<string, LogEntry>();

  constructor(path: string) {
    this.path = path;
    this.data = join(path, 'data');
    this.runs = join(path, 'runs');
    this.once = join(path, 'once');
    this.lost = join(path, 'lost');
    this.late = join(path, 'late');
    this.#log = join(path, 'log');
  }

  async make(): Promise<void> {
    for (const dir of [this.data, this.runs, this.once, this.lost, this.#log]) await makeDir(dir);
  }

  logDir(runId: string, n: number): string {
    return join(this.#log, lane(runId, n));
  }

  /** `<runId>.<lane>` of every log there is. */
  async logs(): Promise<readonly { readonly runId: string; readonly lane: number }[]> {
    return (await listNames(this.#log)).map((name) => {
      const dot = name.lastIndexOf('.');
      return { runId: name.slice(0, dot), lane: Number(name.slice(dot + 1)) };
    });
  }

  async entries(runId: string, n: number): Promise<readonly LogEntry[]> {
    const dir = this.logDir(runId, n);
    const names = await listNames(dir);
    return Promise.all(names.map((name) => this.#entry(join(dir, name))));
  }

  async #entry(path: string): Promise<LogEntry> {
    const entry = this.#entries.get(path) ?? ((await readJson(path)) as LogEntry);
    this.#entries.set(path, entry);
    return entry;
  }

  /**
   * Appends what `decide` makes of the newest entry (null: the log is empty); null: append nothing.
   * `decide` is asked again each time that another process was faster.
   */
  async append(runId: string, n: number, decide: (newest: LogEntry | null) => LogEntry | null): Promise<void> {
    const dir = this.logDir(runId, n);
    await makeDir(dir);
    for (;;) {
      const last = (await listNames(dir)).at(-1);
      const newest = last === undefined ? null : await this.#entry(join(dir, last));
      const next = decide(newest);
      if (!next) return;
      const seq = last === undefined ? 1 : Number.parseInt(last, 10) + 1;
      if (await createExclusive(dir, `${String(seq).padStart(SEQ_DIGITS, '0')}.json`, JSON.stringify(next))) return;
    }
  }

  /** From here on older starts of the run cannot commit in this lane. @throws SyncError FENCED if we are the older one. */
  async fence(runId: string, n: number, attempt: number): Promise<void> {
    await this.append(runId, n, (newest) => {
      if (newest && newest.attempt > attempt) throw fenced(runId, n, attempt, newest.attempt);
      if (newest?.attempt === attempt) return null;
      return { format: 1, attempt, epoch: newest?.epoch ?? 0, commit: null };
    });
  }

  /** Makes a prepared file visible; once only. @throws SyncError FENCED after a newer start's fence. */
  async commit(runId: string, n: number, attempt: number, piece: CommittedPiece): Promise<void> {
    const done = (await this.entries(runId, n)).some((e) => e.commit?.file === piece.file);
    if (done) return;
    await this.append(runId, n, (newest) => {
      if (newest && newest.attempt > attempt) throw fenced(runId, n, attempt, newest.attempt);
      if (newest && newest.epoch >= piece.epoch) {
        if (newest.commit?.file === piece.file) return null;
        throw new SyncError(
          'INTERNAL',
          `epoch ${String(piece.epoch)} of lane ${String(n)} is committed twice with other rows`,
        );
      }
      return { format: 1, attempt, epoch: piece.epoch, commit: piece };
    });
  }

  /** Files of rows of these runs' lanes that a log entry names. */
  async visibleFiles(runId: string): Promise<ReadonlySet<string>> {
    const files = new Set<string>();
    for (const log of await this.logs()) {
      if (log.runId !== runId) continue;
      for (const e of await this.entries(runId, log.lane)) if (e.commit) files.add(e.commit.file);
    }
    return files;
  }

  async note(runId: string, what: 'begun' | 'complete'): Promise<void> {
    await createExclusive(this.runs, `${runId}.${what}`, '');
  }

  async noted(runId: string, what: 'begun' | 'complete'): Promise<boolean> {
    return (await listNames(this.runs)).includes(`${runId}.${what}`);
  }

  /** How a commit ended whose caller had given up. */
  async noteLate(file: string, how: string): Promise<void> {
    await makeDir(this.late);
    await createExclusive(this.late, file, how);
  }

  /** Size in bytes of a file of rows; null where it is gone. */
  async sizeOf(file: string): Promise<number | null> {
    return stat(join(this.data, file)).then(
      (s) => s.size,
      () => null,
    );
  }
}

function fenced(runId: string, n: number, mine: number, newer: number): SyncError {
  return new SyncError(
    'FENCED',
    `start ${String(newer)} of run ${runId} has taken over lane ${String(n)} from start ${String(mine)}`,
    { place: lane(runId, n), hint: 'Nothing to do: the newer start goes on with the job.' },
  );
}
