import { SyncError } from './errors.js';
import type { Position } from './position.js';
import type { RowSchema } from './row-schema.js';
import {
  ABSENT_FLAG,
  MAX_BATCH_BYTES,
  NULL_FLAG,
  OP_INSERT,
  type RejectedRow,
  type RowBatch,
  type RowOp,
  type Section,
} from './row-batch.js';

export interface BatchTarget {
  /** A batch is full at this many bytes of cells; 1 to 4 MiB keeps both ends busy. */
  readonly bytes: number;
  /** A batch is full at this many rows. */
  readonly rows: number;
}

export const DEFAULT_BATCH_TARGET: BatchTarget = { bytes: 1 << 20, rows: 65_536 };

const LONG_TEXT = 1 << 20;

/**
 * Packs rows into a {@link RowBatch}. Append the cells of a row in column order, then call `endRow`.
 *
 * `data`, `ends`, `length` and `cells` are open on purpose: a hot loop may call `reserve`, write into the arrays itself
 * and move `length` and `cells` on. After `reserve` the arrays may be other objects: read them again.
 */
export class BatchBuilder {
  data: Buffer;
  ends: Uint32Array;
  /** Bytes used in `data`. */
  length = 0;
  /** Cells used in `ends`. */
  cells = 0;
  rows = 0;
  #sections: Section[] = [];
  #schema: RowSchema;
  #sectionRow = 0;
  #sectionCell = 0;
  #ops: Uint8Array | null = null;
  #times: Float64Array | null = null;
  #rejected: RejectedRow[] | null = null;
  readonly #target: BatchTarget;

  constructor(schema: RowSchema, target: BatchTarget = DEFAULT_BATCH_TARGET) {
    this.#schema = schema;
    this.#target = target;
    this.data = Buffer.allocUnsafeSlow(Math.min(target.bytes + (target.bytes >> 2) + 1024, MAX_BATCH_BYTES));
    this.ends = new Uint32Array(Math.max(1024, Math.ceil(target.bytes / 16)));
  }

  get schema(): RowSchema {
    return this.#schema;
  }

  /** True when the batch has reached its target size, or holds rejected rows worth a batch. */
  get full(): boolean {
    return this.length >= this.#target.bytes || this.rows + (this.#rejected?.length ?? 0) >= this.#target.rows;
  }

  get empty(): boolean {
    return this.rows === 0 && this.#rejected === null;
  }

  /**
   * Makes room for `bytes` more bytes and `cells` more cells.
   * @throws SyncError ROW_TOO_LARGE past 1 GiB.
   */
  reserve(bytes: number, cells: number): void {
    const needBytes = this.length + bytes;
    if (needBytes > this.data.length) {
      if (needBytes > MAX_BATCH_BYTES) {
        throw new SyncError('ROW_TOO_LARGE', `a batch would need ${String(needBytes)} bytes; the limit is 1 GiB`);
      }
      const grown = Buffer.allocUnsafeSlow(Math.min(MAX_BATCH_BYTES, Math.max(needBytes, this.data.length * 2)));
      this.data.copy(grown, 0, 0, this.length);
      this.data = grown;
    }
    const needCells = this.cells + cells;
    if (needCells > this.ends.length) {
      const grown = new Uint32Array(Math.max(needCells, this.ends.length * 2));
      grown.set(this.ends.subarray(0, this.cells));
      this.ends = grown;
    }
  }

  appendNull(): void {
    this.reserve(0, 1);
    this.ends[this.cells++] = (this.length | NULL_FLAG) >>> 0;
  }

  appendAbsent(): void {
    this.reserve(0, 1);
    this.ends[this.cells++] = (this.length | ABSENT_FLAG) >>> 0;
  }

  /** Appends text as UTF-8. A lone surrogate becomes U+FFFD, as UTF-8 has no form for it. */
  appendText(text: string): void {
    // Three bytes a UTF-16 unit are the most; counting them exactly pays only for long texts.
    this.reserve(text.length < LONG_TEXT ? text.length * 3 : Buffer.byteLength(text, 'utf8'), 1);
    this.length += this.data.write(text, this.length, 'utf8');
    this.ends[this.cells++] = this.length;
  }

