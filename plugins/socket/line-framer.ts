const LF = 10;
const CR = 13;
/** Of a line that is too long so much is kept, for the person who must find it. */
const KEPT_BYTES = 1024;
const FIRST_BUFFER = 4096;

/** A line that cannot be taken: its beginning, its whole length in bytes and its number in the connection, from 1. */
export interface LongLine {
  readonly head: Buffer;
  readonly length: number;
  readonly line: number;
}

/**
 * Cuts a stream of bytes into whole lines, whatever the packets they come in. A line that is too long leaves an empty one
 * in its place, so that those behind it keep their numbers.
 */
export class LineFramer {
  readonly #most: number;
  readonly #tooLong: (l: LongLine) => void;
  #rest = Buffer.allocUnsafe(FIRST_BUFFER);
  #length = 0;
  /** Bytes of the open line that were dropped, as it is too long. */
  #dropped = 0;
  #lines = 0;

  constructor(maxLineBytes: number, tooLong: (l: LongLine) => void) {
    this.#most = maxLineBytes;
    this.#tooLong = tooLong;
  }

  /** Lines that were given out. */
  get lines(): number {
    return this.#lines;
  }

  /** The line that is not whole yet. */
  get open(): { readonly bytes: Buffer; readonly length: number } {
    return { bytes: this.#rest.subarray(0, this.#length), length: this.#length + this.#dropped };
  }

  /** @returns whole lines, each with its line feed; empty: none is whole. They may be a part of the chunk. */
  push(chunk: Uint8Array): Buffer {
    const end = chunk.lastIndexOf(LF) + 1;
    if (end === 0) {
      this.#keep(chunk);
      return Buffer.alloc(0);
    }
    let from = 0;
    if (this.#length + this.#dropped > 0) {
      from = chunk.indexOf(LF) + 1;
      this.#keep(chunk.subarray(0, from - 1));
    }
    const first = from > 0 ? this.#finish() : null;
    const rest = this.#checked(Buffer.from(chunk.buffer, chunk.byteOffset + from, end - from));
    this.#keep(chunk.subarray(end));
    return first === null ? rest : Buffer.concat([first, rest]);
  }

  /** The stream has ended: what is left is a line, too. */
  end(): Buffer {
    return this.#length + this.#dropped === 0 ? Buffer.alloc(0) : this.#finish();
  }

  #keep(bytes: Uint8Array): void {
    if (this.#dropped > 0 || this.#length + bytes.length > this.#most + 1) {
      // A line end of two bytes may be under way: what is over by one byte, a CR, is judged at the line feed.
      const room = Math.max(0, Math.min(bytes.length, KEPT_BYTES - this.#length));
      this.#append(bytes.subarray(0, room));
      const kept = Math.min(this.#length, KEPT_BYTES);
      this.#dropped += bytes.length - room + this.#length - kept;
      this.#length = kept;
      if (this.#rest.length > FIRST_BUFFER) this.#rest = Buffer.from(this.#rest.subarray(0, KEPT_BYTES));
      return;
    }
    this.#append(bytes);
  }

  #append(bytes: Uint8Array): void {
    const need = this.#length + bytes.length;
    if (need > this.#rest.length) {
      const grown = Buffer.allocUnsafe(Math.max(need, this.#rest.length * 2));
      this.#rest.copy(grown, 0, 0, this.#length);
      this.#rest = grown;
    }
    this.#rest.set(bytes, this.#length);
    this.#length = need;
  }

  #finish(): Buffer {
    const line = Buffer.allocUnsafe(this.#length + 1);
    this.#rest.copy(line, 0, 0, this.#length);
    line[this.#length] = LF;
    const dropped = this.#dropped;
    this.#length = 0;
    this.#dropped = 0;
    if (this.#rest.length > 1 << 20) this.#rest = Buffer.allocUnsafe(FIRST_BUFFER);
    if (dropped === 0) return this.#checked(line);
    this.#lines++;
    this.#tooLong({ head: line.subarray(0, line.length - 1), length: line.length - 1 + dropped, line: this.#lines });
    return Buffer.from([LF]);
  }

  /** Counts whole lines, and empties those that are too long. */
  #checked(block: Buffer): Buffer {
    const long = block.length > this.#most + 1;
    const parts: Buffer[] = [];
    let from = 0;
    for (let at = 0; at < block.length;) {
      const lf = block.indexOf(LF, at);
      this.#lines++;
      if (long) {
        const end = lf > at && block[lf - 1] === CR ? lf - 1 : lf;
        if (end - at > this.#most) {
          const head = Buffer.from(block.subarray(at, Math.min(end, at + KEPT_BYTES)));
          this.#tooLong({ head, length: end - at, line: this.#lines });
          parts.push(block.subarray(from, at));
          from = lf;
        }
      }
      at = lf + 1;
    }
    return from === 0 ? block : Buffer.concat([...parts, block.subarray(from)]);
  }
}
