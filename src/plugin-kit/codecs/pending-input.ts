/** Compressed bytes that were pushed and not yet used, in one piece. */
export class PendingInput {
  buffer: Buffer = Buffer.allocUnsafeSlow(1 << 16);
  start = 0;
  end = 0;
  /** No more bytes will come. */
  last = false;
  #used = 0;

  get size(): number {
    return this.end - this.start;
  }

  /** Bytes used so far. */
  get used(): number {
    return this.#used;
  }

  push(chunk: Uint8Array, last: boolean): void {
    const { size } = this;
    if (this.end + chunk.length > this.buffer.length) {
      if (size + chunk.length > this.buffer.length) {
        const grown = Buffer.allocUnsafeSlow(Math.max(size + chunk.length, this.buffer.length * 2));
        this.buffer.copy(grown, 0, this.start, this.end);
        this.buffer = grown;
      } else {
        this.buffer.copyWithin(0, this.start, this.end);
      }
      this.start = 0;
      this.end = size;
    }
    this.buffer.set(chunk, this.end);
    this.end += chunk.length;
    this.last = last;
  }

  /** The next bytes, valid until the next push. */
  take(bytes: number): Buffer {
    const taken = this.buffer.subarray(this.start, this.start + bytes);
    this.start += bytes;
    this.#used += bytes;
    return taken;
  }
}
