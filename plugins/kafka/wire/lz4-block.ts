/**
 * Blocks of LZ4, in JavaScript: the native packages give each result as external memory, which costs a garbage
 * collector more than the decoding (90 MB/s of batches of 16 KB, against 500 here).
 *
 * A block is sequences of: token (literals << 4 | match - 4), more length of literals, literals, offset of the match
 * (uint16, little-endian), more length of the match. The last one ends behind its literals.
 */

/** Bytes that a block will be. What is no block gives some number. */
export function lz4BlockSize(from: Buffer, start: number, end: number): number {
  let at = start;
  let size = 0;
  while (at < end) {
    const token = from[at++] ?? 0;
    let literals = token >> 4;
    if (literals === 15) {
      let b = 255;
      while (b === 255 && at < end) literals += b = from[at++] ?? 0;
    }
    at += literals;
    size += literals;
    if (at >= end) break;
    at += 2;
    let match = token & 15;
    if (match === 15) {
      let b = 255;
      while (b === 255 && at < end) match += b = from[at++] ?? 0;
    }
    size += match + 4;
  }
  return size;
}

/** From here on a copy by the engine is faster than a loop. */
const LONG = 64;

/**
 * Where the block ends in `to`. Matches may go back to `floor`.
 * @throws Error: it is no block, or larger than `to` has room for.
 */
export function readLz4Block(
  from: Buffer,
  start: number,
  end: number,
  to: Buffer,
  toStart: number,
  floor: number,
): number {
  let at = start;
  let put = toStart;
  while (at < end) {
    const token = from[at++] ?? 0;
    let literals = token >> 4;
    if (literals === 15) {
      let b = 255;
      while (b === 255 && at < end) literals += b = from[at++] ?? 0;
    }
    if (at + literals > end || put + literals > to.length) throw damaged();
    if (literals > LONG) {
      to.set(from.subarray(at, at + literals), put);
      at += literals;
      put += literals;
    } else {
      for (const stop = at + literals; at < stop;) to[put++] = from[at++] ?? 0;
    }
    if (at === end) return put;
    const back = (from[at] ?? 0) | ((from[at + 1] ?? 0) << 8);
    at += 2;
    let match = token & 15;
    if (match === 15) {
      let b = 255;
      while (b === 255 && at < end) match += b = from[at++] ?? 0;
    }
    match += 4;
    let source = put - back;
    if (back === 0 || source < floor || at >= end || put + match > to.length) throw damaged();
    if (match > LONG && match <= back) {
      to.copyWithin(put, source, source + match);
      put += match;
    } else {
      // The match may reach into what it makes itself.
      for (const stop = put + match; put < stop;) to[put++] = to[source++] ?? 0;
    }
  }
  throw damaged();
}

function damaged(): Error {
  return new Error('an lz4 block is damaged');
}

const HASH_BITS = 13;
/** Where in the block, plus one, four bytes with this hash were last seen. */
const seen = new Uint16Array(1 << HASH_BITS);
const MIN_MATCH = 4;
/** A match must not begin within the last 12 bytes, nor reach into the last 5. */
const NO_MATCH_BEGINS = 12;
const NO_MATCH_ENDS = 5;

/**
 * The block of `from`, at most 64 KiB minus one. Where it ends in `to`; null: `room` bytes are too few, and it is not
 * worth while. One pass that looks at the last place of each hash only, as LZ4's fast mode.
 */
export function writeLz4Block(
  from: Buffer,
  start: number,
  end: number,
  to: Buffer,
  toStart: number,
  room: number,
): number | null {
  seen.fill(0);
  const stop = toStart + room;
  const lastBegin = end - NO_MATCH_BEGINS;
  const lastEnd = end - NO_MATCH_ENDS;
  let put = toStart;
  let anchor = start;
  let at = start;
  let misses = 0;
  while (at < lastBegin) {
    const word = wordAt(from, at);
    const hash = Math.imul(word, 0x9e3779b1) >>> (32 - HASH_BITS);
    let source = start + (seen[hash] ?? 0) - 1;
    seen[hash] = at - start + 1;
    if (source < start || wordAt(from, source) !== word) {
      at += 1 + (misses++ >> 6);
      continue;
    }
    misses = 0;
    while (at > anchor && source > start && from[at - 1] === from[source - 1]) {
      at--;
      source--;
    }
    let to4 = at + MIN_MATCH;
    for (let s = source + MIN_MATCH; to4 < lastEnd && from[to4] === from[s]; s++) to4++;
    const literals = at - anchor;
    const match = to4 - at - MIN_MATCH;
    // Token, offset, both lengths' further bytes, with some to spare.
    if (put + literals + ((literals + match) >> 7) + 8 > stop) return null;
    to[put++] = ((literals < 15 ? literals : 15) << 4) | (match < 15 ? match : 15);
    put = putLiterals(from, anchor, literals, to, put);
    const back = at - source;
    to[put++] = back & 255;
    to[put++] = back >> 8;
    if (match >= 15) put = putLength(to, put, match - 15);
    at = to4;
    anchor = at;
  }
  const literals = end - anchor;
  if (put + literals + (literals >> 7) + 8 > stop) return null;
  to[put++] = (literals < 15 ? literals : 15) << 4;
  return putLiterals(from, anchor, literals, to, put);
}

function wordAt(from: Buffer, at: number): number {
  return (from[at] ?? 0) | ((from[at + 1] ?? 0) << 8) | ((from[at + 2] ?? 0) << 16) | ((from[at + 3] ?? 0) << 24);
}

function putLiterals(from: Buffer, start: number, literals: number, to: Buffer, toStart: number): number {
  let put = literals >= 15 ? putLength(to, toStart, literals - 15) : toStart;
  if (literals > LONG) {
    to.set(from.subarray(start, start + literals), put);
    return put + literals;
  }
  for (let at = start; at < start + literals; at++) to[put++] = from[at] ?? 0;
  return put;
}

function putLength(to: Buffer, at: number, length: number): number {
  let left = length;
  for (; left >= 255; left -= 255) to[at++] = 255;
  to[at++] = left;
  return at;
}
