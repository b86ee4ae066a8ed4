import { isUtf8 } from 'node:buffer';
import type { BatchBuilder } from 'syncx/plugin-api';
import { MinuteText } from './minute-text.js';

/** Why bytes are not what the schema says. */
export class AvroFault extends Error {}

const MOST_EXACT = 2 ** 25;
/** So few bytes are copied one by one: a call would cost more. */
const FEW = 100;
const NO_TEXT = 'a string is not valid UTF-8';
const CUT = 'the value ends too early';

/** Avro's binary encoding, one value behind the other; all methods move on. @throws AvroFault */
export class AvroBytes {
  bytes: Buffer = Buffer.alloc(0);
  at = 0;
  end = 0;
  readonly minutes = new MinuteText();

  take(bytes: Buffer, start: number, end: number): void {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
  }

  get left(): number {
    return this.end - this.at;
  }

  byte(): number {
    if (this.at >= this.end) throw new AvroFault(CUT);
    return this.bytes[this.at++] ?? 0;
  }

  boolean(): boolean {
    const b = this.byte();
    if (b > 1) throw new AvroFault(`a boolean is ${String(b)}`);
    return b === 1;
  }

  /** Zigzag, in groups of seven bits: a number where it is exact, else a bigint. */
  long(): number | bigint {
    const { bytes, end } = this;
    let { at } = this;
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      if (at >= end) throw new AvroFault(CUT);
      const b = bytes[at++] ?? 0;
      low |= (b & 127) << shift;
      if (b >= 128) continue;
      this.at = at;
      return (low >>> 1) ^ -(low & 1);
    }
    for (let shift = 0; shift < 28; shift += 7) {
      if (at >= end) throw new AvroFault(CUT);
      const b = bytes[at++] ?? 0;
      high |= (b & 127) << shift;
      if (b >= 128) continue;
      if (high >= MOST_EXACT) break;
      this.at = at;
      const u = high * 2 ** 28 + low;
      return u % 2 === 0 ? u / 2 : -(u + 1) / 2;
    }
    return this.#bigLong();
  }

  #bigLong(): bigint {
    let u = 0n;
    for (let i = 0; ; i++) {
      const b = this.byte();
      if (i === 9 && b > 1) throw new AvroFault('a number has more than 64 bits');
      u |= BigInt(b & 127) << BigInt(7 * i);
      if (b < 128) break;
    }
    return (u & 1n) === 0n ? u >> 1n : -(u >> 1n) - 1n;
  }

  int(): number {
    const n = this.long();
    if (typeof n === 'bigint' || n < -(2 ** 31) || n >= 2 ** 31) throw new AvroFault('an int has more than 32 bits');
    return n;
  }

  /** Of items or bytes, which must be there. */
  size(): number {
    const n = this.long();
    if (typeof n === 'bigint' || n < 0) throw new AvroFault(`a length is ${String(n)}`);
    if (n > this.left) throw new AvroFault(CUT);
    return n;
  }

  float(): number {
    this.skip(4);
    return this.bytes.readFloatLE(this.at - 4);
  }

  double(): number {
    this.skip(8);
    return this.bytes.readDoubleLE(this.at - 8);
  }

  skip(n: number): void {
    if (n > this.left) throw new AvroFault(CUT);
    this.at += n;
  }

  /** Appends the next `n` bytes as a cell; `text`: they must be UTF-8. */
  append(n: number, builder: BatchBuilder, text: boolean): void {
    const { bytes, at } = this;
    this.skip(n);
    if (n > FEW) {
      if (text && !isUtf8(bytes.subarray(at, this.at))) throw new AvroFault(NO_TEXT);
      builder.appendBytes(bytes, at, this.at);
      return;
    }
    builder.reserve(n, 1);
    const { data } = builder;
    let o = builder.length;
    let all = 0;
    for (let p = at; p < this.at; p++) {
      const b = bytes[p] ?? 0;
      all |= b;
      data[o++] = b;
    }
    if (text && all >= 128 && !isUtf8(bytes.subarray(at, this.at))) throw new AvroFault(NO_TEXT);
    builder.length = o;
    builder.ends[builder.cells++] = o;
  }

  /** Moves behind a text of `n` bytes that must be UTF-8. */
  skipText(n: number): void {
    const start = this.at;
    this.skip(n);
    if (!isUtf8(this.bytes.subarray(start, this.at))) throw new AvroFault(NO_TEXT);
  }
}
