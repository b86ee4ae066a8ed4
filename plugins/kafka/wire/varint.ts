/**
 * Zigzag varints, as they stand in records. Reading gives two numbers, the value and where it ends; the second one stands
 * in {@link varintEnd}, so that nothing is allocated per record. Reading beyond the buffer gives zeros: callers check
 * ends, not each byte.
 */

/** Where the varint that was read last ends. Far beyond any buffer: it had more bytes than a varint may have. */
export let varintEnd = 0;

const NO_END = 0x7fffffff;

/** An int32. */
export function readVarint(bytes: Uint8Array, at: number): number {
  let b = bytes[at++] ?? 0;
  let n = b & 127;
  if (b >= 128) {
    b = bytes[at++] ?? 0;
    n |= (b & 127) << 7;
    if (b >= 128) {
      b = bytes[at++] ?? 0;
      n |= (b & 127) << 14;
      if (b >= 128) {
        b = bytes[at++] ?? 0;
        n |= (b & 127) << 21;
        if (b >= 128) {
          b = bytes[at++] ?? 0;
          n |= b << 28;
          if (b >= 128) at = NO_END;
        }
      }
    }
  }
  varintEnd = at;
  return (n >>> 1) ^ -(n & 1);
}

/** An int64 as number; inexact where it is no safe integer. */
export function readVarlong(bytes: Uint8Array, at: number): number {
  let b = bytes[at++] ?? 0;
  let low = b & 127;
  let half = 0;
  let unit = 0x8000000; // 2^27: half of the weight of the fifth byte
  let shift = 7;
  while (b >= 128 && shift < 70) {
    b = bytes[at++] ?? 0;
    if (shift < 28) {
      low |= (b & 127) << shift;
    } else {
      half += (b & 127) * unit;
      unit *= 128;
    }
    shift += 7;
  }
  varintEnd = b >= 128 ? NO_END : at;
  half += low >>> 1;
  return (low & 1) === 0 ? half : -half - 1;
}

/** Bytes of an int32. */
export function varintSize(value: number): number {
  const n = ((value << 1) ^ (value >> 31)) >>> 0;
  return n < 0x80 ? 1 : n < 0x4000 ? 2 : n < 0x200000 ? 3 : n < 0x10000000 ? 4 : 5;
}

/** Where it ends. */
export function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  let n = ((value << 1) ^ (value >> 31)) >>> 0;
  while (n >= 128) {
    bytes[at++] = (n & 127) | 128;
    n >>>= 7;
  }
  bytes[at++] = n;
  return at;
}

const INT32_HALF = 0x40000000;

/** Bytes of a safe integer. */
export function varlongSize(value: number): number {
  if (value >= -INT32_HALF && value < INT32_HALF) return varintSize(value);
  let size = 1;
  // Twice a safe integer may be none: its lowest 7 bits are split off before it is doubled.
  for (let n = Math.floor((value < 0 ? -value - 1 : value) / 64); n > 0; n = Math.floor(n / 128)) size++;
  return size;
}

/** A safe integer. Where it ends. */
export function writeVarlong(bytes: Uint8Array, at: number, value: number): number {
  if (value >= -INT32_HALF && value < INT32_HALF) return writeVarint(bytes, at, value);
  const half = value < 0 ? -value - 1 : value;
  let bits = ((half % 64) << 1) | (value < 0 ? 1 : 0);
  let n = Math.floor(half / 64);
  while (n > 0) {
    bytes[at++] = bits | 128;
    bits = n % 128;
    n = Math.floor(n / 128);
  }
  bytes[at++] = bits;
  return at;
}
