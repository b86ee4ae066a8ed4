import {
  ABSENT_FLAG,
  END_MASK,
  NULL_FLAG,
  cellKind,
  type CellKind,
  type RejectedRow,
  type RowBatch,
  type RowSchema,
  type Section,
} from '../../plugin-api/index.js';
import type { ByteBuffer } from './byte-buffer.js';
import { showRow } from './dirty-row.js';
import { isJson, skipNumber } from '../../cells/json-scan.js';
import { fourOf, HIGH, ONES, wordsOf } from './words.js';
import type { ColumnChoice, OutputFormat, RecordEncoder } from './record-encoder.js';

const LF = 10;
const CR = 13;
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPEN = 123;
const CLOSE = 125;
const NULL_WORD = Buffer.from('null');
const NONE = Buffer.alloc(0);

/** 1: a string must escape the byte. Bytes of multi-byte characters pass as they are. */
const ESCAPED = new Uint8Array(256);
ESCAPED.fill(1, 0, 32);
ESCAPED[QUOTE] = ESCAPED[BACKSLASH] = 1;

const HEX = Buffer.from('0123456789abcdef');
/** The letter behind the backslash, where a control character has one. */
const SHORT = new Uint8Array(256);
for (const [c, letter] of ['\bb', '\tt', '\nn', '\ff', '\rr', '""', '\\\\']) {
  SHORT[c?.charCodeAt(0) ?? 0] = letter?.charCodeAt(0) ?? 0;
}

function escapedText(src: Uint8Array, start: number, end: number, dst: Uint8Array, at: number): number {
  let o = at;
  for (let p = start; p < end; p++) {
    const b = src[p] ?? 0;
    if (ESCAPED[b] === 0) dst[o++] = b;
    else {
      dst[o++] = BACKSLASH;
      const letter = SHORT[b] ?? 0;
      if (letter !== 0) dst[o++] = letter;
      else {
        dst[o++] = 117; // u00xx
        dst[o++] = dst[o++] = 48;
        dst[o++] = HEX[b >> 4] ?? 0;
        dst[o++] = HEX[b & 15] ?? 0;
      }
    }
  }
  return o;
}

const WORDS = ['true', 'false'].map((w) => Buffer.from(w));

/**
 * Writes what is no text: the offset in `dst` behind it, or -1 where the cell is not of its kind's form (which would
 * break the line).
 */
function otherCell(
  kind: CellKind | 'latin1',
  src: Buffer,
  start: number,
  end: number,
  dst: Buffer,
  at: number,
): number {
  if (kind === 'bytes') {
    dst[at] = QUOTE;
    const n = dst.write(src.toString('base64', start, end), at + 1, 'latin1');
    dst[at + 1 + n] = QUOTE;
    return at + n + 2;
  }
  let o = at;
  if (kind === 'latin1') {
    dst[o++] = QUOTE;
    for (let p = start; p < end; p++) {
      const b = src[p] ?? 0;
      if (b >= 0x80) {
        dst[o++] = 0xc0 | (b >> 6);
        dst[o++] = 0x80 | (b & 0x3f);
      } else if (ESCAPED[b] === 0) dst[o++] = b;
      else o = escapedText(src, p, p + 1, dst, o);
    }
    dst[o++] = QUOTE;
    return o;
  }
  if (kind === 'json') {
    if (!isJson(src, start, end)) return -1;
    for (let p = start; p < end; p++) {
      const b = src[p] ?? 0;
      dst[o++] = b === LF || b === CR ? SPACE : b; // outside of strings only: there they stand escaped
    }
    return o;
  }
  const bare =
    kind === 'boolean'
      ? WORDS.some((w) => src.compare(w, 0, w.length, start, end) === 0)
      : end > start && skipNumber(src, start, end) === end;
  if (!bare) {
    if (kind !== 'float') return -1;
    const word = src.toString('latin1', start, end);
    if (word !== 'NaN' && word !== 'Infinity' && word !== '-Infinity') return -1;
    return at + dst.write(`"${word}"`, at, 'latin1');
  }
  for (let p = start; p < end; p++) dst[o++] = src[p] ?? 0;
  return o;
}

/** `"name":`, padded to whole words. */
interface Key {
  readonly words: DataView;
  /** Without the padding. */
  readonly length: number;
}

function keyOf(name: string): Key {
  const text = Buffer.from(`${JSON.stringify(name)}:`);
  const padded = Buffer.alloc(text.length + 4);
  text.copy(padded);
  return { words: wordsOf(padded), length: text.length };
}

const NO_KEY = keyOf('');

/**
 * One JSON object a line. Numbers keep their digits; NaN and the infinities are strings; json cells stand as they are;
 * binary cells are base64; a NULL is null; an ABSENT cell's key is left out.
 */
class JsonEncoder implements RecordEncoder {
  readonly header = null;
  readonly #schema: RowSchema;
  readonly #projection: Int32Array;
  /** `"name":` of each column. */
  readonly #keys: readonly Key[];
  readonly #keyBytes: number;
  readonly #kinds: readonly (CellKind | 'latin1')[];
  readonly #isText: Uint8Array;
  // Of the last call: who wants a row at a time makes a call for each.
  #data: Uint8Array | null = null;
  #src: Buffer = NONE;
  #words: DataView = wordsOf(NONE);
  #dst: Uint8Array = NONE;
  #dstWords: DataView = wordsOf(NONE);

