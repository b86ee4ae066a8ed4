import { CR, LF, bytesAt, type CsvDialect } from './csv-dialect.js';
import { neverClosed } from './record-faults.js';

/** One record of a delimited file, read without haste: for header lines and for counting the fields of a first record. */
export interface CsvRecord {
  readonly fields: readonly string[];
  /** Offset of the next record in the bytes. */
  readonly next: number;
  /** Line feeds that the record holds, its own end included. */
  readonly lines: number;
}

const lineEnd = (b: Uint8Array, i: number): number => (b[i] === LF ? 1 : b[i] === CR && b[i + 1] === LF ? 2 : 0);

/**
 * Reads the record at `start`, in line `line`, by the same rules as the fast decoder. Null: more bytes are needed.
 * @throws SyncError SOURCE_FORMAT on a quote that is never closed.
 */
export function readCsvRecord(
  b: Uint8Array,
  start: number,
  last: boolean,
  dialect: CsvDialect,
  place: string,
  line: number,
): CsvRecord | null {
  const { delimiter, quote, escape } = dialect;
  const fields: string[] = [];
  let bytes: number[] = [];
  let i = start;
  let lines = 0;
  let quoted = false;
  /** Line feeds of the record in front of the last quote that opened. */
  let before = 0;
  let fieldStart = true;
  for (;;) {
    // A delimiter, a line end or an escaped byte may be cut by the end of the chunk.
    if (!last && i + Math.max(2, delimiter.length) > b.length) return null;
    const c = b[i];
    if (c === undefined) {
      if (quoted) throw neverClosed(place, line + before);
      fields.push(Buffer.from(bytes).toString('utf8'));
      return { fields, next: i, lines };
    }
    if (c === escape && i + 1 < b.length) {
      if (b[i + 1] === LF) lines++;
      bytes.push(b[i + 1] ?? 0);
      i += 2;
      fieldStart = false;
    } else if (quoted) {
      if (c === quote && b[i + 1] === quote) i++;
      else if (c === quote) {
        quoted = false;
        i++;
        continue;
      }
      if (c === LF) lines++;
      bytes.push(c);
      i++;
    } else if (fieldStart && c === quote) {
      quoted = true;
      before = lines;
      fieldStart = false;
      i++;
    } else if (bytesAt(b, i, delimiter)) {
      fields.push(Buffer.from(bytes).toString('utf8'));
      bytes = [];
      fieldStart = true;
      i += delimiter.length;
    } else if (lineEnd(b, i) > 0) {
      fields.push(Buffer.from(bytes).toString('utf8'));
      return { fields, next: i + lineEnd(b, i), lines: lines + 1 };
    } else {
      bytes.push(c);
      fieldStart = false;
      i++;
    }
  }
}

/** Offset behind the blank lines at `start`, and how many there are. Null: more bytes are needed. */
export function skipBlankLines(b: Uint8Array, start: number, last: boolean): { next: number; lines: number } | null {
  let i = start;
  let lines = 0;
  for (;;) {
    if (!last && i + 2 > b.length) return null;
    const n = lineEnd(b, i);
    if (n === 0) return { next: i, lines };
    i += n;
    lines++;
  }
}
