import { isUtf8 } from 'node:buffer';
import type { LogicalType } from '../plugin-api/index.js';
import { isDate, isDateTime, isTime } from './cell-check-time.js';
import { floatText, shortFloat } from './float-form.js';
import { isJson } from './json-scan.js';

/**
 * Says whether `data[start .. end]` is a canonical cell of a type. A check may mend letter case in place (`TRUE`), never
 * the length.
 */
export type CellCheck = (data: Buffer, start: number, end: number) => boolean;

const ZERO = 48;
const NINE = 57;
const MINUS = 45;
const DOT = 46;

/** Offset behind the run of digits at `i`. */
export function skipDigits(d: Uint8Array, i: number, end: number): number {
  while (i < end && (d[i] ?? 0) >= ZERO && (d[i] ?? 0) <= NINE) i++;
  return i;
}

function integerCheck(min: string, max: string): CellCheck {
  const low = Buffer.from(min.startsWith('-') ? min.slice(1) : '0');
  const high = Buffer.from(max);
  const signed = min.startsWith('-');
  return (d, start, end) => {
    let i = start;
    const negative = d[i] === MINUS;
    if (negative) {
      if (!signed) return false;
      i++;
    }
    const n = end - i;
    if (n === 0 || skipDigits(d, i, end) !== end) return false;
    if (d[i] === ZERO && (n > 1 || negative)) return false;
    const limit = negative ? low : high;
    if (n !== limit.length) return n < limit.length;
    for (let j = 0; j < n; j++) {
      const a = d[i + j] ?? 0;
      const b = limit[j] ?? 0;
      if (a !== b) return a < b;
    }
    return true;
  };
}

function isZero(d: Uint8Array, i: number, end: number): boolean {
  while (i < end && (d[i] === ZERO || d[i] === DOT)) i++;
  return i === end;
}

function decimalCheck(precision: number, scale: number): CellCheck {
  return (d, start, end) => {
    let i = d[start] === MINUS ? start + 1 : start;
    const first = i;
    i = skipDigits(d, i, end);
    const whole = i - first;
    if (first > start && d[first] === ZERO && isZero(d, first, end)) return false; // minus zero loses its sign
    if (whole === 0 || (whole > 1 && d[first] === ZERO)) return false;
    if (whole > precision - scale && !(whole === 1 && d[first] === ZERO)) return false;
    if (i === end) return true;
    if (d[i] !== DOT) return false;
    const fraction = end - i - 1;
    return fraction > 0 && fraction <= scale && skipDigits(d, i + 1, end) === end;
  };
}

function floatCheck(single: boolean): CellCheck {
  const scan = shortFloat(single);
  return (d, start, end) => scan(d, start, end) || floatText(d, start, end, single) === true;
}

function isBoolean(d: Buffer, start: number, end: number): boolean {
  const n = end - start;
  if (n !== 4 && n !== 5) return false;
  const lower = d.toString('latin1', start, end).toLowerCase();
  if (lower !== 'true' && lower !== 'false') return false;
  d.write(lower, start, n, 'latin1');
  return true;
}

const isYear: CellCheck = (d, start, end) => end - start === 4 && skipDigits(d, start, end) === end;

/** Null: any UTF-8 text (or, for binary types, any bytes) is a cell of the type. */
export function cellCheck(t: LogicalType): CellCheck | null {
  switch (t.is) {
    case 'int8':
      return integerCheck('-128', '127');
    case 'int16':
      return integerCheck('-32768', '32767');
    case 'int32':
      return integerCheck('-2147483648', '2147483647');
    case 'int64':
      return integerCheck('-9223372036854775808', '9223372036854775807');
    case 'uint8':
      return integerCheck('0', '255');
    case 'uint16':
      return integerCheck('0', '65535');
    case 'uint32':
      return integerCheck('0', '4294967295');
    case 'uint64':
      return integerCheck('0', '18446744073709551615');
    case 'bit':
      return integerCheck('0', (2n ** BigInt(t.length) - 1n).toString());
    case 'decimal':
      return decimalCheck(t.precision, t.scale);
    case 'float32':
    case 'float64':
      return floatCheck(t.is === 'float32');
    case 'boolean':
      return isBoolean;
    case 'year':
      return isYear;
    case 'date':
      return isDate;
    case 'time':
      return (d, start, end) => isTime(d, start, end, t.fraction);
    case 'datetime':
    case 'timestamp':
      return (d, start, end) => isDateTime(d, start, end, t.fraction);
    case 'json':
      return isJson;
    case 'string':
    case 'enum':
    case 'set':
    case 'binary':
    case 'geometry':
      return null;
  }
}

/** The bytes as text for a message or a dirty row; bytes that are no UTF-8 show as base64 too, so that nothing is lost. */
export function showBytes(b: Uint8Array): string | { readonly text: string; readonly base64: string } {
  const text = Buffer.from(b.buffer, b.byteOffset, b.byteLength);
  return isUtf8(text) ? text.toString('utf8') : { text: text.toString('utf8'), base64: text.toString('base64') };
}

/** True where the text is a canonical cell of the type. */
export function isCellOf(t: LogicalType, text: string): boolean {
  const cell = Buffer.from(text);
  return cellCheck(t)?.(cell, 0, cell.length) ?? true;
}
