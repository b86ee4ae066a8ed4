/** Rows as JSON objects, whole or what differs in them. */
import {
  ABSENT_FLAG,
  END_MASK,
  cellKind,
  internSchema,
  type LogicalType,
  type RejectedRow,
  type RowBatch,
  type RowSchema,
  type Section,
} from 'syncx/plugin-api';
import { jsonLinesOutput, type ByteBuffer, type ColumnChoice, type RecordEncoder } from 'syncx/plugin-kit';
import { refused } from './row-cells.js';
import { sameCell } from './row-key.js';

const COMMA = Buffer.from(',');
const END = Buffer.from('}');

export interface ImageNotation {
  /** The type that cells of a column are written as. */
  readonly as: (type: LogicalType) => LogicalType;
  /** Bytes are texts of the characters U+0000 to U+00FF; else base64. */
  readonly latin1: boolean;
  /** The text that stands for a cell that the source did not send; null: a row that lacks a cell is refused. */
  readonly absent: string | null;
}

const TEXT: LogicalType = { is: 'string' };

/** All but bytes are texts. */
export const asText = (type: LogicalType): LogicalType => (cellKind(type) === 'bytes' ? type : TEXT);

/** JSON is text, all else as it is. */
export const jsonAsText = (type: LogicalType): LogicalType => (type.is === 'json' ? TEXT : type);

export class RowImages {
  readonly #encoder: RecordEncoder;
  readonly #projection: readonly number[];
  readonly #names: readonly string[];
  readonly #width: number;
  /** `"name":"…"` of each column, for a cell that the source did not send. */
  readonly #absent: readonly Buffer[] | null;
  /** Ends of one row's cells, behind the end of the cell before them. */
  readonly #ends: Uint32Array;

  constructor(schema: RowSchema, choice: ColumnChoice, notation: ImageNotation) {
    const written = internSchema(schema.columns.map((c) => ({ ...c, type: notation.as(c.type) })));
    this.#encoder = jsonLinesOutput({ latin1: notation.latin1 }).encoder(written, choice);
    this.#projection = choice.projection;
    this.#names = choice.names;
    this.#width = schema.columns.length;
    const { absent } = notation;
    this.#absent =
      absent === null
        ? null
        : choice.names.map((name) => Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(absent)}`));
    this.#ends = new Uint32Array(this.#width + 1);
  }

  /** Appends the row as an object. False: it was rejected, and `out` has some bytes of no use. */
  append(out: ByteBuffer, batch: RowBatch, section: Section, row: number, reject: (r: RejectedRow) => void): boolean {
    const first = section.firstCell + row * this.#width;
    const lacks = (i: number): boolean => ((batch.ends[first + (this.#projection[i] ?? 0)] ?? 0) & ABSENT_FLAG) !== 0;
    const partial = this.#projection.some((_, i) => lacks(i));
    const name = partial && this.#absent === null ? this.#names.find((_, i) => lacks(i)) : undefined;
    if (name !== undefined) {
      reject(refused(batch, section, row, name, 'the source did not send the cell, and the codec holds whole rows'));
      return false;
    }
    const refusals: RejectedRow[] = [];
    const start = out.length;
    this.#encoder.encode(batch, section, row, out, (r) => void refusals.push(r));
    if (refusals.length > 0) {
      refusals.forEach(reject);
      return false;
    }
    out.length--; // the line end
    if (!partial) return true;
    out.length--;
    this.#absent?.forEach((text, i) => {
      if (!lacks(i)) return;
      if (out.length > start + 1) out.append(COMMA);
      out.append(text);
    });
    out.append(END);
    return true;
  }

  /** Appends those cells of row `before` that the row behind it has others for, as an object. */
  appendChanged(out: ByteBuffer, batch: RowBatch, section: Section, before: number): void {
    const width = this.#width;
    const first = section.firstCell + before * width;
    const ends = this.#ends;
    ends[0] = first === 0 ? 0 : (batch.ends[first - 1] ?? 0) & END_MASK;
    for (let c = 0; c < width; c++) {
      const end = batch.ends[first + c] ?? 0;
      const same = sameCell(batch, first + c, first + c + width);
      ends[c + 1] = same ? ((end & END_MASK) | ABSENT_FLAG) >>> 0 : end;
    }
    // What is ABSENT is left out.
    const one: Section = { schema: section.schema, firstRow: 0, firstCell: 1, rows: 1 };
    this.#encoder.encode({ ...batch, ends, sections: [one], rows: 1 }, one, 0, out, () => undefined);
    out.length--;
  }
}
