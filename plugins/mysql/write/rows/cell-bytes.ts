/** Cells as SQL literals and as fields of LOAD DATA, byte by byte: no string a cell. The caller has made room in `out`. */

/** Writes `data[start .. end]` to `out` from `at` on. @returns the offset behind it; {@link REFUSED}: it is no value of the column. */
export type CellWriter = (data: Buffer, start: number, end: number, out: Buffer, at: number) => number;

export const REFUSED = -1;
/** Room that a cell may need beside twice its own bytes: quotes, a prefix, and the digits of a short exponent. */
export const CELL_ROOM = 160;

const QUOTE = 39;
const BACKSLASH = 92;
const TAB = 9;
const NEWLINE = 10;
/** From here on the engine's own copy is faster than a loop. */
const LONG = 48;

export function copyBytes(data: Buffer, start: number, end: number, out: Buffer, at: number): number {
  if (end - start > LONG) {
    data.copy(out, at, start, end);
    return at + end - start;
  }
  while (start < end) out[at++] = data[start++] ?? 0;
  return at;
}

/** In quotes; for text that has neither quotes nor backslashes (dates, numbers). */
export function quotePlain(data: Buffer, start: number, end: number, out: Buffer, at: number): number {
  out[at++] = QUOTE;
  at = copyBytes(data, start, end, out, at);
  out[at++] = QUOTE;
  return at;
}

/** Our sessions have no NO_BACKSLASH_ESCAPES; a NUL, a newline and any other byte stand for themselves. */
function escapeLiteral(data: Buffer, start: number, end: number, out: Buffer, at: number): number {
  if (end - start <= LONG) {
    while (start < end) {
      const b = data[start++] ?? 0;
      if (b === QUOTE || b === BACKSLASH) out[at++] = BACKSLASH;
      out[at++] = b;
    }
    return at;
  }
  let clean = start;
  for (let i = start; i < end; i++) {
    const b = data[i] ?? 0;
    if (b !== QUOTE && b !== BACKSLASH) continue;
    at = copyBytes(data, clean, i, out, at);
    out[at++] = BACKSLASH;
    clean = i;
  }
  return copyBytes(data, clean, end, out, at);
}

export function quoteText(data: Buffer, start: number, end: number, out: Buffer, at: number): number {
  out[at++] = QUOTE;
  at = escapeLiteral(data, start, end, out, at);
  out[at++] = QUOTE;
  return at;
}

const BINARY = Buffer.from('_binary');

/** `_binary'…'`: half the bytes of x'…', and the server takes any byte in it, be it valid in the session's charset or not. */
export function quoteBinary(data: Buffer, start: number, end: number, out: Buffer, at: number): number {
  return quoteText(data, start, end, out, copyBytes(BINARY, 0, BINARY.length, out, at));
}

/** A field of LOAD DATA: tabs end fields, newlines lines. */
export function fieldText(data: Buffer, start: number, end: number, out: Buffer, at: number): number {
  if (end - start <= LONG) {
    while (start < end) {
      const b = data[start++] ?? 0;
      if (b > NEWLINE && b !== BACKSLASH) out[at++] = b;
      else at = fieldByte(b, out, at);
    }
    return at;
  }
  let clean = start;
  for (let i = start; i < end; i++) {
    const b = data[i] ?? 0;
    if (b !== TAB && b !== NEWLINE && b !== BACKSLASH) continue;
    at = fieldByte(b, out, copyBytes(data, clean, i, out, at));
    clean = i + 1;
  }
  return copyBytes(data, clean, end, out, at);
}

function fieldByte(b: number, out: Buffer, at: number): number {
  if (b === TAB || b === NEWLINE || b === BACKSLASH) {
    out[at++] = BACKSLASH;
    b = b === TAB ? 116 : b === NEWLINE ? 110 : BACKSLASH;
  }
  out[at++] = b;
  return at;
}

const HEX = Buffer.from('0123456789ABCDEF');

/** For `unhex(@field)`. */
export function fieldHex(data: Buffer, start: number, end: number, out: Buffer, at: number): number {
  while (start < end) {
    const b = data[start++] ?? 0;
    out[at++] = HEX[b >> 4] ?? 0;
    out[at++] = HEX[b & 15] ?? 0;
  }
  return at;
}

/** `true` and `false` as 1 and 0. */
export function zeroOrOne(data: Buffer, start: number, _end: number, out: Buffer, at: number): number {
  out[at] = data[start] === 116 ? 49 : 48;
  return at + 1;
}
