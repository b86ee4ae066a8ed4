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
import { fourOf, HIGH, ONES, wordsOf } from './words.js';
import type { ColumnChoice, OutputFormat, RecordEncoder } from './record-encoder.js';

export interface CsvOutputOptions {
  readonly dialect: CsvDialect & { readonly quote: number };
  readonly header: boolean;
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** 1: a cell with this byte must be quoted or escaped. */
function specialBytes(d: CsvDialect & { readonly quote: number }): Uint8Array {
  const t = new Uint8Array(256);
  t[LF] = t[CR] = t[d.quote] = 1;
  // The first byte of a long delimiter is enough: `a|` before `||` would else be read as `a` and `|…`.
  t[d.delimiter[0] ?? 0] = 1;
  if (d.escape !== null) t[d.escape] = 1;
  return t;
}

/** Looked at once: some callers take one row at a time. */
interface Source {
  readonly batch: RowBatch;
  readonly src: Buffer;
  readonly words: DataView;
  /** Words are looked at for three bytes; a batch that has another one to look for goes byte by byte. */
  readonly byWord: boolean;
}

/**
 * Writes CSV that the reader with the same options reads back equal. Quotes stand only where they are needed; NULL is the
 * null format, unquoted; ABSENT is written like NULL, as the format has no other word for it.
 */
class CsvEncoder implements RecordEncoder {
  readonly header: Uint8Array | null;
  readonly #dialect: CsvDialect & { readonly quote: number };
  readonly #special: Uint8Array;
  readonly #projection: Int32Array;
  readonly #binary: Uint8Array;
  readonly #anyBinary: boolean;
  readonly #width: number;
  #source: Source | null = null;

  constructor(options: CsvOutputOptions, schema: RowSchema, { projection, names }: ColumnChoice) {
    this.#dialect = options.dialect;
    this.#special = specialBytes(options.dialect);
    this.#projection = Int32Array.from(projection);
    this.#width = schema.columns.length;
    const columns = projection.map((i) => schema.columns[i]);
    this.#binary = Uint8Array.from(columns, (c) => (c && cellKind(c.type) === 'bytes' ? 1 : 0));
    this.#anyBinary = this.#binary.includes(1);
    this.header = options.header ? this.#headerLine(names) : null;
  }

  encode(batch: RowBatch, section: Section, first: number, out: ByteBuffer, reject: (r: RejectedRow) => void): number {
    void reject; // CSV can hold every cell
    const { ends } = batch;
    const { src, words, byWord } = this.#sourceOf(batch);
    const projection = this.#projection;
    const columns = projection.length;
    const width = this.#width;
    const special = this.#special;
    const { delimiter, quote, nullText } = this.#dialect;
    const delimiterByte = delimiter[0] ?? 0;
    const longDelimiter = delimiter.length > 1;
    const nullLength = nullText === null ? -1 : nullText.length;
    const nullFirst = nullText?.[0] ?? -1;
    const anyBinary = this.#anyBinary;
    const target = out.target;
    const delimiters = fourOf(delimiterByte);
    const quotes = fourOf(quote);
    const feeds = fourOf(LF);
    let dst = out.data;
    let dstWords = wordsOf(dst);
    let row = first;
    let o = out.length;
    for (; row < section.rows && (o < target || row === first); row++) {
      const base = section.firstCell + row * width;
      // Worst case of the row: all bytes escaped (or base64), all cells quoted.
      const rowStart = base === 0 ? 0 : (ends[base - 1] ?? 0) & END_MASK;
      const rowBytes = ((ends[base + width - 1] ?? 0) & END_MASK) - rowStart;
      out.length = o;
      out.reserve(rowBytes * (anyBinary ? 3 : 2) + columns * (6 + delimiter.length + Math.max(nullLength, 0)) + 2);
      if (dst !== out.data) {
        dst = out.data;
        dstWords = wordsOf(dst);
      }
      for (let c = 0; c < columns; c++) {
        if (c > 0) {
          if (longDelimiter) {
            dst.set(delimiter, o);
            o += delimiter.length;
          } else dst[o++] = delimiterByte;
        }
        const cell = base + (projection[c] ?? 0);
        const e = ends[cell] ?? 0;
        const end = e & END_MASK;
        const start = cell === 0 ? 0 : (ends[cell - 1] ?? 0) & END_MASK;
        if ((e & (NULL_FLAG | ABSENT_FLAG)) !== 0) {
          if (nullText !== null) {
            dst.set(nullText, o);
            o += nullText.length;
          }
          continue;
        }
        if (anyBinary && this.#binary[c] === 1) {
          o = this.#base64(src, start, end, dst, o, columns);
          continue;
        }
        const cellOut = o;
        let marks = 0;
        let p = start;
        if (byWord) {
          for (; p + 4 <= end; p += 4) {
            const x = words.getInt32(p, true);
            dstWords.setInt32(o, x, true);
            o += 4;
            const d = x ^ delimiters;
            const q = x ^ quotes;
            const f = x ^ feeds;
            marks |= ((d - ONES) & ~d) | ((q - ONES) & ~q) | ((f - ONES) & ~f);
          }
          marks &= HIGH;
        }
        for (; p < end; p++) {
          const b = src[p] ?? 0;
          dst[o++] = b;
          marks |= special[b] ?? 0;
        }
        const n = end - start;
        if (
          marks !== 0 ||
          (n === nullLength && (n === 0 || (src[start] === nullFirst && bytesAt(src, start, nullText ?? BOM)))) ||
          (n === 0 && columns === 1) ||
          (c === 0 && n >= 3 && src[start] === 0xef && bytesAt(src, start, BOM))
        ) {
          o = this.#quoted(src, start, end, dst, cellOut, quote);
        }
      }
      dst[o++] = LF;
    }
    out.length = o;
    return row;
  }

