const ZERO = 48;
const DASH = 45;
const COLON = 58;
const DOT = 46;
const SPACE = 32;

/** Value of the two digits at `i`, or -1. */
export function two(d: Uint8Array, i: number): number {
  const a = (d[i] ?? 0) - ZERO;
  const b = (d[i + 1] ?? 0) - ZERO;
  return a < 0 || a > 9 || b < 0 || b > 9 ? -1 : a * 10 + b;
}

const DAYS = [0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

/** Days of a month from 1 to 12. */
export function daysOf(year: number, month: number): number {
  return month === 2 && !isLeap(year) ? 28 : (DAYS[month] ?? 0);
}

/** `YYYY-MM-DD`, a day that exists; MySQL's zero dates (00 for month or day) are days too. */
export function isDate(d: Uint8Array, start: number, end: number): boolean {
  if (end - start !== 10 || d[start + 4] !== DASH || d[start + 7] !== DASH) return false;
  const century = two(d, start);
  const short = two(d, start + 2);
  const month = two(d, start + 5);
  const day = two(d, start + 8);
  if (century < 0 || short < 0 || month < 0 || month > 12 || day < 0 || day > (DAYS[month] || 31)) return false;
  return month !== 2 || day !== 29 || isLeap(century * 100 + short);
}

function clockEnd(d: Uint8Array, i: number, end: number): number {
  if (i + 5 > end || d[i + 2] !== COLON) return -1;
  const minute = two(d, i);
  const second = two(d, i + 3);
  return minute < 0 || minute > 59 || second < 0 || second > 59 ? -1 : i + 5;
}

function isFraction(d: Uint8Array, i: number, end: number, digits: number): boolean {
  if (i === end) return true;
  const n = end - i - 1;
  if (d[i] !== DOT || n < 1 || n > digits) return false;
  for (let j = i + 1; j < end; j++) if ((d[j] ?? 0) < ZERO || (d[j] ?? 0) > ZERO + 9) return false;
  return true;
}

/** `YYYY-MM-DD HH:MM:SS[.f]`, with at most `fraction` digits. */
export function isDateTime(d: Uint8Array, start: number, end: number, fraction: number): boolean {
  if (end - start < 19 || d[start + 10] !== SPACE || d[start + 13] !== COLON) return false;
  if (!isDate(d, start, start + 10)) return false;
  const hour = two(d, start + 11);
  if (hour < 0 || hour > 23) return false;
  const at = clockEnd(d, start + 14, end);
  return at > 0 && isFraction(d, at, end, fraction);
}

/** `[-]HHH:MM:SS[.f]`: two or three digits of hours, as MySQL's TIME is a signed duration. */
export function isTime(d: Uint8Array, start: number, end: number, fraction: number): boolean {
  let i = d[start] === DASH ? start + 1 : start;
  if (two(d, i) < 0) return false;
  i += 2;
  if (i < end && d[i] !== COLON) {
    if ((d[i] ?? 0) < ZERO || (d[i] ?? 0) > ZERO + 9) return false;
    i++;
  }
  if (i >= end || d[i] !== COLON) return false;
  const at = clockEnd(d, i + 1, end);
  return at > 0 && isFraction(d, at, end, fraction);
}
