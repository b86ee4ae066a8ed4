import { failedAt, skipSpace, skipString, skipValue } from 'syncx/plugin-kit';

const QUOTE = 34;

/**
 * Where the values of some keys of a JSON object stand; no value is made. Used again for the next object. Keys count as
 * they are written: one with escapes is none of those that are looked for.
 */
export class ObjectFields {
  /** Of the value of each key, in their order; -1: the object lacks it. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly #keys: readonly Buffer[];
  readonly #names: readonly string[];
  #likely = 0;

  constructor(names: readonly string[]) {
    this.#names = names;
    this.#keys = names.map((n) => Buffer.from(n));
    this.starts = new Int32Array(names.length);
    this.ends = new Int32Array(names.length);
  }

  /** `at`: the brace. @returns the offset behind the object, or what is wrong with it. */
  scan(b: Buffer, at: number, end: number): number | string {
    this.starts.fill(-1);
    let i = skipSpace(b, at + 1, end);
    if (i < end && b[i] === 125) return i + 1;
    for (;;) {
      if (i >= end || b[i] !== QUOTE) return notJson(i, at);
      const keyEnd = skipString(b, i + 1, end);
      if (keyEnd < 0) return notJson(failedAt(), at);
      const key = this.#find(b, i + 1, keyEnd - 1);
      i = skipSpace(b, keyEnd, end);
      if (i >= end || b[i] !== 58) return notJson(i, at);
      const start = skipSpace(b, i + 1, end);
      i = skipValue(b, start, end);
      if (i < 0) return notJson(failedAt(), at);
      if (key >= 0) {
        if ((this.starts[key] ?? 0) >= 0) return `the key \`${this.#names[key] ?? ''}\` stands twice`;
        this.starts[key] = start;
        this.ends[key] = i;
      }
      i = skipSpace(b, i, end);
      if (i < end && b[i] === 125) return i + 1;
      if (i >= end || b[i] !== 44) return notJson(i, at);
      i = skipSpace(b, i + 1, end);
    }
  }

  #find(b: Buffer, start: number, end: number): number {
    const n = this.#keys.length;
    for (let k = 0; k < n; k++) {
      const at = (this.#likely + k) % n;
      const key = this.#keys[at];
      if (key === undefined || !sameBytes(b, start, end, key)) continue;
      this.#likely = (at + 1) % n;
      return at;
    }
    return -1;
  }
}

/** Keys and names are short: a loop is faster than a call of `compare`. */
export function sameBytes(b: Buffer, start: number, end: number, text: Buffer): boolean {
  const length = end - start;
  if (text.length !== length) return false;
  for (let i = 0; i < length; i++) if (b[start + i] !== text[i]) return false;
  return true;
}

const notJson = (at: number, from: number): string => `the value is not JSON, from byte ${String(at - from)} on`;

/** A piece of a buffer; a start of -1: there is none. */
export interface Span {
  start: number;
  end: number;
}

/** False also for null. */
export const isThere = (b: Buffer, s: Span): boolean => s.start >= 0 && b[s.start] !== 110;

/** The text of a JSON string. Null: it is none. */
export function textAt(b: Buffer, s: Span): string | null {
  if (s.start < 0 || b[s.start] !== QUOTE) return null;
  const text = b.toString('utf8', s.start + 1, s.end - 1);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}
