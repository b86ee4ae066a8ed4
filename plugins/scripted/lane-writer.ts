import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  SyncError,
  type Committable,
  type JsonValue,
  type LaneContext,
  type LaneWriter,
  type Prepared,
  type RejectedRow,
  type RowBatch,
  type SchemaChange,
  type WriteResult,
} from 'syncx/plugin-api';
import { hasCode, removeIfThere, syncDir } from './durable.js';
import { meant, type Faults } from './faults.js';
import { leaked } from './leak.js';
import { rejectedJson, storedRows } from './row-json.js';
import type { WriterOptions } from './options.js';
import type { CommittedPiece, Store } from './store.js';
import { fileExists } from './wait.js';

/** What a committable says; enough for any process to commit it. */
export interface Piece extends CommittedPiece {
  readonly format: 1;
  readonly runId: string;
  readonly attempt: number;
  readonly lane: number;
  readonly size: number;
}

const committableOf = (p: Piece): Committable => ({ data: { ...p }, place: p.file, rows: p.rows });

/** A lane's state: the rows it has written in the run. `kept` holds those of lanes that there are no more. */
export interface LaneState {
  readonly format: 1;
  readonly rows: number;
  readonly kept: Readonly<Record<string, number>>;
}

interface OpenFile {
  readonly name: string;
  readonly handle: FileHandle;
  rows: number;
  size: number;
}

export class ScriptedLaneWriter implements LaneWriter {
  readonly #options: WriterOptions;
  readonly #store: Store;
  readonly #faults: Faults;
  readonly #lane: LaneContext;
  readonly #reject: ReadonlySet<string>;
  readonly #kept: LaneState['kept'];
  #rows: number;
  #files = 0;
  #file: OpenFile | null = null;
  /** Prepared, not committed; null: an epoch without rows. */
  readonly #prepared = new Map<number, Piece | null>();
  #lastEpoch = 0;
  #rejected: RejectedRow[] = [];
  #bytes = 0;

  constructor(options: WriterOptions, store: Store, faults: Faults, lane: LaneContext, restored: LaneState | null) {
    this.#options = options;
    this.#store = store;
    this.#faults = faults;
    this.#lane = lane;
    this.#reject = new Set(options.reject);
    this.#rows = restored?.rows ?? 0;
    this.#kept = restored?.kept ?? {};
  }