  constructor(schema: RowSchema, { projection, names }: ColumnChoice, latin1: boolean) {
    this.#schema = schema;
    this.#projection = Int32Array.from(projection);
    const columns = projection.map((i) => schema.columns[i]);
    this.#keys = names.map((n) => keyOf(n));
    this.#keyBytes = this.#keys.reduce((sum, k) => sum + k.length, 0);
    const kinds = columns.map((c) => (c ? cellKind(c.type) : 'text'));
    this.#kinds = kinds.map((k) => (k === 'bytes' && latin1 ? 'latin1' : k));
    this.#isText = Uint8Array.from(this.#kinds, (k) => (k === 'text' ? 1 : 0));
  }

  #take(data: Uint8Array): void {
    this.#data = data;
    this.#src = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    this.#words = wordsOf(this.#src);
  }

  #wordsInto(dst: Uint8Array): DataView {
    if (dst !== this.#dst) {
      this.#dst = dst;
      this.#dstWords = wordsOf(dst);
    }
    return this.#dstWords;
  }

  encode(batch: RowBatch, section: Section, first: number, out: ByteBuffer, reject: (r: RejectedRow) => void): number {
    if (batch.data !== this.#data) this.#take(batch.data);
    const src = this.#src;
    const { ends } = batch;
    const projection = this.#projection;
    const columns = projection.length;
    const width = this.#schema.columns.length;
    const keys = this.#keys;
    const isText = this.#isText;
    const target = out.target;
    const words = this.#words;
    const quotes = fourOf(QUOTE);
    const slashes = fourOf(BACKSLASH);
    const spaces = fourOf(SPACE);
    let dst = out.data;
    let dstWords = this.#wordsInto(dst);
    let row = first;
    let o = out.length;
    rows: for (; row < section.rows && (o < target || row === first); row++) {
      const base = section.firstCell + row * width;
      const rowStart = base === 0 ? 0 : (ends[base - 1] ?? 0) & END_MASK;
      const rowBytes = ((ends[base + width - 1] ?? 0) & END_MASK) - rowStart;
      out.length = o;
      // Worst case: every byte a control character (\u00xx), every cell null or quoted with a comma.
      out.reserve(rowBytes * 6 + this.#keyBytes + columns * 12 + 8);
      if (dst !== out.data) {
        dst = out.data;
        dstWords = this.#wordsInto(dst);
      }
      let comma = OPEN;
      for (let c = 0; c < columns; c++) {
        const cell = base + (projection[c] ?? 0);
        const e = ends[cell] ?? 0;
        if ((e & ABSENT_FLAG) !== 0) continue;
        dst[o++] = comma;
        comma = COMMA;
        const key = keys[c] ?? NO_KEY;
        // Whole words, the last one past the key's end: what follows overwrites it.
        for (let p = 0; p < key.length; p += 4) dstWords.setInt32(o + p, key.words.getInt32(p, true), true);
        o += key.length;
        if ((e & NULL_FLAG) !== 0) {
          dst.set(NULL_WORD, o);
          o += 4;
          continue;
        }
        const end = e & END_MASK;
        const start = cell === 0 ? 0 : (ends[cell - 1] ?? 0) & END_MASK;
        if (isText[c] === 1) {
          dst[o++] = QUOTE;
          const cellOut = o;
          let marks = 0;
          let p = start;
          for (; p + 4 <= end; p += 4) {
            const x = words.getInt32(p, true);
            dstWords.setInt32(o, x, true);
            o += 4;
            const q = x ^ quotes;
            const s = x ^ slashes;
            marks |= ((q - ONES) & ~q) | ((s - ONES) & ~s) | ((x - spaces) & ~x);
          }
          marks &= HIGH;
          for (; p < end; p++) {
            const b = src[p] ?? 0;
            dst[o++] = b;
            marks |= ESCAPED[b] ?? 0;
          }
          if (marks !== 0) o = escapedText(src, start, end, dst, cellOut);
          dst[o++] = QUOTE;
          continue;
        }
        o = otherCell(this.#kinds[c] ?? 'text', src, start, end, dst, o);
        if (o < 0) {
          o = out.length;
          this.#refuse(batch, section, row, c, reject);
          continue rows;
        }
      }
      if (comma === OPEN) dst[o++] = OPEN;
      dst[o++] = CLOSE;
      dst[o++] = LF;
    }
    out.length = o;
    return row;
  }

  #refuse(batch: RowBatch, section: Section, row: number, c: number, reject: (r: RejectedRow) => void): void {
    const column = this.#schema.columns[this.#projection[c] ?? 0];
    reject({
      row: showRow(batch, section, row),
      column: column?.name ?? null,
      code: 'ROW_INVALID',
      reason: `the cell is not a valid ${column?.type.is ?? 'value'}, so that it cannot stand in JSON without quotes`,
      place: null,
    });
  }
}

/** @param o `latin1`: bytes are texts of the characters U+0000 to U+00FF; else base64. */
export function jsonLinesOutput(o: { readonly latin1?: boolean } = {}): OutputFormat {
  const latin1 = o.latin1 === true;
  return { selfDescribing: true, encoder: (schema, choice) => new JsonEncoder(schema, choice, latin1) };
}
