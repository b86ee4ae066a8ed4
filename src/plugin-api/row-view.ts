import { ABSENT_FLAG, END_MASK, NULL_FLAG, type RowBatch, type Section } from './row-batch.js';
import { cellKind } from './logical-type.js';
import type { RowSchema } from './row-schema.js';

/**
 * A cursor over the rows of one section. `row` counts from 0 inside the section. With a projection (source column
 * index per view column) columns are dropped or reordered without copying a byte.
 *
 * Reuse one view for a whole section; nothing is allocated per row.
 */
export class RowView {
  readonly batch: RowBatch;
  readonly schema: RowSchema;
  readonly columns: number;
  readonly rows: number;
  readonly data: Buffer;
  readonly #ends: Uint32Array;
  readonly #width: number;
  readonly #firstCell: number;
  readonly #projection: readonly number[] | null;
  #base: number;

  constructor(batch: RowBatch, section: Section, projection: readonly number[] | null = null) {
    this.batch = batch;
    this.schema = section.schema;
    this.rows = section.rows;
    this.columns = projection?.length ?? section.schema.columns.length;
    this.data = Buffer.from(batch.data.buffer, batch.data.byteOffset, batch.data.byteLength);
    this.#ends = batch.ends;
    this.#width = section.schema.columns.length;
    this.#firstCell = section.firstCell;
    this.#projection = projection;
    this.#base = section.firstCell;
  }

  /** Moves to a row of the section, from 0. */
  at(row: number): this {
    this.#base = this.#firstCell + row * this.#width;
    return this;
  }

  #cell(column: number): number {
    return this.#base + (this.#projection ? (this.#projection[column] ?? 0) : column);
  }

  isNull(column: number): boolean {
    return ((this.#ends[this.#cell(column)] ?? 0) & NULL_FLAG) !== 0;
  }

  isAbsent(column: number): boolean {
    return ((this.#ends[this.#cell(column)] ?? 0) & ABSENT_FLAG) !== 0;
  }

  /** Offset in `data` of the cell's first byte. */
  start(column: number): number {
    const cell = this.#cell(column);
    return cell === 0 ? 0 : (this.#ends[cell - 1] ?? 0) & END_MASK;
  }

  /** Offset in `data` past the cell's last byte. */
  end(column: number): number {
    return (this.#ends[this.#cell(column)] ?? 0) & END_MASK;
  }

  /** The cell's bytes, not copied; empty for NULL. */
  bytes(column: number): Uint8Array {
    return this.data.subarray(this.start(column), this.end(column));
  }

  /** The cell as text; null for NULL and ABSENT. */
  text(column: number): string | null {
    if (this.isNull(column) || this.isAbsent(column)) return null;
    return this.data.toString('utf8', this.start(column), this.end(column));
  }

  /** @throws SyntaxError where the cell is not an integer. */
  bigint(column: number): bigint | null {
    const t = this.text(column);
    if (t === null) return null;
    // BigInt('') is 0n, and it reads hexadecimal and blanks: none of them is a canonical integer.
    if (!/^-?\d+$/.test(t)) throw new SyntaxError(`'${t}' is not an integer`);
    return BigInt(t);
  }

  /** Rounds as a double does; for float columns and small integers only. */
  number(column: number): number | null {
    const t = this.text(column);
    return t === null ? null : Number(t);
  }
}

/** A cell as a simple writer or a test wants it: text, bytes for binary types, null for NULL, undefined for ABSENT. */
export type SimpleValue = string | Uint8Array | null | undefined;

/** Rows as objects by column name. For simple writers and tests; costs an object a row. */
export function* toObjects(batch: RowBatch): Generator<Record<string, SimpleValue>> {
  for (const section of batch.sections) {
    const view = new RowView(batch, section);
    const cols = section.schema.columns;
    for (let r = 0; r < section.rows; r++) {
      view.at(r);
      // fromEntries, not assignment: a column may be called __proto__.
      yield Object.fromEntries(
        cols.map((c, i): [string, SimpleValue] => {
          if (view.isAbsent(i)) return [c.name, undefined];
          if (cellKind(c.type) !== 'bytes') return [c.name, view.text(i)];
          return [c.name, view.isNull(i) ? null : Uint8Array.from(view.bytes(i))];
        }),
      );
    }
  }
}

/**
 * The batch with its cells copied to a buffer of its own, projected: for writers that must keep rows past `write`
 * or want cells without gaps. Sections keep their schemas' columns in projection order through `schemaOf`.
 */
export function dense(batch: RowBatch, projection: readonly number[], schemaOf: (s: RowSchema) => RowSchema): RowBatch {
  const cells = batch.rows * projection.length;
  const ends = new Uint32Array(cells);
  let bytes = 0;
  for (const s of batch.sections) {
    const v = new RowView(batch, s, projection);
    for (let r = 0; r < s.rows; r++) {
      v.at(r);
      for (let c = 0; c < projection.length; c++) bytes += v.end(c) - v.start(c);
    }
  }
  const data = new Uint8Array(bytes);
  const sections: Section[] = [];
  let at = 0;
  let cell = 0;
  for (const s of batch.sections) {
    sections.push({ schema: schemaOf(s.schema), firstRow: s.firstRow, firstCell: cell, rows: s.rows });
    const v = new RowView(batch, s, projection);
    for (let r = 0; r < s.rows; r++) {
      v.at(r);
      for (let c = 0; c < projection.length; c++) {
        data.set(v.bytes(c), at);
        at += v.end(c) - v.start(c);
        ends[cell++] = (at | (v.isNull(c) ? NULL_FLAG : 0) | (v.isAbsent(c) ? ABSENT_FLAG : 0)) >>> 0;
      }
    }
  }
  return { ...batch, sections, data, ends };
}
