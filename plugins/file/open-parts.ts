import type { JsonObject, JsonValue, Unfinished } from 'syncx/plugin-api';
import { keptState, type KeptFile, type OpenStaged, type StagedLane } from 'syncx/plugin-kit';
import { sameColumns } from './columns.js';
import { BUFFER_BYTES, BufferPool, BufferedOutput, type PartOutput } from './part-file.js';
import { isDue, type FileAge, type Rolling } from './rolling.js';

export interface PartOptions {
  readonly compress: 'none' | 'gzip' | 'zstd';
  readonly rolling: Rolling;
  /** Most files that a lane has open at once. */
  readonly maxOpen: number;
  /** True: rows of other columns may share a file. */
  readonly selfDescribing: boolean;
  /** All that decides how rows become bytes. A start goes on with an open file only where it is the same. */
  readonly layout: string;
}

/** A part file that takes rows. */
export interface Part {
  readonly staged: OpenStaged;
  readonly output: PartOutput;
  readonly names: readonly string[];
  rows: number;
  firstRow: number;
  lastRow: number;
  /** When it was last asked for, by the lane's own count. */
  used: number;
  /** Bytes of it that a `WriteResult` has told. */
  told: number;
}

/** What the state of the lane says of an open file beside its length. */
interface Note extends FileAge {
  readonly layout: string;
  readonly names: readonly string[];
}

function noteOf(v: JsonValue): Note | null {
  const n = (typeof v === 'object' ? v : null) as JsonObject | null;
  const { layout, names, firstRow, lastRow } = n ?? {};
  const ok = typeof layout === 'string' && Array.isArray(names) && typeof firstRow === 'number';
  if (!ok || typeof lastRow !== 'number') return null;
  return { layout, names: names.map(String), firstRow, lastRow };
}

/** The files of a lane that take rows, one a bucket, and what becomes of them at a checkpoint. */
export class OpenParts {
  readonly #options: PartOptions;
  readonly #files: StagedLane;
  readonly #now: () => number;
  readonly #pool: BufferPool;
  readonly #parts = new Map<string, Part>();
  #uses = 0;
  /** Bytes of closed parts that no `WriteResult` has told. */
  #bytes = 0;

  constructor(options: PartOptions, files: StagedLane, now: () => number) {
    this.#options = options;
    this.#files = files;
    this.#now = now;
    // A part is looked at when a buffer is full: one that is larger than a part may become would be late.
    const most = options.maxOpen > 1 ? BUFFER_BYTES >> 3 : BUFFER_BYTES;
    this.#pool = new BufferPool(Math.min(most, options.rolling.maxFileSize));
  }

