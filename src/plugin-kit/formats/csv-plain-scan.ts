import { NULL_FLAG } from '../../plugin-api/index.js';
import { CR, LF, bytesAt } from './csv-dialect.js';
import { fourOf, HIGH, ONES } from './words.js';

/** What never changes for a decoder. */
export interface PlainRules {
  /** The one byte of the delimiter. */
  readonly delimiter: number;
  /** -1: none. */
  readonly quote: number;
  readonly nullText: Uint8Array | null;
  /** Fields of a record; all are kept, in their order. */
  readonly width: number;
}

/** Where a scan stands; moved on by {@link scanPlain}. */
export interface ScanPoint {
  /** Offset in the source. */
  i: number;
  /** Bytes in `data`. */
  o: number;
  cells: number;
  rows: number;
}

/**
 * The road of records without quotes: whole words instead of bytes. Stops in front of the first record that has anything
 * else (a quote that opens, a blank line, another number of fields) or ends within the last word of the window; the
 * general scan takes that one.
 *
 * `words` and `out` are views of `src` and `data`. The free room of `data` must be as long as the window: cells never outgrow their source.
 */
export function scanPlain(
  at: ScanPoint,
  rules: PlainRules,
  src: Uint8Array,
  words: DataView,
  end: number,
  data: Uint8Array,
  out: DataView,
  ends: Uint32Array,
  rowLimit: number,
  byteLimit: number,
): void {
  const { delimiter, quote, nullText, width } = rules;
  const nullLength = nullText === null ? -1 : nullText.length;
  const delimiters = fourOf(delimiter);
  const feeds = fourOf(LF);
  const lastWord = end - 4;
  const lastCell = ends.length - width;
  let { i, o, cells, rows } = at;
  records: while (rows < rowLimit && o < byteLimit && cells <= lastCell) {
    let p = i;
    let q = o;
    let cell = cells;
    for (let left = width; ; left--) {
      if (left === 0 || src[p] === quote) break records;
      const fieldOut = q;
      let ended = 0;
      do {
        if (p > lastWord) break records;
        const x = words.getInt32(p, true);
        out.setInt32(q, x, true);
        const a = x ^ delimiters;
        const b = x ^ feeds;
        ended = (((a - ONES) & ~a) | ((b - ONES) & ~b)) & HIGH;
        const n = ended === 0 ? 4 : (31 - Math.clz32(ended & -ended)) >> 3;
        p += n;
        q += n;
      } while (ended === 0);
      const atEnd = src[p++] === LF;
      if (atEnd && q > fieldOut && data[q - 1] === CR) q--;
      let flag = 0;
      if (q - fieldOut === nullLength && nullText !== null && bytesAt(data, fieldOut, nullText)) {
        flag = NULL_FLAG;
        q = fieldOut;
      }
      ends[cell++] = q | flag;
      if (!atEnd) continue;
      if (left !== 1) break records;
      break;
    }
    i = p;
    o = q;
    cells = cell;
    rows++;
  }
  at.i = i;
  at.o = o;
  at.cells = cells;
  at.rows = rows;
}
