/** From so many on a piece of its own costs less than a copy. */
const LONG = 4096;

/**
 * The body of a request, in the protocol's primitive types. Grows as needed; compact types are those of flexible versions.
 * Long bytes are not copied: it is a list of pieces.
 */
export class RequestBytes {
  readonly #before: Buffer[] = [];
  #buf: Buffer;
  #at = 0;

  constructor(size = 256) {
    this.#buf = Buffer.allocUnsafe(size);
  }

  #room(bytes: number): number {
    const at = this.#at;
    if (at + bytes > this.#buf.length) {
      const grown = Buffer.allocUnsafe(Math.max(this.#buf.length * 2, at + bytes));
      this.#buf.copy(grown, 0, 0, at);
      this.#buf = grown;
    }
    this.#at += bytes;
    return at;
  }

  i8(v: number): void {
    const at = this.#room(1);
    this.#buf.writeInt8(v, at);
  }

  bool(v: boolean): void {
    this.i8(v ? 1 : 0);
  }

  i16(v: number): void {
    const at = this.#room(2);
    this.#buf.writeInt16BE(v, at);
  }

  i32(v: number): void {
    const at = this.#room(4);
    this.#buf.writeInt32BE(v, at);
  }

  i64(v: number | bigint): void {
    const at = this.#room(8);
    this.#buf.writeBigInt64BE(BigInt(v), at);
  }

  uvarint(v: number): void {
    let rest = v;
    while (rest > 0x7f) {
      this.i8(((rest & 0x7f) | 0x80) - 0x100);
      rest >>>= 7;
    }
    this.i8(rest);
  }

  string(v: string | null): void {
    if (v === null) {
      this.i16(-1);
      return;
    }
    const bytes = Buffer.byteLength(v, 'utf8');
    this.i16(bytes);
    const at = this.#room(bytes);
    this.#buf.write(v, at, 'utf8');
  }

  compactString(v: string): void {
    const bytes = Buffer.byteLength(v, 'utf8');
    this.uvarint(bytes + 1);
    const at = this.#room(bytes);
    this.#buf.write(v, at, 'utf8');
  }

  /** The id of no topic. */
  noUuid(): void {
    this.i64(0);
    this.i64(0);
  }

  /** They must stay as they are until the request is sent. */
  bytes(v: Buffer): void {
    this.i32(v.length);
    if (v.length < LONG) {
      const at = this.#room(v.length); // it may make another buffer
      v.copy(this.#buf, at);
      return;
    }
    this.#before.push(this.#buf.subarray(0, this.#at), v);
    this.#buf = this.#buf.subarray(this.#at);
    this.#at = 0;
  }

  array<T>(items: readonly T[] | null, write: (item: T) => void): void {
    this.i32(items === null ? -1 : items.length);
    items?.forEach(write);
  }

  compactArray<T>(items: readonly T[] | null, write: (item: T) => void): void {
    this.uvarint(items === null ? 0 : items.length + 1);
    items?.forEach(write);
  }

  /** No tagged fields; ends each structure of a flexible version. */
  noTags(): void {
    this.i8(0);
  }

  finish(): readonly Buffer[] {
    return [...this.#before, this.#buf.subarray(0, this.#at)];
  }
}
