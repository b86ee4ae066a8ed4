import { LF, bytesAt, type CsvDialect } from './csv-dialect.js';
import type { RecordPoint } from './record-decoder.js';
import { fourOf, HIGH, ONES, wordsOf } from './words.js';

/** A machine over bytes. A state is the place of its row in the table, so that a step is one addition and one load. */
const RECORD_START = 0;
const FIELD_START = 1 << 8;
const QUOTED = 2 << 8;
/** Behind a quote within quotes: it was the closing one, unless another follows. */
const QUOTE_IN_QUOTES = 3 << 8;
const QUOTED_ESCAPE = 4 << 8;
const ESCAPE = 5 << 8;
/** Unquoted; the rows behind it: so many bytes of the delimiter were seen. */
const UNQUOTED = 6;
const MOST_STATES = 256;

/** Longest proper prefix of `d` that ends each of its prefixes. */
function prefixLengths(d: Uint8Array): number[] {
  const out = [0];
  let k = 0;
  for (let i = 1; i < d.length; i++) {
    while (k > 0 && d[i] !== d[k]) k = out[k - 1] ?? 0;
    if (d[i] === d[k]) k++;
    out.push(k);
  }
  return out;
}

/** The rules of the csv decoder. A CR needs none: before a line feed it changes nothing about where the record ends. */
function stateTable(d: CsvDialect, prefixes: readonly number[]): Uint16Array {
  const { delimiter, quote, escape } = d;
  const table = new Uint16Array((UNQUOTED + delimiter.length) << 8);
  for (let b = 0; b < 256; b++) {
    const unquoted = (matched: number): number => {
      if (b === LF) return RECORD_START;
      if (b === escape) return ESCAPE;
      let m = matched;
      while (m > 0 && b !== delimiter[m]) m = prefixes[m - 1] ?? 0;
      if (b === delimiter[m]) m++;
      return m === delimiter.length ? FIELD_START : (UNQUOTED + m) << 8;
    };
    for (let m = 0; m < delimiter.length; m++) table[((UNQUOTED + m) << 8) + b] = unquoted(m);
    table[RECORD_START + b] = table[FIELD_START + b] = b === quote ? QUOTED : unquoted(0);
    table[QUOTED + b] = b === quote ? QUOTE_IN_QUOTES : b === escape ? QUOTED_ESCAPE : QUOTED;
    table[QUOTE_IN_QUOTES + b] = b === quote ? QUOTED : unquoted(0);
    table[QUOTED_ESCAPE + b] = QUOTED;
    table[ESCAPE + b] = UNQUOTED << 8;
  }
  return table;
}

/** Line feeds between two offsets. */
export function countLines(b: Uint8Array, start: number, end: number): number {
  let n = 0;
  let i = start;
  if (start >= end) return 0;
  while (i < end && ((b.byteOffset + i) & 3) !== 0) if (b[i++] === LF) n++;
  if (i === end) return n;
  const words = new Int32Array(b.buffer, b.byteOffset + i, (end - i) >> 2);
  const feeds = fourOf(LF);
  for (let w = 0; w < words.length;) {
    // Four counters in one number: each holds up to 255.
    const stop = Math.min(words.length, w + 255);
    let sum = 0;
    for (; w < stop; w++) {
      const y = (words[w] ?? 0) ^ feeds;
      sum = (sum + ((~(((y & 0x7f7f7f7f) + 0x7f7f7f7f) | y) & HIGH) >>> 7)) | 0;
    }
    n += (sum & 255) + ((sum >>> 8) & 255) + ((sum >>> 16) & 255) + (sum >>> 24);
  }
  for (i += words.length << 2; i < end; i++) if (b[i] === LF) n++;
  return n;
}

/** After so many bytes the search is left to the runtime, whose call costs about as much. */
const FAR = 256;

function findByte(b: Buffer, words: DataView, byte: number, four: number, from: number, end: number): number {
  let i = from;
  const near = Math.min(end, from + FAR) - 4;
  while (i <= near) {
    const a = words.getInt32(i, true) ^ four;
    const found = (a - ONES) & ~a & HIGH;
    if (found !== 0) return i + ((31 - Math.clz32(found & -found)) >> 3);
    i += 4;
  }
  if (end - i < 4) {
    for (; i < end; i++) if (b[i] === byte) return i;
    return end;
  }
  const at = b.indexOf(byte, i);
  return at < 0 || at > end ? end : at;
}

