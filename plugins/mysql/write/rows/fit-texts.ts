import { isUtf8 } from 'node:buffer';
import { cellKind, type LogicalType } from 'syncx/plugin-api';
import type { CellCheck } from 'syncx/plugin-kit';
import type { MysqlColumn } from '../../catalog/columns.js';
import { always, type CellFit, type Target } from './cell-fit.js';

const SPACE = 32;
const isText: CellCheck = (d, s, e) => isUtf8(d.subarray(s, e));

/** Characters of valid UTF-8. */
function characters(d: Buffer, start: number, end: number): number {
  let n = 0;
  for (let i = start; i < end; i++) if (((d[i] ?? 0) & 0xc0) !== 0x80) n++;
  return n;
}

const TEXT_BYTES: Readonly<Record<string, number>> = { tinytext: 255, text: 65_535, mediumtext: 16_777_215 };
/** Charsets whose characters may take more bytes than in UTF-8: up to four for one. */
const WIDE = /^(?:ucs2|utf16|utf16le|utf32)$/;

/** CHAR forgets trailing spaces; VARCHAR and the TEXTs cut those that are too many, at most with a note. */
function spaceCheck({ rawType, charset }: MysqlColumn): CellCheck | null {
  const m = /^(char|varchar|tinytext|text|mediumtext)\b(?:\((\d+)\))?/i.exec(rawType);
  const name = m?.[1]?.toLowerCase();
  if (name === undefined) return null;
  if (name === 'char') return (d, s, e) => e === s || d[e - 1] !== SPACE;
  if (name === 'varchar') {
    const most = Number(m?.[2] ?? 0);
    return (d, s, e) => e === s || d[e - 1] !== SPACE || e - s <= most || characters(d, s, e) <= most;
  }
  const most = (TEXT_BYTES[name] ?? 0) / (WIDE.test(charset ?? '') ? 4 : 1);
  return (d, s, e) => e === s || d[e - 1] !== SPACE || e - s <= most;
}

const both = (a: CellCheck | null, b: CellCheck | null): CellCheck | null =>
  a === null ? b : b === null ? a : (d, s, e) => a(d, s, e) && b(d, s, e);

/** CHAR, VARCHAR, TEXT, JSON. Too long, or not of the charset: the server refuses it. */
export function textFit(from: LogicalType, { column }: Target): CellFit {
  const kind = cellKind(from);
  const holds = `${column.rawType} (as text, without what it would cut or lose)`;
  const text =
    from.is === 'string' || from.is === 'json' || from.is === 'enum' || from.is === 'set' || kind === 'bytes';
  if (!text) return always('plain', holds);
  const check = both(kind === 'bytes' ? isText : null, spaceCheck(column));
  return { form: 'text', check, mend: null, holds };
}

/** BINARY(n) fills shorter values up with zeros, which nobody can take away again. */
export function binaryFit({ column }: Target): CellFit {
  const m = /^binary(?:\((\d+)\))?$/i.exec(column.rawType);
  if (m === null) return always('binary', column.rawType);
  const length = Number(m[1] ?? 1);
  return {
    form: 'binary',
    check: (_d, s, e) => e - s === length,
    mend: null,
    holds: `${column.rawType} (of just that length)`,
  };
}

/** Four bytes of SRID, five of WKB, and something. An empty text is taken by MySQL 5.5 without a word. */
const SMALLEST_SHAPE = 13;

export function geometryFit(from: LogicalType, { column }: Target): CellFit {
  if (from.is === 'geometry') return always('binary', column.rawType);
  return { form: 'binary', check: (_d, s, e) => e - s >= SMALLEST_SHAPE, mend: null, holds: column.rawType };
}

/** The server would take `1` for the first label, and `SMALL` for `small`. */
export function enumFit(from: LogicalType, { column }: Target): CellFit {
  const known = new Set(column.type.is === 'enum' ? (column.type.labels ?? []) : []);
  const holds = column.rawType;
  if (from.is === 'enum' && from.labels?.every((l) => known.has(l)) === true) {
    // Empty is what MySQL stores for a value that is none; the server refuses it, unless it is a label.
    return always('text', holds);
  }
  return { form: 'text', check: (d, s, e) => known.has(d.toString('utf8', s, e)), mend: null, holds };
}

/** The server would take `3` for the first two labels. The order of labels does not count. */
export function setFit(from: LogicalType, { column }: Target): CellFit {
  const known = new Set(column.type.is === 'set' ? (column.type.labels ?? []) : []);
  const holds = column.rawType;
  if (from.is === 'set' && from.labels?.every((l) => known.has(l)) === true) return always('text', holds);
  const check: CellCheck = (d, s, e) => {
    if (s === e) return true;
    const labels = d.toString('utf8', s, e).split(',');
    return labels.every((l) => known.has(l)) && new Set(labels).size === labels.length;
  };
  return { form: 'text', check, mend: null, holds };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Types that are newer than this file: the server says what is none of theirs. UUID makes small letters of capitals. */
export function otherFit({ column }: Target): CellFit {
  if (column.rawType.toLowerCase() !== 'uuid')
    return { form: 'text', check: isText, mend: null, holds: column.rawType };
  const check: CellCheck = (d, s, e) => UUID.test(d.toString('latin1', s, e));
  return { form: 'text', check, mend: null, holds: 'uuid (in small letters, with dashes)' };
}
