import type { LogicalType } from '../plugin-api/index.js';
import { cellCheck } from './cell-check.js';

const FIELDS: Readonly<Record<string, string>> = {
  yyyy: '(?<y>\\d{4})',
  MM: '(?<M>\\d\\d)',
  M: '(?<M>\\d\\d?)',
  dd: '(?<d>\\d\\d)',
  d: '(?<d>\\d\\d?)',
  HH: '(?<H>\\d\\d)',
  H: '(?<H>\\d\\d?)',
  mm: '(?<m>\\d\\d)',
  m: '(?<m>\\d\\d?)',
  ss: '(?<s>\\d\\d)',
  s: '(?<s>\\d\\d?)',
};
const TOKEN = /'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+/g;

function source(pattern: string): string | null {
  let out = '';
  for (const [token] of pattern.matchAll(TOKEN)) {
    if (token.startsWith("'")) out += escape(token === "''" ? "'" : token.slice(1, -1).replaceAll("''", "'"));
    else if (/^S+$/.test(token)) out += `(?<S>\\d{${String(token.length)}})`;
    else if (/^[A-Za-z]/.test(token)) {
      const field = FIELDS[token];
      if (field === undefined || out.includes(field.slice(0, 4))) return null;
      out += field;
    } else out += escape(token);
  }
  return out;
}

const escape = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** True where the pattern is one that {@link datePattern} can read. */
export function isDatePattern(pattern: string): boolean {
  return pattern !== '' && source(pattern) !== null;
}

/**
 * Reads dates and times written by a pattern of Java's kind: yyyy MM dd HH mm ss S, one-digit forms M d H m s, text in
 * single quotes. What the pattern leaves out is 01 or 00. The result is checked like any other cell of the type.
 */
export function datePattern(
  pattern: string,
  type: LogicalType,
): (data: Buffer, start: number, end: number) => Uint8Array | null {
  const regex = new RegExp(`^${source(pattern) ?? '(?!)'}$`, 'u');
  const check = cellCheck(type);
  return (data, start, end) => {
    const g = regex.exec(data.toString('utf8', start, end))?.groups;
    if (!g) return null;
    const part = (key: string, otherwise: string): string => (g[key] ?? otherwise).padStart(2, '0');
    const date = `${g['y'] ?? '1970'}-${part('M', '01')}-${part('d', '01')}`;
    const fraction = g['S'] === undefined ? '' : `.${g['S']}`;
    const time = `${part('H', '00')}:${part('m', '00')}:${part('s', '00')}${fraction}`;
    const text =
      type.is === 'date' ? date : type.is === 'time' ? time : type.is === 'year' ? date.slice(0, 4) : `${date} ${time}`;
    const cell = Buffer.from(text);
    return check === null || check(cell, 0, cell.length) ? cell : null;
  };
}