  get #keeps(): boolean {
    return this.#options.compress === 'none' && !this.#options.rolling.onCheckpoint;
  }

  /** Takes over files of an earlier start. Those that cannot be gone on with are finished with the next epoch. */
  async adopt(files: readonly KeptFile[]): Promise<void> {
    for (const f of files) {
      const staged = await this.#files.adopt(f);
      const note = noteOf(f.note);
      const goesOn =
        this.#keeps &&
        note?.layout === this.#options.layout &&
        !this.#parts.has(f.bucket) &&
        this.#parts.size < this.#options.maxOpen;
      if (!goesOn) {
        await this.#files.close(staged, f.size, f.rows);
        continue;
      }
      const output = new BufferedOutput(staged.sink, this.#pool, f.size);
      const { names, firstRow, lastRow } = note;
      this.#parts.set(f.bucket, { staged, output, names, rows: f.rows, firstRow, lastRow, used: 0, told: f.size });
    }
  }

  /** The columns of a file that was taken over; null: none was. */
  get names(): readonly string[] | null {
    for (const p of this.#parts.values()) return p.names;
    return null;
  }

  /** The file that the next row of the bucket goes into. */
  async at(bucket: string, names: readonly string[], header: Uint8Array | null): Promise<Part> {
    const open = this.#parts.get(bucket);
    if (open !== undefined) {
      open.used = ++this.#uses;
      // One header cannot speak for rows of other columns.
      if (this.#options.selfDescribing || sameColumns(open.names, names)) return open;
      await this.#close(bucket, open);
    }
    if (this.#parts.size >= this.#options.maxOpen) await this.#closeOldest();
    const staged = await this.#files.open(bucket);
    const now = this.#now();
    const output = await this.#outputTo(staged);
    const part = { staged, output, names, rows: 0, firstRow: now, lastRow: now, used: ++this.#uses, told: 0 };
    this.#parts.set(bucket, part);
    if (header) output.buffer.append(header);
    return part;
  }

  /** Compressors take their time to load: only those who compress wait for them. */
  async #outputTo(staged: OpenStaged): Promise<PartOutput> {
    if (this.#options.compress === 'none') return new BufferedOutput(staged.sink, this.#pool);
    if (this.#options.compress === 'gzip') {
      const { GzipOutput } = await import('./gzip-output.js');
      return new GzipOutput(staged.sink, this.#pool);
    }
    // One frame a buffer: decompressors take them as one file.
    const { compress } = await import('@mongodb-js/zstd');
    return new BufferedOutput(staged.sink, this.#pool, 0, compress);
  }

  /** Rows were appended to the part's buffer. */
  async wrote(bucket: string, part: Part, rows: number): Promise<void> {
    part.rows += rows;
    part.lastRow = this.#now();
    const { maxFileSize } = this.#options.rolling;
    if (!part.output.buffer.full && part.output.size + part.output.buffer.length < maxFileSize) return;
    await part.output.flush();
    if (part.output.size >= maxFileSize) await this.#close(bucket, part);
  }

  async #closeOldest(): Promise<void> {
    let oldest: readonly [string, Part] | null = null;
    for (const entry of this.#parts) if (oldest === null || entry[1].used < oldest[1].used) oldest = entry;
    if (oldest !== null) await this.#close(...oldest);
  }

  /** Closes the files whose time has come. */
  async rollDue(): Promise<void> {
    const now = this.#now();
    for (const [bucket, p] of this.#parts) {
      if (isDue(this.#options.rolling, p, now)) await this.#close(bucket, p);
    }
  }

  async #close(bucket: string, part: Part): Promise<void> {
    await part.output.end();
    this.#parts.delete(bucket);
    this.#bytes += part.output.size - part.told;
    // All its rows may have been refused.
    if (part.rows === 0) await this.#files.drop(part.staged);
    else await this.#files.close(part.staged, part.output.size, part.rows);
  }

  /** Makes all durable: closed where `last` or where it is time, else left open. @returns the state of the lane. */
  async settle(last: boolean): Promise<JsonValue | null> {
    const now = this.#now();
    const kept: KeptFile[] = [];
    for (const [bucket, p] of this.#parts) {
      if (last || !this.#keeps || p.rows === 0 || isDue(this.#options.rolling, p, now)) await this.#close(bucket, p);
      else kept.push(await this.#keep(p));
    }
    return keptState(kept);
  }

  async #keep(p: Part): Promise<KeptFile> {
    await p.output.end();
    const { layout } = this.#options;
    const { names, firstRow, lastRow } = p;
    return this.#files.keep(p.staged, p.output.size, p.rows, { layout, names, firstRow, lastRow });
  }

  unfinished(): Unfinished {
    if (this.#files.anyClosed) return 'now';
    const open = [...this.#parts.values()].filter((p) => p.rows > 0);
    const now = this.#now();
    if (open.some((p) => isDue(this.#options.rolling, p, now))) return 'now';
    return open.length > 0 ? 'later' : 'none';
  }

  /** Bytes since the last call. */
  takeBytes(): number {
    let bytes = this.#bytes;
    this.#bytes = 0;
    for (const p of this.#parts.values()) {
      bytes += p.output.size - p.told;
      p.told = p.output.size;
    }
    return bytes;
  }

  /** Nothing is under way any more; the files are left to whoever removes them. */
  async forget(): Promise<void> {
    const parts = [...this.#parts.values()];
    this.#parts.clear();
    this.#bytes = 0;
    for (const p of parts) await p.output.end().catch(() => undefined);
  }
}
