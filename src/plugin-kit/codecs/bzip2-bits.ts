/** Reads bits, the highest of each byte first. Behind the end it reads whatever is there: look at `overrun`. */
export class BitReader {
  readonly buffer: Uint8Array;
  readonly end: number;
  /** Next byte to load. */
  #at: number;
  #bits = 0;
  /** Bits loaded and not yet read. */
  #count = 0;

  constructor(buffer: Uint8Array, start: number, end: number, skippedBits: number) {
    this.buffer = buffer;
    this.end = end;
    this.#at = start;
    if (skippedBits > 0) this.read(skippedBits);
  }

  /** Bits read, counted from the first byte of the buffer. */
  get position(): number {
    return this.#at * 8 - this.#count;
  }

  /** More was read than there is, so what was read means nothing. */
  get overrun(): boolean {
    return this.position > this.end * 8;
  }

  /** The next bits, 1 to 24, which stay. */
  peek(n: number): number {
    while (this.#count <= 24) {
      this.#bits = (this.#bits << 8) | (this.buffer[this.#at++] ?? 0);
      this.#count += 8;
    }
    return (this.#bits >>> (this.#count - n)) & ((1 << n) - 1);
  }

  drop(n: number): void {
    this.#count -= n;
  }

  read(n: number): number {
    const bits = this.peek(n);
    this.#count -= n;
    return bits;
  }

  read32(): number {
    return ((this.read(16) << 16) | this.read(16)) >>> 0;
  }
}
