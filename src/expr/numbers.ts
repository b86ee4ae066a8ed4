/** Exact numbers: no digit of an integer or decimal ever passes through a double. */
import { float64Text } from '../plugin-api/index.js';
import { numberParts } from '../cells/number-text.js';
import { RowFault } from './faults.js';

/** A number where it is safe, else a bigint: one form for each value, so that `===` tells equal ones. */
export type Int = number | bigint;

/** Exactly `digits` / 10^`scale`; `scale` from 0. */
export class Decimal {
  readonly digits: bigint;
  readonly scale: number;
  constructor(digits: bigint, scale: number) {
    this.digits = digits;
    this.scale = scale;
  }
}

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);
/** No value of a source has as many digits; keeps products of products from filling the memory. */
const MOST_DIGITS = 4096;
/** Digits that a quotient has behind the point beyond those of its operands. */
const QUOTIENT_DIGITS = 6;

export function toInt(n: bigint): Int {
  return n >= -SAFE && n <= SAFE ? Number(n) : n;
}

function bounded(n: bigint): bigint {
  // 4096 decimal digits are some 13,600 bits; the shift is cheap where the number is small.
  if (n >> 13_600n !== 0n && n >> 13_600n !== -1n)
    throw new RowFault(`a result has more than ${String(MOST_DIGITS)} digits`);
  return n;
}

const ZERO = 48;
const MINUS = 45;
const POINT = 46;

/** A canonical integer cell. */
export function readInt(b: Buffer, start: number, end: number): Int {
  const negative = b[start] === MINUS;
  const from = negative ? start + 1 : start;
  if (end - from > 15) return toInt(BigInt(b.toString('latin1', start, end)));
  let n = 0;
  for (let i = from; i < end; i++) n = n * 10 + ((b[i] ?? 0) - ZERO);
  return negative ? 0 - n : n;
}

/** A canonical decimal cell. */
export function readDecimal(b: Buffer, start: number, end: number): Decimal {
  let point = start;
  while (point < end && b[point] !== POINT) point++;
  if (point === end) return new Decimal(BigInt(b.toString('latin1', start, end)), 0);
  return new Decimal(
    BigInt(b.toString('latin1', start, point) + b.toString('latin1', point + 1, end)),
    end - point - 1,
  );
}

/** `1.50`, `1e3`; null: no number. */
export function decimalOf(text: string): Decimal | null {
  const p = numberParts(text);
  if (p === null) return null;
  if (Math.abs(p.point) > MOST_DIGITS || Math.abs(p.scale) > MOST_DIGITS) return null;
  const scale = Math.max(0, p.scale);
  const digits = BigInt(p.digits === '' ? '0' : p.digits.padEnd(p.point + scale, '0'));
  return new Decimal(p.negative ? -digits : digits, scale);
}

export function decimalToText(d: Decimal): string {
  const negative = d.digits < 0n;
  const all = (negative ? -d.digits : d.digits).toString().padStart(d.scale + 1, '0');
  const cut = all.length - d.scale;
  return `${negative ? '-' : ''}${d.scale === 0 ? all : `${all.slice(0, cut)}.${all.slice(cut)}`}`;
}

export function asDecimal(n: Int | Decimal): Decimal {
  return n instanceof Decimal ? n : new Decimal(BigInt(n), 0);
}

function atScale(d: Decimal, scale: number): bigint {
  return d.scale === scale ? d.digits : d.digits * 10n ** BigInt(scale - d.scale);
}

/** Negative, zero or positive. */
export function compareExact(a: Int | Decimal, b: Int | Decimal): number {
  if (!(a instanceof Decimal) && !(b instanceof Decimal)) return a < b ? -1 : a > b ? 1 : 0;
  const [x, y] = [asDecimal(a), asDecimal(b)];
  const scale = Math.max(x.scale, y.scale);
  const [m, n] = [atScale(x, scale), atScale(y, scale)];
  return m < n ? -1 : m > n ? 1 : 0;
}

export function addInts(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number') {
    const n = a + b;
    if (Number.isSafeInteger(n)) return n;
  }
  return toInt(bounded(BigInt(a) + BigInt(b)));
}

export function subtractInts(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number') {
    const n = a - b;
    if (Number.isSafeInteger(n)) return n;
  }
  return toInt(bounded(BigInt(a) - BigInt(b)));
}

export function multiplyInts(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number') {
    const n = a * b;
    if (Number.isSafeInteger(n)) return n === 0 ? 0 : n;
  }
  return toInt(bounded(BigInt(a) * BigInt(b)));
}

export function remainderInts(a: Int, b: Int): Int {
  if (b === 0) throw new RowFault('division by zero');
  if (typeof a === 'number' && typeof b === 'number') {
    const n = a % b;
    return n === 0 ? 0 : n;
  }
  return toInt(BigInt(a) % BigInt(b));
}

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return new Decimal(bounded(atScale(a, scale) + atScale(b, scale)), scale);
}

export function multiplyDecimals(a: Decimal, b: Decimal): Decimal {
  return new Decimal(bounded(a.digits * b.digits), a.scale + b.scale);
}

export function remainderDecimals(a: Decimal, b: Decimal): Decimal {
  if (b.digits === 0n) throw new RowFault('division by zero');
  const scale = Math.max(a.scale, b.scale);
  return new Decimal(atScale(a, scale) % atScale(b, scale), scale);
}

/** `n / m`, rounded half away from zero. */
function divideRounded(n: bigint, m: bigint): bigint {
  const negative = n < 0n !== m < 0n;
  const [a, b] = [n < 0n ? -n : n, m < 0n ? -m : m];
  const q = (2n * a + b) / (2n * b);
  return negative ? -q : q;
}

/** With six digits more behind the point than the operand that has more, rounded half away from zero. */
export function divideDecimals(a: Decimal, b: Decimal): Decimal {
  if (b.digits === 0n) throw new RowFault('division by zero');
  const scale = Math.max(a.scale, b.scale) + QUOTIENT_DIGITS;
  return new Decimal(divideRounded(atScale(a, scale + b.scale), b.digits), scale);
}

/** To at most `scale` digits behind the point, half away from zero. */
export function roundDecimal(d: Decimal, scale: number): Decimal {
  if (scale >= d.scale) return d;
  return new Decimal(divideRounded(d.digits, 10n ** BigInt(d.scale - scale)), scale);
}

/** The whole number at or below; `up`: at or above. */
export function wholeDecimal(d: Decimal, up: boolean): Int {
  const unit = 10n ** BigInt(d.scale);
  const q = d.digits / unit;
  const rest = d.digits % unit;
  if (rest === 0n) return toInt(q);
  return toInt(up ? (rest > 0n ? q + 1n : q) : rest < 0n ? q - 1n : q);
}

export function floatToDecimal(n: number): Decimal {
  const d = Number.isFinite(n) ? decimalOf(float64Text(n)) : null;
  if (d === null) throw new RowFault(`${String(n)} is no decimal number`);
  return d;
}

/** The nearest double. */
export function toFloat(n: Int | Decimal): number {
  return n instanceof Decimal ? Number(decimalToText(n)) : Number(n);
}