/**
 * Finds where records of a file begin, without decoding them: at the very places where the decoder would end them. Give
 * it the bytes from a known border on, in chunks of any size.
 */
export class BorderScan {
  readonly #dialect: CsvDialect | null;
  readonly #table: Uint16Array;
  /** Delimiters stand where their bytes do, whatever came before: quotes can be looked for, and judged where they stand. */
  readonly #hops: boolean;
  #state = RECORD_START;
  #offset: number;
  #line: number;

  /** `dialect` null, or without a quote and an escape: every line feed ends a record. */
  constructor(dialect: CsvDialect | null, start: RecordPoint) {
    const lines = dialect === null || (dialect.quote === null && dialect.escape === null);
    this.#dialect = lines ? null : dialect;
    const prefixes = lines ? [] : prefixLengths(dialect.delimiter);
    this.#table = lines ? new Uint16Array(0) : stateTable(dialect, prefixes);
    this.#hops = !lines && dialect.escape === null && (prefixes.at(-1) ?? 0) === 0;
    this.#offset = start.offset;
    this.#line = start.line;
  }

  /** False: the delimiter is too long for it. */
  static knows(dialect: CsvDialect | null): boolean {
    return dialect === null || UNQUOTED + dialect.delimiter.length <= MOST_STATES;
  }

  /** Behind the bytes that were scanned; a border, if `scan` has just found one. */
  get point(): RecordPoint {
    return { offset: this.#offset, line: this.#line };
  }

  /**
   * Scans `chunk` from index `from` on, up to the first border at or behind file offset `target`, which must lie behind
   * the bytes scanned so far.
   * @returns the index behind it; -1: there is none in this chunk, all of which is scanned.
   */
  scan(chunk: Buffer, from: number, target: number): number {
    const skip = Math.min(chunk.length, from + Math.max(0, target - 1 - this.#offset));
    this.#advance(chunk, from, skip);
    const border = this.#border(chunk, skip);
    const end = border < 0 ? chunk.length : border;
    this.#line += countLines(chunk, from, end);
    this.#offset += end - from;
    return border;
  }

  #border(b: Buffer, from: number): number {
    if (this.#dialect === null) return b.indexOf(LF, from) + 1 || -1;
    for (let i = from; i < b.length;) {
      // No border without a line feed: up to the next one the machine runs without a question.
      const feed = b.indexOf(LF, i);
      const stop = feed < 0 ? b.length : feed + 1;
      this.#run(b, i, stop);
      i = stop;
      if (feed >= 0 && this.#state === RECORD_START) return i;
    }
    return -1;
  }

  #advance(b: Buffer, from: number, end: number): void {
    if (this.#dialect === null || from >= end) return;
    if (this.#hops) this.#hop(b, from, end, this.#dialect);
    else this.#run(b, from, end);
  }

  #run(b: Buffer, from: number, end: number): void {
    const table = this.#table;
    let state = this.#state;
    for (let i = from; i < end; i++) state = table[state + (b[i] ?? 0)] ?? 0;
    this.#state = state;
  }

  /** From quote to quote. */
  #hop(b: Buffer, from: number, end: number, { delimiter, quote: byte }: CsvDialect): void {
    const quote = byte ?? 0;
    const size = delimiter.length;
    const first = delimiter[0] ?? 0;
    const four = fourOf(quote);
    const words = wordsOf(b);
    // What stands before these bytes is not here any more.
    let i = Math.min(end, from + size);
    this.#run(b, from, i);
    let quoted = this.#state === QUOTED;
    if (this.#state === QUOTE_IN_QUOTES && i < end && b[i] === quote) {
      quoted = true;
      i++;
    }
    // Where the bytes outside of quotes begin at the end, and the state there.
    let outside = i;
    let state = this.#state;
    while (i < end) {
      const q = findByte(b, words, quote, four, i, end);
      if (q >= end) break;
      i = q + 1;
      if (!quoted) {
        const before = b[q - 1];
        quoted = before === LF || (size === 1 ? before === first : bytesAt(b, q - size, delimiter));
      } else if (i === end) {
        this.#state = QUOTE_IN_QUOTES;
        return;
      } else if (b[i] === quote) {
        i++;
      } else {
        quoted = false;
        outside = i;
        state = UNQUOTED << 8;
      }
    }
    const near = end - size > outside;
    this.#state = quoted ? QUOTED : near ? UNQUOTED << 8 : state;
    if (!quoted) this.#run(b, near ? end - size : outside, end);
  }
}
