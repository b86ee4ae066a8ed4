import { SyncError } from 'syncx/plugin-api';

const TWO_32 = 0x1_0000_0000;

/**
 * The body of an answer, read in the order of its fields. Buffers are views of the answer, not copies.
 * @throws RangeError where the answer is shorter than its fields; SyncError where an int64 is no safe integer.
 */
export class ResponseBytes {
  readonly #buf: Buffer;
  #at = 0;
  /** How long the broker asks us to be quiet; it also holds us back by itself. */
  throttleMs = 0;

  constructor(buf: Buffer) {
    this.#buf = buf;
  }

  #take(bytes: number): number {
    const at = this.#at;
    if (bytes < 0 || at + bytes > this.#buf.length) throw new RangeError('the answer ends too early');
    this.#at += bytes;
    return at;
  }

  i8(): number {
    return this.#buf.readInt8(this.#take(1));
  }

  bool(): boolean {
    return this.i8() !== 0;
  }

  i16(): number {
    return this.#buf.readInt16BE(this.#take(2));
  }

  i32(): number {
    return this.#buf.readInt32BE(this.#take(4));
  }

  bigI64(): bigint {
    return this.#buf.readBigInt64BE(this.#take(8));
  }

  /** Offsets and timestamps. */
  i64(): number {
    const at = this.#take(8);
    const v = this.#buf.readInt32BE(at) * TWO_32 + this.#buf.readUInt32BE(at + 4);
    if (Number.isSafeInteger(v)) return v;
    throw new SyncError('SOURCE_FORMAT', `the broker answers with the offset or time ${String(v)}, beyond 2^53`);
  }

  throttle(): void {
    this.throttleMs = this.i32();
  }

  uvarint(): number {
    let v = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#buf.readUInt8(this.#take(1));
      v += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return v;
    }
    throw new RangeError('a length is out of range');
  }

  #text(bytes: number): string {
    const at = this.#take(bytes);
    return this.#buf.toString('utf8', at, at + bytes);
  }

  nullableString(): string | null {
    const bytes = this.i16();
    return bytes < 0 ? null : this.#text(bytes);
  }

  string(): string {
    return this.nullableString() ?? '';
  }

  compactNullableString(): string | null {
    const bytes = this.uvarint() - 1;
    return bytes < 0 ? null : this.#text(bytes);
  }

  compactString(): string {
    return this.compactNullableString() ?? '';
  }

  /** As Java's clients show it; null: all zeros, which is none. */
  uuid(): string | null {
    const at = this.#take(16);
    const bytes = this.#buf.subarray(at, at + 16);
    return bytes.every((b) => b === 0) ? null : bytes.toString('base64url');
  }

  /** Empty where it is null. */
  bytes(): Buffer {
    const length = Math.max(0, this.i32());
    const at = this.#take(length);
    return this.#buf.subarray(at, at + length);
  }

  /** Empty where it is null. */
  array<T>(read: () => T): readonly T[] {
    return this.#items(this.i32(), read);
  }

  compactArray<T>(read: () => T): readonly T[] {
    return this.#items(this.uvarint() - 1, read);
  }

  #items<T>(count: number, read: () => T): readonly T[] {
    const items: T[] = [];
    for (let i = 0; i < count; i++) items.push(read());
    return items;
  }

  tags(): void {
    for (let left = this.uvarint(); left > 0; left--) {
      this.uvarint();
      this.#take(this.uvarint());
    }
  }
}
