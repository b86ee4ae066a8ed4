import { createHash } from 'node:crypto';
import type { Finding } from 'syncx/plugin-api';
import { daysOf } from 'syncx/plugin-kit';

export const DEFAULT_BUCKET_FORMAT = 'yyyy-MM-dd--HH';
export const NULL_BUCKET = '__NULL__';
const EMPTY_BUCKET = '__EMPTY__';
/** File systems take 255 bytes. */
const MOST_BYTES = 200;

/** A name that is a folder of its own below the target: never hidden, never one of another value, never elsewhere. */
export function bucketName(value: string): string {
  if (value === '') return EMPTY_BUCKET;
  const name = value.replace(
    /[\u0000-\u001f\u007f%/\\]|^[._]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
  const bytes = Buffer.from(name);
  if (bytes.length <= MOST_BYTES) return name;
  const hash = createHash('sha256').update(value).digest('hex').slice(0, 32);
  // Cut between characters; the hash keeps values apart that begin alike, and no name ends in a bare %.
  const head = bytes
    .subarray(0, MOST_BYTES - 40)
    .toString('utf8')
    .replace(/\ufffd$|%.?$/u, '');
  return `${head}%~${hash}`;
}

/** The parts of a local date and time. */
export interface TimeParts {
  readonly year: string;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

const TOKEN = /'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+/g;
const two = (n: number): string => String(n).padStart(2, '0');

const FIELDS: Readonly<Record<string, (t: TimeParts) => string>> = {
  yyyy: (t) => t.year,
  MM: (t) => two(t.month),
  dd: (t) => two(t.day),
  HH: (t) => two(t.hour),
  mm: (t) => two(t.minute),
  ss: (t) => two(t.second),
};

/** A pattern of Java's kind as a function; null: not one. */
function compiled(pattern: string): readonly ((t: TimeParts) => string)[] | null {
  const parts: ((t: TimeParts) => string)[] = [];
  let length = 0;
  for (const [token] of pattern.matchAll(TOKEN)) {
    length += token.length;
    if (/^[A-Za-z]/.test(token)) {
      const field = FIELDS[token];
      if (field === undefined) return null;
      parts.push(field);
      continue;
    }
    const text = token === "''" ? "'" : token.startsWith("'") ? token.slice(1, -1).replaceAll("''", "'") : token;
    parts.push(() => text);
  }
  return length === pattern.length && length > 0 ? parts : null;
}

export function checkBucketFormat(pattern: string): readonly Finding[] {
  if (compiled(pattern) === null) {
    const message = `\`${pattern}\` is not a pattern of dates and times`;
    return [{ path: 'bucketFormat', message, hint: "It has yyyy, MM, dd, HH, mm, ss, and other text in 'quotes'." }];
  }
  if (!pattern.includes('/')) return [];
  return [{ path: 'bucketFormat', message: 'a bucket is one folder, so its name holds no /' }];
}

/** @returns names of folders. */
export function timeBuckets(pattern: string): (t: TimeParts) => string {
  const parts = compiled(pattern) ?? [];
  return (t) => bucketName(parts.map((p) => p(t)).join(''));
}

/** In the time zone of the process. `at`: milliseconds since 1970. */
export function localParts(at: number): TimeParts {
  const d = new Date(at);
  return {
    year: String(d.getFullYear()).padStart(4, '0'),
    month: d.getMonth() + 1,
    day: d.getDate(),
    hour: d.getHours(),
    minute: d.getMinutes(),
    second: d.getSeconds(),
  };
}

const DATE_TIME = /^(\d{4,})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?)?$/;

/** Of a date or time as cells hold it; null: it is none. */
export function partsOfText(text: string): TimeParts | null {
  const m = DATE_TIME.exec(text);
  if (!m) return null;
  const [, year = '', ...rest] = m;
  const [month = 0, day = 0, hour = 0, minute = 0, second = 0] = rest.map((digits = '0') => Number(digits));
  // A text column may hold anything. MySQL's zero dates are dates, as in cells.
  if (month > 12 || day > (daysOf(Number(year), month) || 31)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  return { year, month, day, hour, minute, second };
}

/** Milliseconds within which a pattern cannot give two names, in any time zone. */
export function grainOf(pattern: string): number {
  const bare = pattern.replace(/'[^']*'/g, '');
  return bare.includes('s') ? 1000 : bare.includes('m') ? 60_000 : 900_000;
}
