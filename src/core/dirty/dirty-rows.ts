/**
 * The dirty rows of one lane: a file of JSON lines an epoch, staged under a hidden name, published when the epoch is
 * committed, removed when it is lost. One line: row, column, code, reason, place, lane; the file's name ends in the epoch.
 */
import { open, readdir, rename, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode, makeDirDurable, publishNoReplace, syncDir, unlinkIfThere } from '../../durable/files.js';
import { SyncError, toSyncError, type RejectedRow, type RunIdentity } from '../../plugin-api/index.js';
import type { DirtyFile } from '../checkpoint/format.js';
import type { Redact } from '../../job/redact.js';
import type { DirtyLimit } from '../limits/dirty-limit.js';

const FLUSH_CHARS = 1 << 20;

export class DirtyRows {
  readonly #dir: string;
  readonly #run: RunIdentity;
  readonly #lane: number;
  readonly #limit: DirtyLimit;
  readonly #redact: Redact;
  #lines: string[] = [];
  #chars = 0;
  #rows = 0;
  #size = 0;
  #file: { readonly handle: FileHandle; readonly path: string } | null = null;
  #writing: Promise<void> = Promise.resolve();
  #prepared: DirtyFile | null = null;
  #count = 0;

  /** `redact` is for what plugins say of a row; the row itself stays as it is. */
  constructor(dir: string, run: RunIdentity, lane: number, limit: DirtyLimit, redact: Redact) {
    this.#redact = redact;
    this.#dir = dir;
    this.#run = run;
    this.#lane = lane;
    this.#limit = limit;
  }

  /** @throws SyncError DIRTY_LIMIT; the rows are kept before it is thrown. */
  add(rows: readonly RejectedRow[]): void {
    for (const r of rows) {
      const line = JSON.stringify({ ...r, reason: this.#redact(r.reason), lane: this.#lane });
      this.#lines.push(line);
      this.#chars += line.length;
      this.#rows++;
    }
    this.#limit.add(rows.length);
    if (this.#chars >= FLUSH_CHARS) {
      this.#writing = this.#writing.then(() => this.#flush());
      this.#writing.catch(() => undefined); // told at prepare
    }
  }

  #flush(): Promise<void> {
    return dirtyIo(this.#dir, () => this.#write());
  }

  async #write(): Promise<void> {
    if (this.#lines.length === 0) return;
    const text = `${this.#lines.join('\n')}\n`;
    this.#lines = [];
    this.#chars = 0;
    if (!this.#file) {
      await makeDirDurable(this.#dir);
      const { runId, attempt } = this.#run;
      const path = join(
        this.#dir,
        `.dirty-${runId}-a${String(attempt)}-${String(this.#lane)}-${String(++this.#count)}.pending`,
      );
      this.#file = { handle: await open(path, 'wx'), path };
    }
    const data = Buffer.from(text);
    await this.#file.handle.appendFile(data);
    this.#size += data.length;
  }

  /** The epoch's rows, durable and hidden; null: none. */
  async prepare(epoch: number): Promise<DirtyFile | null> {
    await this.#writing;
    await this.#flush();
    const f = this.#file;
    if (!f) return null;
    await dirtyIo(this.#dir, async () => {
      await f.handle.sync();
      await f.handle.close();
      await syncDir(this.#dir);
    });
    const target = join(this.#dir, `dirty-${this.#run.runId}-${String(this.#lane)}-${String(epoch)}.jsonl`);
    this.#prepared = { staged: f.path, target, size: this.#size, rows: this.#rows };
    this.#file = null;
    this.#size = 0;
    this.#rows = 0;
    return this.#prepared;
  }

  async commit(_epoch: number): Promise<void> {
    if (this.#prepared) await publishDirty(this.#prepared);
    this.#prepared = null;
  }

  /**
   * Ends the lane. `drop`: the epoch is undone, its rows go. `keep`: they stay, in a file marked not committed.
   * `leave`: what is prepared belongs to recovery.
   */
  async close(how: 'drop' | 'keep' | 'leave'): Promise<void> {
    await this.#writing.catch(() => undefined);
    const prepared = this.#prepared?.staged ?? null;
    if (how === 'keep' && prepared === null) await this.#flush();
    const open = this.#file;
    if (open) {
      if (how === 'keep') await open.handle.sync();
      await open.handle.close();
    }
    this.#file = null;
    this.#prepared = null;
    const staged = prepared ?? open?.path ?? null;
    if (how === 'keep' && staged !== null) {
      const { runId, attempt } = this.#run;
      const name = `dirty-${runId}-a${String(attempt)}-${String(this.#lane)}.not-committed.jsonl`;
      await rename(staged, join(this.#dir, name));
      await syncDir(this.#dir);
    }
    // A pipelined writer may have both: rows of the prepared epoch, and of the one after it, which is undone anyhow.
    if (open) await unlinkIfThere(open.path);
    if (how === 'drop' && prepared !== null) await unlinkIfThere(prepared);
  }
}

/** The folder of dirty rows is neither the target nor the state: an error of it says so. */
async function dirtyIo<T>(path: string, f: () => Promise<T>): Promise<T> {
  try {
    return await f();
  } catch (e) {
    const s = toSyncError(e, 'DIRTY_IO');
    if (s.code !== 'DIRTY_IO' && s.code !== 'SINK_FULL') throw s;
    throw new SyncError('DIRTY_IO', `dirty rows cannot be kept: ${s.message}`, {
      place: path,
      cause: e,
      retry: s.retry,
      hint: 'Mend the folder of dirty rows (setting.dirty.path; by default it is in the state folder) and run the job again.',
    });
  }
}

/** Removes the staged rows of a run's earlier starts: what no checkpoint names was never committed. */
export async function sweepDirty(dir: string, runId: string, before: number): Promise<void> {
  const shape = new RegExp(`^\\.dirty-${runId}-a(\\d+)-.*\\.pending$`);
  let names: readonly string[] = [];
  try {
    names = await readdir(dir);
  } catch (e) {
    if (!hasCode(e, 'ENOENT')) throw e;
  }
  for (const name of names) {
    const attempt = Number(shape.exec(name)?.[1] ?? Number.NaN);
    if (attempt < before) await unlinkIfThere(join(dir, name));
  }
}

/** Publishes a prepared file. Idempotent. @throws SyncError SINK_CONFLICT where it is in neither place. */
export async function publishDirty(f: DirtyFile): Promise<void> {
  const r = await dirtyIo(f.target, () => publishNoReplace(f.staged, f.target, f.size));
  if (r === 'missing' || r === 'conflict') {
    throw new SyncError('SINK_CONFLICT', `${String(f.rows)} dirty rows are neither staged nor published`, {
      place: f.target,
      hint: 'Something else works in the folder of dirty rows (setting.dirty.path). The counts hold; the rows are gone.',
    });
  }
  await syncDir(join(f.target, '..'));
  await unlinkIfThere(f.staged);
}

/** Removes the staged rows of a lost epoch. */
export async function dropDirty(f: DirtyFile): Promise<void> {
  await unlinkIfThere(f.staged);
}
