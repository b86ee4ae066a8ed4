/**
 * A byte scanner for JSON (RFC 8259): finds where values end and whether they are JSON, without making any value. Numbers
 * keep the digits of the source that way. All offsets are into `b`; -1 means: not JSON at `failedAt()`.
 */
const QUOTE = 34;
const BACKSLASH = 92;
const MAX_DEPTH = 512;

/** 1: a byte that a string may hold as it is (also all bytes of multi-byte characters). */
const PLAIN = new Uint8Array(256).fill(1);
PLAIN.fill(0, 0, 32);
PLAIN[QUOTE] = 0;
PLAIN[BACKSLASH] = 0;

/** 1: the letters that may follow a backslash, `u` apart. */
const ESCAPED = new Uint8Array(256);
for (const c of '"\\/bfnrt') ESCAPED[c.charCodeAt(0)] = 1;

let failed = 0;

/** Where the last scan that answered -1 saw the first byte that does not fit. */
export function failedAt(): number {
  return failed;
}

function fail(at: number): -1 {
  failed = at;
  return -1;
}

export function skipSpace(b: Uint8Array, i: number, end: number): number {
  while (i < end) {
    const c = b[i];
    if (c !== 32 && c !== 10 && c !== 13 && c !== 9) break;
    i++;
  }
  return i;
}

const isHex = (c: number): boolean => (c >= 48 && c <= 57) || (c >= 65 && c <= 70) || (c >= 97 && c <= 102);

/** `i` is behind the opening quote. @returns the offset behind the closing quote, or -1. */
export function skipString(b: Uint8Array, i: number, end: number): number {
  while (i < end) {
    const c = b[i] ?? 0;
    if (PLAIN[c] === 1) {
      i++;
      continue;
    }
    if (c === QUOTE) return i + 1;
    if (c !== BACKSLASH || i + 1 >= end) return fail(i);
    const e = b[i + 1] ?? 0;
    if (ESCAPED[e] === 1) i += 2;
    else if (e === 117 && i + 6 <= end) {
      for (let j = i + 2; j < i + 6; j++) if (!isHex(b[j] ?? 0)) return fail(j);
      i += 6;
    } else return fail(i + 1);
  }
  return fail(end);
}

function digits(b: Uint8Array, i: number, end: number): number {
  const first = i;
  while (i < end && (b[i] ?? 0) >= 48 && (b[i] ?? 0) <= 57) i++;
  return i === first ? fail(i) : i;
}

export function skipNumber(b: Uint8Array, i: number, end: number): number {
  if (b[i] === 45) i++;
  if (b[i] === 48 && i < end) i++;
  else {
    i = digits(b, i, end);
    if (i < 0) return i;
  }
  if (i < end && b[i] === 46) {
    i = digits(b, i + 1, end);
    if (i < 0) return i;
  }
  if (i < end && (b[i] === 101 || b[i] === 69)) {
    i++;
    if (b[i] === 43 || b[i] === 45) i++;
    i = digits(b, i, end);
  }
  return i;
}

function skipWord(b: Uint8Array, i: number, end: number, word: string): number {
  for (let j = 0; j < word.length; j++) if (i + j >= end || b[i + j] !== word.charCodeAt(j)) return fail(i + j);
  return i + word.length;
}

/** `i` is at the value's first byte. @returns the offset behind the value, or -1. */
export function skipValue(b: Uint8Array, i: number, end: number, depth = 0): number {
  if (i >= end) return fail(i);
  switch (b[i]) {
    case QUOTE:
      return skipString(b, i + 1, end);
    case 123:
    case 91:
      return depth >= MAX_DEPTH ? fail(i) : skipContainer(b, i, end, depth + 1);
    case 116:
      return skipWord(b, i, end, 'true');
    case 102:
      return skipWord(b, i, end, 'false');
    case 110:
      return skipWord(b, i, end, 'null');
    default:
      return skipNumber(b, i, end);
  }
}

function skipContainer(b: Uint8Array, at: number, end: number, depth: number): number {
  const object = b[at] === 123;
  const close = object ? 125 : 93;
  let i = skipSpace(b, at + 1, end);
  if (i < end && b[i] === close) return i + 1;
  for (;;) {
    if (object) {
      if (i >= end || b[i] !== QUOTE) return fail(i);
      i = skipString(b, i + 1, end);
      if (i < 0) return i;
      i = skipSpace(b, i, end);
      if (i >= end || b[i] !== 58) return fail(i);
      i = skipSpace(b, i + 1, end);
    }
    i = skipValue(b, i, end, depth);
    if (i < 0) return i;
    i = skipSpace(b, i, end);
    if (i < end && b[i] === close) return i + 1;
    if (i >= end || b[i] !== 44) return fail(i);
    i = skipSpace(b, i + 1, end);
  }
}

/** True where the bytes are one JSON value, white space around it allowed. */
export function isJson(b: Uint8Array, start: number, end: number): boolean {
  const i = skipValue(b, skipSpace(b, start, end), end);
  return i >= 0 && skipSpace(b, i, end) === end;
}
