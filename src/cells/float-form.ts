import { float32Text, float64Text } from '../plugin-api/index.js';
import { isNumber, numberParts } from './number-text.js';

const ZERO = 48;
const MINUS = 45;
const DOT = 46;

/** Decimal digits that every double, or float32, gives back: a text of so many is the shortest of its value. */
const DOUBLE_DIGITS = 15;
const SINGLE_DIGITS = 6;
/** 0.000001 is the smallest number that ECMAScript writes without an exponent. */
const MOST_ZEROS = 5;
/** No shortest text is as long; what is longer than any double's exact digits is no number that someone wrote. */
const LONGEST = 2048;

/** True: surely canonical, found out without making any value. False: have a closer look. */
function isShort(d: Uint8Array, start: number, end: number, most: number): boolean {
  let i = d[start] === MINUS ? start + 1 : start;
  const first = i;
  let c = 0;
  while (i < end && (c = (d[i] ?? 0) - ZERO) >= 0 && c <= 9) i++;
  const whole = i - first;
  if (whole === 0 || (whole > 1 && d[first] === ZERO)) return false;
  if (i === end) return whole <= most;
  if (d[i] !== DOT || d[end - 1] === ZERO) return false;
  const point = i++;
  let zeros = 0;
  if (d[first] === ZERO) for (; i < end && d[i] === ZERO; i++) zeros++;
  if (zeros > MOST_ZEROS) return false;
  const digits = end - point - 1 - zeros + (d[first] === ZERO ? 0 : whole);
  while (i < end && (c = (d[i] ?? 0) - ZERO) >= 0 && c <= 9) i++;
  return i === end && i > point + 1 && digits <= most;
}

const bits = new DataView(new ArrayBuffer(8));

/** The float32 next to `single`, away from zero. The one next to the largest is 2^128. */
function nextSingle(single: number): number {
  bits.setFloat32(0, Math.abs(single));
  bits.setUint32(0, bits.getUint32(0) + 1);
  const next = bits.getFloat32(0);
  return next === Infinity ? 2 ** 128 : next;
}

/** Compares a positive decimal number with a positive double, exactly. */
function compareExactly(text: string, n: number): number {
  const parts = numberParts(text);
  if (parts === null) return 0;
  bits.setFloat64(0, n);
  const raw = bits.getBigUint64(0);
  const power = Number(raw >> 52n) - 1075;
  // A double that lies between two float32 is never subnormal.
  let left = BigInt(parts.digits);
  let right = (raw & 0xf_ffff_ffff_ffffn) | 0x10_0000_0000_0000n;
  const ten = parts.point - parts.digits.length;
  if (ten >= 0) left *= 10n ** BigInt(ten);
  else right *= 10n ** BigInt(-ten);
  if (power >= 0) right <<= BigInt(power);
  else left <<= BigInt(-power);
  return left < right ? -1 : left > right ? 1 : 0;
}

/**
 * The float32 nearest to a decimal number. By way of the double alone it would be rounded twice: a text next to the middle
 * of two float32 can become that middle, and the second rounding then goes to the wrong side.
 */
function singleOf(text: string, double: number): number {
  const single = Math.fround(double);
  const size = Math.abs(double);
  if (single === double || size === 0) return single;
  bits.setFloat32(0, size);
  const near = bits.getUint32(0);
  bits.setUint32(0, bits.getFloat32(0) > size ? near - 1 : near);
  const low = bits.getFloat32(0);
  const high = nextSingle(low);
  if (size - low !== high - size) return single;
  const side = compareExactly(text.replace(/^[+-]/, ''), size);
  if (side === 0) return single;
  const nearest = side < 0 ? low : Math.fround(high);
  return double < 0 ? -nearest : nearest;
}

/** A scan that is true where a float is surely canonical; most are. */
export function shortFloat(single: boolean): (data: Uint8Array, start: number, end: number) => boolean {
  const most = single ? SINGLE_DIGITS : DOUBLE_DIGITS;
  return (d, start, end) => isShort(d, start, end, most);
}

/**
 * Reads the text of a float. True: it is canonical; false: it is no float, or one beyond the range of the type; else its
 * canonical text.
 */
export function floatText(d: Buffer, start: number, end: number, single: boolean): string | boolean {
  if (end - start > LONGEST) return false;
  const text = d.toString('latin1', start, end);
  if (text === 'NaN' || text === 'Infinity' || text === '-Infinity') return true;
  if (!isNumber(text)) return false;
  const double = Number(text);
  const n = single ? singleOf(text, double) : double;
  if (!Number.isFinite(n)) return false;
  const canonical = single ? float32Text(n) : float64Text(n);
  return canonical === text || canonical;
}
