import type { LogicalType } from '../plugin-api/index.js';
import { daysOf, isDateTime, two } from './cell-check-time.js';

const ZERO = 48;
const PLUS = 43;
const MINUS = 45;
const COLON = 58;
const SPACE = 32;
const LETTER_T = 84;
const LETTER_Z = 90;
/** `YYYY-MM-DD HH:MM:SS`. */
const SECONDS_END = 19;
const DAY_MINUTES = 1440;

/** The longest cell is 29 bytes. */
const cell = Buffer.alloc(32);

/** Length of the offset from UTC that ends a time: `Z`, `+hh:mm`, `+hhmm`, `+hh`; 0: it has none. */
function zoneLength(d: Uint8Array, start: number, end: number): number {
  const from = start + SECONDS_END;
  if (d[end - 1] === LETTER_Z) return 1;
  for (const n of [6, 5, 3]) {
    const sign = d[end - n];
    if (end - n >= from && (sign === PLUS || sign === MINUS)) return n;
  }
  return 0;
}

/** Minutes of the offset in the `n` bytes before `end`; NaN: it is none. */
function zoneMinutes(d: Uint8Array, end: number, n: number): number {
  if (n === 1) return 0;
  const at = end - n;
  const hours = two(d, at + 1);
  const minutes = n === 3 ? 0 : two(d, end - 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || (n === 6 && d[at + 3] !== COLON)) return NaN;
  return (d[at] === MINUS ? -1 : 1) * (hours * 60 + minutes);
}

function put(at: number, n: number): void {
  cell[at] = ZERO + Math.floor(n / 10);
  cell[at + 1] = ZERO + (n % 10);
}

/** Moves the time in `cell` by less than a day; false: it has no date of the calendar, or leaves the years 0 to 9999. */
function shift(minutes: number): boolean {
  let year = two(cell, 0) * 100 + two(cell, 2);
  let month = two(cell, 5);
  let day = two(cell, 8);
  if (month === 0 || day === 0) return false;
  const clock = two(cell, 11) * 60 + two(cell, 14) + minutes;
  if (clock < 0) {
    if (--day === 0) {
      if (--month === 0) {
        month = 12;
        year--;
      }
      day = daysOf(year, month);
    }
  } else if (clock >= DAY_MINUTES && ++day > daysOf(year, month)) {
    day = 1;
    if (++month > 12) {
      month = 1;
      year++;
    }
  }
  if (year < 0 || year > 9999) return false;
  put(0, Math.floor(year / 100));
  put(2, year % 100);
  put(5, month);
  put(8, day);
  const time = (clock + DAY_MINUTES) % DAY_MINUTES;
  put(11, Math.floor(time / 60));
  put(14, time % 60);
  return true;
}

/**
 * The canonical form of a time in a form of ISO 8601: with a `T`, and for timestamps with an offset from UTC, from which
 * they are moved to UTC. The wall clock of a `datetime` belongs to no zone: one with an offset is refused.
 *
 * @returns bytes that the next call overwrites; null: no such time.
 */
export function mendDateTime(
  d: Buffer,
  start: number,
  end: number,
  t: LogicalType & { readonly fraction: number },
): Uint8Array | null {
  const zone = zoneLength(d, start, end);
  if (zone > 0 && t.is !== 'timestamp') return null;
  const n = end - zone - start;
  if (n < SECONDS_END || n > cell.length) return null;
  d.copy(cell, 0, start, end - zone);
  if (cell[10] === LETTER_T) cell[10] = SPACE;
  if (!isDateTime(cell, 0, n, t.fraction)) return null;
  const minutes = zone === 0 ? 0 : zoneMinutes(d, end, zone);
  if (Number.isNaN(minutes) || (minutes !== 0 && !shift(-minutes))) return null;
  return cell.subarray(0, n);
}