  #sourceOf(batch: RowBatch): Source {
    if (this.#source?.batch === batch) return this.#source;
    const src = Buffer.from(batch.data.buffer, batch.data.byteOffset, batch.data.byteLength);
    const byWord = this.#dialect.escape === null && !src.includes(CR);
    return (this.#source = { batch, src, words: wordsOf(src), byWord });
  }

  #quoted(src: Uint8Array, start: number, end: number, dst: Uint8Array, at: number, quote: number): number {
    const escape = this.#dialect.escape ?? -1;
    let o = at;
    dst[o++] = quote;
    for (let p = start; p < end; p++) {
      const b = src[p] ?? 0;
      if (b === quote) dst[o++] = quote;
      else if (b === escape) dst[o++] = escape;
      dst[o++] = b;
    }
    dst[o++] = quote;
    return o;
  }

  #base64(src: Uint8Array, start: number, end: number, dst: Buffer, at: number, columns: number): number {
    const text = Buffer.from(Buffer.from(src.buffer, src.byteOffset + start, end - start).toString('base64'), 'latin1');
    const { nullText, quote } = this.#dialect;
    const isNullText = nullText !== null && text.length === nullText.length && bytesAt(text, 0, nullText);
    // A delimiter may well be a base64 letter.
    if (text.some((b) => this.#special[b] === 1) || isNullText || (text.length === 0 && columns === 1)) {
      return this.#quoted(text, 0, text.length, dst, at, quote);
    }
    dst.set(text, at);
    return at + text.length;
  }

  #headerLine(names: readonly string[]): Uint8Array {
    const parts: Buffer[] = [];
    names.forEach((name, i) => {
      if (i > 0) parts.push(this.#dialect.delimiter);
      const bytes = Buffer.from(name);
      const special = bytes.some((b) => this.#special[b] === 1) || bytesAt(bytes, 0, BOM) || bytes.length === 0;
      if (!special) parts.push(bytes);
      else {
        const room = Buffer.alloc(bytes.length * 2 + 2);
        parts.push(room.subarray(0, this.#quoted(bytes, 0, bytes.length, room, 0, this.#dialect.quote)));
      }
    });
    parts.push(Buffer.from([LF]));
    return Buffer.concat(parts);
  }
}

export function csvOutput(options: CsvOutputOptions): OutputFormat {
  return {
    selfDescribing: false,
    encoder: (schema, choice) => new CsvEncoder(options, schema, choice),
  };
}
