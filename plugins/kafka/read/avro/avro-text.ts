/** Values of logical types as the texts of cells (docs/specs/cells.md). */
import { AvroFault } from './avro-bytes.js';
import type { MinuteText } from './minute-text.js';

/** Digits of a two's complement number, most significant byte first; no byte is 0. */
export function decimalText(
  b: Buffer,
  start: number,
  end: number,
  { precision, scale }: { readonly precision: number; readonly scale: number },
): string {
  const n = end === start ? 0n : BigInt.asIntN((end - start) * 8, BigInt(`0x${b.toString('hex', start, end)}`));
  const digits = (n < 0n ? -n : n).toString();
  if (digits.length > precision)
    throw new AvroFault(`a decimal has ${String(digits.length)} digits, not at most ${String(precision)}`);
  const padded = digits.padStart(scale + 1, '0');
  const text = scale === 0 ? digits : `${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
  return n < 0n ? `-${text}` : text;
}

const two = (n: number): string => (n < 10 ? `0${String(n)}` : String(n));

const DAY_MS = 86_400_000;
const FIRST_MS = Date.parse('0000-01-01T00:00:00Z');
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

function isoOf(ms: number): string {
  if (!(ms >= FIRST_MS && ms <= LAST_MS)) throw new AvroFault('a time is outside of the years 0000 to 9999');
  return new Date(ms).toISOString();
}

export const dateText = (days: number): string => isoOf(days * DAY_MS).slice(0, 10);

/** Milliseconds before (rounded down) and the digits of the fraction. */
function split(n: number | bigint, fraction: 3 | 6 | 9): readonly [number, string] {
  const unit = 10 ** fraction;
  let seconds: number;
  let rest: number;
  if (typeof n === 'number') {
    seconds = Math.floor(n / unit);
    rest = n - seconds * unit;
    if (rest < 0 || rest >= unit) [seconds, rest] = bigSplit(BigInt(n), BigInt(unit)); // n / unit was rounded up
  } else [seconds, rest] = bigSplit(n, BigInt(unit));
  return [seconds, String(rest).padStart(fraction, '0')];
}

function bigSplit(n: bigint, unit: bigint): [number, number] {
  const rest = ((n % unit) + unit) % unit;
  return [Number((n - rest) / unit), Number(rest)];
}

/** `2024-03-31 01:30:00.123`, of a number of thousandths, millionths or billionths since 1970. */
export function timestampText(n: number | bigint, fraction: 3 | 6 | 9, minutes: MinuteText): string {
  const [seconds, rest] = split(n, fraction);
  const minute = Math.floor(seconds / 60);
  return `${minutes.of(minute, isoOf)}${two(seconds - minute * 60)}.${rest}`;
}

const MOST_SECONDS = 838 * 3600 + 59 * 60 + 59;

/** `01:30:00.123`, of thousandths or millionths since midnight. */
export function timeText(n: number | bigint, fraction: 3 | 6 | 9): string {
  const negative = n < 0;
  const [seconds, rest] = split(negative ? -n : n, fraction);
  if (seconds > MOST_SECONDS) throw new AvroFault('a time of day has more than 838 hours');
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return `${negative ? '-' : ''}${two(h)}:${two(m)}:${two(s)}.${rest}`;
}

/** Of 16 bytes. */
export function uuidText(b: Buffer, start: number): string {
  const hex = b.toString('hex', start, start + 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
