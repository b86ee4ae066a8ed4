import type { MadeColumn } from './columns.js';

/**
 * Writes a column's cell of a row at `at` and returns the offset behind it. `row` counts from 1 in its split. A cell
 * depends on its split, column and row only, so that what is read again after a restart is the same.
 */
export type CellWriter = (data: Buffer, at: number, row: number) => number;

export interface Generator {
  readonly write: CellWriter;
  /** Most bytes of a cell. */
  readonly bytes: number;
}

export interface SplitFacts {
  readonly index: number;
  /** Added to the row for the counter, and what the row is multiplied with before. */
  readonly idStep: number;
  readonly idOffset: number;
  /** ms since 1970: the time of row 0. */
  readonly baseTime: number;
  /** ms from one row to the next. */
  readonly timeStep: number;
}

const ZERO = 48;
const ALPHABET = Buffer.from('abcdefghijklmnopqrstuvwxyz0123456789');
const DAY = 86_400_000;

/** 32 well-mixed bits of a seed and a row (the finisher of MurmurHash3). */
function mix(seed: number, row: number): number {
  let h = Math.imul(row ^ seed, 0x85eb_ca6b) ^ Math.imul(row, 0x27d4_eb2f);
  h ^= h >>> 16;
  h = Math.imul(h, 0x85eb_ca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2_ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Writes a whole number from 0 to 2^53 - 1. */
function writeUint(data: Buffer, at: number, value: number): number {
  let digits = 1;
  for (let p = 10; p <= value; p *= 10) digits++;
  let i = at + digits;
  let v = value;
  while (v > 0x7fff_ffff) {
    const q = Math.floor(v / 10);
    data[--i] = ZERO + (v - q * 10);
    v = q;
  }
  v |= 0;
  while (i > at) {
    const q = (v / 10) | 0;
    data[--i] = ZERO + (v - q * 10);
    v = q;
  }
  return at + digits;
}

/** Writes the lowest `digits` digits of a number below 2^31, with zeros in front. */
function writeFixed(data: Buffer, at: number, value: number, digits: number): number {
  let v = value | 0;
  for (let i = at + digits - 1; i >= at; i--) {
    const q = (v / 10) | 0;
    data[i] = ZERO + (v - q * 10);
    v = q;
  }
  return at + digits;
}

function uintBelow(seed: number, limit: number): Generator {
  if (limit <= 0x1_0000_0000) {
    return { bytes: 10, write: (d, at, row) => writeUint(d, at, Math.floor((mix(seed, row) / 0x1_0000_0000) * limit)) };
  }
  const high = limit / 0x1_0000_0000;
  return {
    bytes: 16,
    write: (d, at, row) => {
      const h = Math.floor((mix(seed, row) / 0x1_0000_0000) * high);
      return writeUint(d, at, h * 0x1_0000_0000 + mix(seed ^ 0x5bd1_e995, row));
    },
  };
}

/** A number with a fraction whose last digit is not 0: so it is the shortest text of a float, too. */
function fraction(seed: number, whole: number, digits: number): Generator {
  if (digits === 0) return uintBelow(seed, whole);
  const tenth = 10 ** (digits - 1);
  return {
    bytes: 12 + digits,
    write: (d, at, row) => {
      const h = mix(seed, row);
      let i = writeUint(d, at, whole === 1 ? 0 : h % whole);
      d[i++] = 46;
      const f = mix(seed ^ 0x9e37_79b9, row);
      i = writeFixed(d, i, f % tenth, digits - 1);
      d[i++] = ZERO + 1 + (h % 9);
      return i;
    },
  };
}

function text(seed: number, longest: number): Generator {
  const most = Math.min(longest, 16);
  const least = Math.min(most, 6);
  return {
    bytes: most,
    write: (d, at, row) => {
      let h = mix(seed, row);
      const n = least + (h % (most - least + 1));
      for (let i = 0; i < n; i++) {
        // A character takes 5 bits and more; refill before they run out.
        if (i % 5 === 0) h = mix(seed ^ (i + 1), row);
        d[at + i] = ALPHABET[h % 36] ?? ZERO;
        h = (h / 36) | 0;
      }
      return at + n;
    },
  };
}

/** `YYYY-MM-DD HH:MM:SS` with `digits` of a fraction; the text of a second is kept while rows stay in it. */
function moment(facts: SplitFacts, digits: number, from: number, to: number): Generator {
  let second = Number.NaN;
  const cached = Buffer.alloc(19);
  return {
    bytes: 30,
    write: (d, at, row) => {
      const ms = facts.baseTime + Math.floor((row - 1) * facts.timeStep);
      const s = Math.floor(ms / 1000);
      if (s !== second) {
        second = s;
        cached.write(new Date(s * 1000).toISOString().slice(0, 19).replace('T', ' '), 'latin1');
      }
      let i = at;
      for (let k = from; k < to; k++) d[i++] = cached[k] ?? ZERO;
      if (digits === 0) return i;
      d[i++] = 46;
      i = writeFixed(
        d,
        i,
        digits >= 3 ? ms - s * 1000 : Math.floor((ms - s * 1000) / 10 ** (3 - digits)),
        Math.min(3, digits),
      );
      for (let k = 3; k < digits; k++) d[i++] = ZERO;
      return i;
    },
  };
}

function constant(value: string): Generator {
  const bytes = Buffer.from(value);
  return {
    bytes: bytes.length,
    write: (d, at) => {
      d.set(bytes, at);
      return at + bytes.length;
    },
  };
}

const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');

export function generatorOf(c: MadeColumn, column: number, facts: SplitFacts): Generator {
  if (typeof c.constant === 'string') return constant(c.constant);
  if (c.counter) {
    const { idStep, idOffset } = facts;
    return { bytes: 16, write: (d, at, row) => writeUint(d, at, (row - 1) * idStep + 1 + idOffset) };
  }
  const seed = mix(facts.index + 1, column + 1);
  const t = c.type;
  switch (t.is) {
    case 'int8':
      return uintBelow(seed, 2 ** 7);
    case 'uint8':
      return uintBelow(seed, 2 ** 8);
    case 'int16':
      return uintBelow(seed, 2 ** 15);
    case 'uint16':
      return uintBelow(seed, 2 ** 16);
    case 'int32':
      return uintBelow(seed, 2 ** 31);
    case 'uint32':
      return uintBelow(seed, 2 ** 32);
    case 'int64':
    case 'uint64':
      return uintBelow(seed, 2 ** 53);
    case 'bit':
      return uintBelow(seed, 2 ** Math.min(t.length, 32));
    case 'float32':
      return fraction(seed, 1000, 3);
    case 'float64':
      return fraction(seed, 1_000_000, 6);
    case 'decimal':
      return fraction(seed, 10 ** Math.min(t.precision - t.scale, 9), Math.min(t.scale, 6));
    case 'boolean':
      return {
        bytes: 5,
        write: (d, at, row) => {
          const word = (mix(seed, row) & 1) === 1 ? TRUE : FALSE;
          d.set(word, at);
          return at + word.length;
        },
      };
    case 'date':
      return moment({ ...facts, timeStep: DAY }, 0, 0, 10);
    case 'time':
      return moment(facts, t.fraction, 11, 19);
    case 'datetime':
    case 'timestamp':
      return moment(facts, t.fraction, 0, 19);
    case 'year':
      return moment(facts, 0, 0, 4);
    case 'json':
      return {
        bytes: 32,
        write: (d, at, row) => {
          let i = at + d.write('{"n":', at, 'latin1');
          i = writeUint(d, i, row);
          d[i++] = 125;
          return i;
        },
      };
    case 'binary':
      return {
        bytes: 8,
        write: (d, at, row) => d.writeUInt32LE(mix(~seed, row), d.writeUInt32LE(mix(seed, row), at)),
      };
    case 'string':
      return text(seed, c.length ?? 16);
    case 'enum':
    case 'set':
    case 'geometry':
      return text(seed, 8);
  }
}