  /** Appends `bytes[start .. end]`; for a text type they must be valid UTF-8 in the canonical form. */
  appendBytes(bytes: Uint8Array, start = 0, end = bytes.length): void {
    this.reserve(end - start, 1);
    this.data.set(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end), this.length);
    this.length += end - start;
    this.ends[this.cells++] = this.length;
  }

  appendBigint(value: bigint): void {
    this.appendText(value.toString());
  }

  /** Ends the row. `eventTime` is in ms since 1970. */
  endRow(op: RowOp = OP_INSERT, eventTime?: number): void {
    if (op !== OP_INSERT || this.#ops) this.#setOp(op);
    if (eventTime !== undefined || this.#times) this.#setTime(eventTime ?? Number.NaN);
    this.rows++;
  }

  /** Takes back the cells of a row that was begun and not ended, and all rows but the first `rows`. */
  dropRow(rows = this.rows): void {
    while (rows < this.#sectionRow) {
      const last = this.#sections.pop();
      this.#schema = last?.schema ?? this.#schema;
      this.#sectionRow = last?.firstRow ?? 0;
      this.#sectionCell = last?.firstCell ?? 0;
    }
    this.rows = rows;
    this.cells = this.#sectionCell + (this.rows - this.#sectionRow) * this.#schema.columns.length;
    this.length = this.cells === 0 ? 0 : (this.ends[this.cells - 1] ?? 0) & MAX_BATCH_BYTES;
  }

  reject(row: RejectedRow): void {
    (this.#rejected ??= []).push(row);
  }

  /** From here on rows have this schema. */
  startSection(schema: RowSchema): void {
    if (schema === this.#schema) return;
    this.#closeSection();
    this.#schema = schema;
  }

  /** Hands the rows over as a batch and starts empty, with fresh buffers. */
  finish(splitId: string, position: Position | null, sourceBytes: number): RowBatch {
    this.#closeSection();
    const batch: RowBatch = {
      is: 'batch',
      splitId,
      sections: this.#sections,
      rows: this.rows,
      data: this.data.subarray(0, this.length),
      ends: this.ends.subarray(0, this.cells),
      ops: this.#ops ? this.#ops.subarray(0, this.rows) : null,
      position,
      eventTimes: this.#times ? this.#times.subarray(0, this.rows) : null,
      rejected: this.#rejected,
      sourceBytes,
    };
    if (this.length > 0) {
      // Room beyond the target for the row that passes it: without it each batch would be copied as a whole once more.
      const size = Math.max(this.length, this.data.length >> 1, this.#target.bytes);
      this.data = Buffer.allocUnsafeSlow(Math.min(size + Math.max(1024, size >> 5), MAX_BATCH_BYTES));
    }
    if (this.cells > 0) this.ends = new Uint32Array(Math.max(1024, this.cells + (this.cells >> 3)));
    this.length = 0;
    this.cells = 0;
    this.rows = 0;
    this.#sections = [];
    this.#sectionRow = 0;
    this.#sectionCell = 0;
    this.#ops = null;
    this.#times = null;
    this.#rejected = null;
    return batch;
  }

  #closeSection(): void {
    const rows = this.rows - this.#sectionRow;
    const cells = this.cells - this.#sectionCell;
    if (rows === 0 && cells === 0) return;
    if (cells !== rows * this.#schema.columns.length) {
      throw new SyncError(
        'PLUGIN_BROKEN',
        `a section of ${String(rows)} rows × ${String(this.#schema.columns.length)} columns has ${String(cells)} cells`,
      );
    }
    this.#sections.push({ schema: this.#schema, firstRow: this.#sectionRow, firstCell: this.#sectionCell, rows });
    this.#sectionRow = this.rows;
    this.#sectionCell = this.cells;
  }

  #setOp(op: RowOp): void {
    if (!this.#ops || this.#ops.length <= this.rows) {
      const grown = new Uint8Array(Math.max(1024, this.rows * 2 + 1)); // zero is OP_INSERT
      if (this.#ops) grown.set(this.#ops);
      this.#ops = grown;
    }
    this.#ops[this.rows] = op;
  }

  #setTime(time: number): void {
    if (!this.#times || this.#times.length <= this.rows) {
      const grown = new Float64Array(Math.max(1024, this.rows * 2 + 1)).fill(Number.NaN);
      if (this.#times) grown.set(this.#times);
      this.#times = grown;
    }
    this.#times[this.rows] = time;
  }
}