  write(batch: RowBatch, signal: AbortSignal): Promise<WriteResult> {
    return this.#faults.around('write', { lane: this.#lane.lane }, signal, async () => {
      if (this.#prepared.size > 0 && !this.#options.pipelined) {
        throw new SyncError(
          'INTERNAL',
          'write was called between prepare and commit of a writer that is not pipelined',
        );
      }
      if (this.#options.writeDelay > 0) await sleep(this.#options.writeDelay, undefined, { signal });
      await this.#append(batch);
      return this.#told(this.#options.rejectAt === 'write');
    });
  }

  schema(_change: SchemaChange): Promise<void> {
    if (this.#file || this.#prepared.size > 0) {
      return Promise.reject(new SyncError('INTERNAL', 'schema was called with an epoch open'));
    }
    return Promise.resolve();
  }

  prepare(epoch: number): Promise<Prepared> {
    return this.#faults.around('prepare', this.#at(epoch), this.#lane.signal, async () => {
      if (epoch <= this.#lastEpoch) {
        throw new SyncError('INTERNAL', `prepare(${String(epoch)}) came after epoch ${String(this.#lastEpoch)}`);
      }
      const piece = await this.#seal(epoch);
      this.#lastEpoch = epoch;
      this.#prepared.set(epoch, piece);
      this.#rows += piece?.rows ?? 0;
      if (piece && this.#options.delivery === 'at-least-once') {
        await this.#store.commit(piece.runId, piece.lane, piece.attempt, { ...piece, first: -1 });
      }
      this.#lane.failpoint('scripted.prepared');
      const state: LaneState = { format: 1, rows: this.#rows, kept: this.#kept };
      const committables = piece && this.#options.delivery === 'exactly-once' ? [committableOf(piece)] : [];
      return { ...this.#told(true), committables, state: state as unknown as JsonValue };
    });
  }

  commit(epoch: number): Promise<void> {
    return this.#faults.around('commit', this.#at(epoch), this.#lane.signal, async () => {
      const piece = this.#prepared.get(epoch);
      if (piece === undefined) {
        if (epoch <= this.#lastEpoch) return;
        throw new SyncError('INTERNAL', `commit(${String(epoch)}) came without prepare`);
      }
      if (piece && this.#options.delivery === 'exactly-once') {
        this.#breakLate(piece);
        await this.#store.commit(piece.runId, piece.lane, this.#lane.run.attempt, pieceOf(piece));
      }
      this.#prepared.delete(epoch);
      this.#lane.failpoint('scripted.committed');
    });
  }

  abort(epoch: number): Promise<void> {
    return this.#faults.around('abort', this.#at(epoch), this.#lane.signal, async () => {
      await this.#dropFile();
      const piece = this.#prepared.get(epoch);
      this.#prepared.delete(epoch);
      if (!piece) return;
      await removeIfThere(join(this.#store.data, piece.file));
      this.#rows -= piece.rows;
    });
  }

  /** Prepared files stay: a durable checkpoint may name them. What was never prepared can go. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dropFile();
  }

  #at(epoch: number): { lane: number; epoch: number } {
    return { lane: this.#lane.lane, epoch };
  }

  #told(withRejected: boolean): WriteResult {
    const rejected = withRejected && this.#rejected.length > 0 ? this.#rejected : null;
    const bytes = this.#bytes;
    if (rejected) this.#rejected = [];
    this.#bytes = 0;
    return { rejected, bytes };
  }

  async #append(batch: RowBatch): Promise<void> {
    const { rejectColumn } = this.#options;
    const lines: string[] = [];
    for (const row of storedRows(batch)) {
      const value = row.cells[rejectColumn];
      if (typeof value === 'string' && this.#reject.has(value)) {
        const reason = `the script rejects ${rejectColumn} ${value}${leaked(this.#options)}`;
        this.#rejected.push({ row: rejectedJson(row), column: rejectColumn, code: 'ROW_INVALID', reason, place: null });
      } else lines.push(JSON.stringify(row) + '\n');
    }
    if (lines.length === 0) return;
    const file = (this.#file ??= await this.#openFile());
    const bytes = Buffer.from(lines.join(''));
    await file.handle.appendFile(bytes);
    file.rows += lines.length;
    file.size += bytes.length;
    this.#bytes += bytes.length;
  }

  async #openFile(): Promise<OpenFile> {
    const { run, lane } = this.#lane;
    const name = `${run.runId}.${String(run.attempt)}.${String(lane)}.${String(++this.#files)}.ndjson`;
    try {
      return { name, handle: await open(join(this.#store.data, name), 'wx'), rows: 0, size: 0 };
    } catch (e) {
      if (!hasCode(e, 'EEXIST')) throw e;
      throw new SyncError('FENCED', `another writer of the same start made ${name}`, { place: name, cause: e });
    }
  }

  async #seal(epoch: number): Promise<Piece | null> {
    const file = this.#file;
    if (!file) return null;
    await file.handle.sync();
    await file.handle.close();
    this.#file = null;
    await syncDir(this.#store.data);
    const { run, lane } = this.#lane;
    const first = this.#rows;
    const { runId, attempt } = run;
    return { format: 1, runId, attempt, lane, epoch, file: file.name, rows: file.rows, size: file.size, first };
  }

  async #dropFile(): Promise<void> {
    const file = this.#file;
    if (!file) return;
    this.#file = null;
    await file.handle.close();
    await removeIfThere(join(this.#store.data, file.name));
  }

  /** The connection breaks while the commit is under way: the caller sees an error, the commit lands later, or is fenced. */
  #breakLate(piece: Piece): void {
    const late = this.#options.late.find((l) => meant(l, piece));
    if (!late) return;
    const { attempt } = this.#lane.run;
    void fileExists(late.until, undefined, false)
      .then(() => this.#store.commit(piece.runId, piece.lane, attempt, pieceOf(piece)))
      .then(() => this.#store.noteLate(piece.file, 'landed'))
      .catch((e: unknown) => this.#store.noteLate(piece.file, String(e)));
    throw new SyncError('SINK_IO', `the connection broke in the commit of epoch ${String(piece.epoch)}`, {
      blame: 'sink',
    });
  }
}

export function pieceOf({ epoch, file, rows, first }: Piece): CommittedPiece {
  return { epoch, file, rows, first };
}
