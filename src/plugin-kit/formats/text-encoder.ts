import {
  ABSENT_FLAG,
  END_MASK,
  NULL_FLAG,
  cellKind,
  type RejectedRow,
  type RowBatch,
  type RowSchema,
  type Section,
} from '../../plugin-api/index.js';
import type { ByteBuffer } from './byte-buffer.js';
import { CR, LF, bytesAt, type CsvDialect } from './csv-dialect.js';
import { showRow } from './dirty-row.js';
import type { ColumnChoice, OutputFormat, RecordEncoder } from './record-encoder.js';
import { SyncError } from '../../plugin-api/index.js';

export interface TextOutputOptions {
  readonly dialect: CsvDialect;
  readonly header: boolean;
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Fields and delimiters, nothing else. The format has no way to quote: a row with a cell that would read back as
 * something else (a delimiter or line end inside, the text of the null format) is refused.
 */
class TextEncoder implements RecordEncoder {
  readonly header: Uint8Array | null;
  readonly #dialect: CsvDialect;
  readonly #schema: RowSchema;
  readonly #projection: readonly number[];
  readonly #binary: readonly boolean[];
  readonly #special = new Uint8Array(256);

  constructor(options: TextOutputOptions, schema: RowSchema, { projection, names }: ColumnChoice) {
    const { delimiter } = options.dialect;
    this.#dialect = options.dialect;
    this.#schema = schema;
    this.#projection = projection;
    this.#special[LF] = this.#special[CR] = this.#special[delimiter[0] ?? 0] = 1;
    const columns = projection.map((i) => schema.columns[i]);
    this.#binary = columns.map((c) => c !== undefined && cellKind(c.type) === 'bytes');
    this.header = options.header ? this.#headerLine(names.map((n) => Buffer.from(n))) : null;
  }

  #headerLine(names: readonly Buffer[]): Uint8Array {
    const bad = names.find((n) => this.#why(n, 0, n.length) !== null);
    if (bad !== undefined) {
      throw new SyncError(
        'COLUMN_MISMATCH',
        `the column name \`${bad.toString()}\` cannot stand in a header of fileType text`,
        {
          hint: 'Use fileType csv, which can quote it, or another fieldDelimiter.',
        },
      );
    }
    return Buffer.concat([...names.flatMap((n, i) => (i > 0 ? [this.#dialect.delimiter, n] : [n])), Buffer.from([LF])]);
  }

  /** Why the cell cannot be written, though a byte of it looks like trouble; null: it can. */
  #why(src: Uint8Array, start: number, end: number): string | null {
    const { delimiter } = this.#dialect;
    for (let p = start; p < end; p++) {
      const b = src[p];
      if (b === LF || b === CR) return 'holds a line end';
      if (b !== delimiter[0]) continue;
      // Also where its last bytes and the delimiter behind it would be taken for the delimiter.
      let j = 1;
      while (j < delimiter.length && (p + j < end ? src[p + j] : delimiter[p + j - end]) === delimiter[j]) j++;
      if (j === delimiter.length) return 'holds the field delimiter';
    }
    return null;
  }

  encode(batch: RowBatch, section: Section, first: number, out: ByteBuffer, reject: (r: RejectedRow) => void): number {
    const src = Buffer.from(batch.data.buffer, batch.data.byteOffset, batch.data.byteLength);
    const { ends } = batch;
    const width = this.#schema.columns.length;
    const columns = this.#projection.length;
    const { delimiter, nullText } = this.#dialect;
    const nullLength = nullText === null ? -1 : nullText.length;
    const special = this.#special;
    let row = first;
    let o = out.length;
    rows: for (; row < section.rows && (o < out.target || row === first); row++) {
      const base = section.firstCell + row * width;
      const rowStart = base === 0 ? 0 : (ends[base - 1] ?? 0) & END_MASK;
      const rowBytes = ((ends[base + width - 1] ?? 0) & END_MASK) - rowStart;
      out.length = o;
      out.reserve(rowBytes * 2 + columns * (4 + delimiter.length + Math.max(nullLength, 0)) + 1);
      const dst = out.data;
      for (let c = 0; c < columns; c++) {
        if (c > 0) for (let j = 0; j < delimiter.length; j++) dst[o++] = delimiter[j] ?? 0;
        const cell = base + (this.#projection[c] ?? 0);
        const e = ends[cell] ?? 0;
        if ((e & (NULL_FLAG | ABSENT_FLAG)) !== 0) {
          if (nullText !== null) o += nullText.copy(dst, o);
          continue;
        }
        const end = e & END_MASK;
        const start = cell === 0 ? 0 : (ends[cell - 1] ?? 0) & END_MASK;
        const cellOut = o;
        let marks = 0;
        if (this.#binary[c] === true) {
          o += dst.write(src.toString('base64', start, end), o, 'latin1');
          marks = 1;
        } else {
          for (let p = start; p < end; p++) {
            const b = src[p] ?? 0;
            dst[o++] = b;
            marks |= special[b] ?? 0;
          }
        }
        let why = marks === 0 ? null : this.#why(dst, cellOut, o);
        if (o - cellOut === nullLength && bytesAt(dst, cellOut, nullText ?? BOM))
          why = 'is the text that stands for NULL';
        if (c === 0 && o - cellOut >= 3 && dst[cellOut] === 0xef && bytesAt(dst, cellOut, BOM)) {
          why = 'begins with a byte order mark, which readers drop';
        }
        if (why !== null) {
          o = out.length;
          this.#refuse(batch, section, row, c, why, reject);
          continue rows;
        }
      }
      dst[o++] = LF;
    }
    out.length = o;
    return row;
  }

  #refuse(
    batch: RowBatch,
    section: Section,
    row: number,
    c: number,
    why: string,
    reject: (r: RejectedRow) => void,
  ): void {
    reject({
      row: showRow(batch, section, row),
      column: this.#schema.columns[this.#projection[c] ?? 0]?.name ?? null,
      code: 'ROW_INVALID',
      reason: `the cell ${why}; fileType text cannot quote it, csv can`,
      place: null,
    });
  }
}

export function textOutput(options: TextOutputOptions): OutputFormat {
  return { selfDescribing: false, encoder: (schema, choice) => new TextEncoder(options, schema, choice) };
}
