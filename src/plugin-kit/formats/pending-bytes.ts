import { isUtf8 } from 'node:buffer';

/** Below this many bytes a record that is still open is scanned again with every chunk. */
const RESCAN_ALWAYS = 4096;
const LF = 10;

/**
 * The bytes of a file that were pushed and not yet consumed, in one piece, with one spare byte behind them for a
 * sentinel. An open record that grows is scanned again only when it has doubled, so tiny chunks stay linear.
 */
export class PendingBytes {
  buffer: Buffer = Buffer.allocUnsafeSlow(1 << 16);
  start = 0;
  end = 0;
  /** No more bytes will come. */
  last = false;
  /** True: a scan may find a whole record. */
  ready = false;
  #scanAgainAt = 0;

  get size(): number {
    return this.end - this.start;
  }

  push(chunk: Uint8Array, last: boolean): void {
    const size = this.size;
    if (this.end + chunk.length + 1 > this.buffer.length) {
      if (size + chunk.length + 1 > this.buffer.length) {
        const grown = Buffer.allocUnsafeSlow(Math.max(size + chunk.length + 1, size * 2));
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
    // Without a new line feed an open record stays open.
    if (last) this.ready = true;
    else if (!this.ready && chunk.includes(LF))
      this.ready = this.size < RESCAN_ALWAYS || this.size >= this.#scanAgainAt;
  }

  /** `bytes[start .. end]` and nothing else, all that will come, with so many line feeds behind it. */
  hold(bytes: Buffer, start: number, end: number, feeds: number): void {
    const size = end - start;
    if (size + feeds + 1 > this.buffer.length) this.buffer = Buffer.allocUnsafeSlow((size + feeds) * 2 + 1);
    bytes.copy(this.buffer, 0, start, end);
    for (let i = 0; i < feeds; i++) this.buffer[size + i] = LF;
    this.start = 0;
    this.end = size + feeds;
    this.last = true;
    this.ready = true;
  }

  /** Valid up to the last line feed, behind which no whole record ends: one fast check instead of one per row. */
  isValidUtf8(): boolean {
    const end = this.last ? this.end : this.buffer.lastIndexOf(LF, this.end - 1) + 1;
    return end <= this.start || isUtf8(this.buffer.subarray(this.start, end));
  }

  /**
   * The scan consumed bytes up to `start` and found no whole record in the rest. `inQuotes`: a line feed need not end
   * the open record; else the next one does, and is never waited past.
   */
  exhausted(start: number, inQuotes: boolean): void {
    this.start = start;
    this.ready = false;
    this.#scanAgainAt = inQuotes ? this.size * 2 : 0;
  }
}
