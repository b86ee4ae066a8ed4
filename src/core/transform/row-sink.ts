import {
  END_MASK,
  MAX_BATCH_BYTES,
  SyncError,
  type RowBatch,
  type RowOp,
  type RowSchema,
  type Section,
} from '../../plugin-api/index.js';
import type { Frame } from './frame.js';
import type { Out } from './plan.js';

/** Below this many bytes a loop is faster than a call. */
const SHORT = 24;
const NOTHING = Buffer.alloc(0);

/**
 * Takes the rows that go out of one batch. Rows that go out as they are are only noted as a stretch of cells and copied
 * together; where all do, nothing is copied at all.
 */
export class RowSink {
  rows = 0;
  readonly #batch: RowBatch;
  readonly #data: Buffer;
  readonly #sections: Section[] = [];
  readonly #ops: Uint8Array | null;
  readonly #times: Float64Array | null;
  #out: Buffer = NOTHING;
  #ends = new Uint32Array(0);
  #length = 0;
  #cells = 0;
  /** Cells of the input that are still to be copied. */
  #spanFrom = 0;
  #spanTo = 0;
  #sectionRow = 0;
  #sectionCell = 0;
  readonly #mark = { rows: 0, length: 0, cells: 0, spanFrom: 0, spanTo: 0 };

  constructor(batch: RowBatch, data: Buffer) {
    this.#batch = batch;
    this.#data = data;
    this.#ops = batch.ops ? new Uint8Array(batch.rows) : null;
    this.#times = batch.eventTimes ? new Float64Array(batch.rows) : null;
  }

  /** Rows appended after this can be taken back. */
  mark(): void {
    const m = this.#mark;
    m.rows = this.rows;
    m.length = this.#length;
    m.cells = this.#cells;
    m.spanFrom = this.#spanFrom;
    m.spanTo = this.#spanTo;
  }

  rollback(): void {
    const m = this.#mark;
    this.rows = m.rows;
    this.#length = m.length;
    this.#cells = m.cells;
    this.#spanFrom = m.spanFrom;
    this.#spanTo = m.spanTo;
  }

  /** The cells `from` to `to - 1` of the input, as they are: `rows` rows, the first of them the input's `row`. */
  whole(from: number, to: number, row: number, rows: number): void {
    if (this.#spanTo !== from || this.#spanFrom === this.#spanTo) {
      this.#flush();
      this.#spanFrom = from;
    }
    this.#spanTo = to;
    if (this.#ops && this.#batch.ops) this.#ops.set(this.#batch.ops.subarray(row, row + rows), this.rows);
    if (this.#times && this.#batch.eventTimes)
      this.#times.set(this.#batch.eventTimes.subarray(row, row + rows), this.rows);
    this.rows += rows;
  }

  /** The frame's row, which is the input's row `row`. */
  row(outs: readonly Out[], f: Frame, row: number): void {
    for (const out of outs) {
      if (out.is === 'run') this.#run(f.base + out.first, out.count);
      else {
        const flag = f.load(out);
        const n = f.end - f.start;
        this.#reserve(n, 1);
        copy(f.buf, f.start, f.end, this.#out, this.#length);
        this.#length += n;
        this.#ends[this.#cells++] = (this.#length | flag) >>> 0;
      }
    }
    if (this.#ops && this.#batch.ops) this.#ops[this.rows] = this.#batch.ops[row] ?? 0;
    if (this.#times && this.#batch.eventTimes) this.#times[this.rows] = this.#batch.eventTimes[row] ?? NaN;
    this.rows++;
  }

  /** Changes what the row that was appended last is. */
  setOp(op: RowOp): void {
    if (this.#ops) this.#ops[this.rows - 1] = op;
  }

  endSection(schema: RowSchema): void {
    const rows = this.rows - this.#sectionRow;
    if (rows === 0) return;
    this.#sections.push({ schema, firstRow: this.#sectionRow, firstCell: this.#sectionCell, rows });
    this.#sectionRow = this.rows;
    this.#sectionCell += rows * schema.columns.length;
  }

  finish(rejected: RowBatch['rejected']): RowBatch {
    const all = this.#spanFrom === 0 && this.#spanTo === this.#batch.ends.length && this.#cells === 0;
    if (!all) this.#flush();
    const { data, ends } = this.#batch;
    return {
      ...this.#batch,
      sections: this.#sections,
      rows: this.rows,
      data: all ? data : this.#out.subarray(0, this.#length),
      ends: all ? ends : this.#ends.subarray(0, this.#cells),
      ops: this.#ops && this.#ops.subarray(0, this.rows),
      eventTimes: this.#times && this.#times.subarray(0, this.rows),
      rejected,
    };
  }

  #flush(): void {
    const n = this.#spanTo - this.#spanFrom;
    if (n > 0) this.#run(this.#spanFrom, n);
    this.#spanFrom = this.#spanTo = 0;
  }

  #run(first: number, count: number): void {
    const from = first === 0 ? 0 : (this.#batch.ends[first - 1] ?? 0) & END_MASK;
    const to = (this.#batch.ends[first + count - 1] ?? 0) & END_MASK;
    this.#reserve(to - from, count);
    copy(this.#data, from, to, this.#out, this.#length);
    // Flags stand above the offsets, which stay below them: adding moves the offset only.
    const delta = this.#length - from;
    const ends = this.#batch.ends;
    for (let i = first; i < first + count; i++) this.#ends[this.#cells++] = (ends[i] ?? 0) + delta;
    this.#length += to - from;
  }

  #reserve(bytes: number, cells: number): void {
    const needBytes = this.#length + bytes;
    if (needBytes > this.#out.length) {
      if (needBytes > MAX_BATCH_BYTES)
        throw new SyncError('ROW_TOO_LARGE', 'the transformed rows of a batch have more than 1 GiB');
      const size = Math.min(MAX_BATCH_BYTES, Math.max(needBytes, this.#out.length * 2, this.#data.length + 1024));
      const grown = Buffer.allocUnsafeSlow(size);
      this.#out.copy(grown, 0, 0, this.#length);
      this.#out = grown;
    }
    const needCells = this.#cells + cells;
    if (needCells > this.#ends.length) {
      const grown = new Uint32Array(Math.max(needCells, this.#ends.length * 2, this.#batch.ends.length));
      grown.set(this.#ends.subarray(0, this.#cells));
      this.#ends = grown;
    }
  }
}

function copy(from: Buffer, start: number, end: number, to: Buffer, at: number): void {
  if (end - start > SHORT) {
    from.copy(to, at, start, end);
    return;
  }
  for (let i = start; i < end; i++) to[at++] = from[i] ?? 0;
}
