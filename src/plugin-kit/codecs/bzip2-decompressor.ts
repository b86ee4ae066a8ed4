import { BitReader } from './bzip2-bits.js';
import { BlockFault, readBlock, type Bzip2Block } from './bzip2-block.js';
import { CodecFaults } from './codec-faults.js';
import type { Decompressor } from './decompressor.js';
import { PendingInput } from './pending-input.js';

const LEVEL = 100_000;
/** What a block takes more than its bytes, if nothing in it could be compressed. */
const OVERHEAD = 32 << 10;
/** Bytes that equal ones must make in a row for the next byte to count more of them. */
const RUN = 4;

// Signed, as the sums are: unsigned ones do not fit the engine's small integers.
const CRC_TABLE = Int32Array.from({ length: 256 }, (_, i) => {
  let crc = i << 24;
  for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc < 0 ? 0x04c11db7 : 0);
  return crc;
});

/**
 * bzip2, block after block and stream after stream (parallel programs write many into one file). A block is handed out
 * only when its checksum is right.
 */
export class Bzip2Decompressor implements Decompressor {
  readonly #input = new PendingInput();
  readonly #faults: CodecFaults;
  /** Room for a block of the stream; null: the stream's header comes next. */
  #links: Int32Array | null = null;
  /** Bits of the next byte that belong to the block before. */
  #skippedBits = 0;
  #streamCrc = 0;
  /** No block is looked for in fewer bytes. */
  #enough = 0;
  #out = Buffer.alloc(0);

  constructor(place: string) {
    this.#faults = new CodecFaults(place, 'bzip2', '.bz2', this.#input);
  }

  push(chunk: Uint8Array, last: boolean): void {
    this.#input.push(chunk, last);
  }

  next(): Uint8Array | null {
    for (;;) {
      if (this.#links === null) {
        if (!this.#beginStream()) return null;
        continue;
      }
      if (this.#input.size < this.#enough && !this.#input.last) return null;
      const out = this.#readPart(this.#links);
      if (out === null) return null;
      if (out.length > 0) return out;
    }
  }

  #beginStream(): boolean {
    const input = this.#input;
    // Even nothing is written as an empty stream.
    if (input.size === 0 && input.last && input.used === 0) throw this.#faults.cut();
    if (input.size === 0 || (input.size < 4 && !input.last)) return false;
    const header = input.buffer.toString('latin1', input.start, Math.min(input.end, input.start + 4));
    if (!/^BZh[1-9]$/.test(header)) throw this.#faults.notThis();
    input.take(4);
    const bytes = LEVEL * Number(header[3]);
    this.#links = new Int32Array(bytes);
    this.#enough = bytes + OVERHEAD;
    this.#streamCrc = 0;
    this.#skippedBits = 0;
    return true;
  }

  /** A block, or the end of the stream (no bytes). Null: more input is needed. */
  #readPart(links: Int32Array): Uint8Array | null {
    const input = this.#input;
    const bits = new BitReader(input.buffer, input.start, input.end, this.#skippedBits);
    const part = this.#tryPart(bits, links);
    if (part === null) {
      if (input.last) throw this.#faults.cut();
      this.#enough = input.size * 2;
      return null;
    }
    this.#enough = links.length + OVERHEAD;
    if (part !== 'end') {
      const out = this.#restore(part);
      this.#moveTo(bits.position);
      return out;
    }
    const wanted = bits.read32();
    if (bits.overrun) {
      if (input.last) throw this.#faults.cut();
      return null;
    }
    if (wanted !== this.#streamCrc) throw this.#faults.damaged('the checksum of a stream is wrong');
    this.#moveTo(Math.ceil(bits.position / 8) * 8);
    this.#links = null;
    return new Uint8Array(0);
  }

  #moveTo(position: number): void {
    this.#input.take((position >>> 3) - this.#input.start);
    this.#skippedBits = position & 7;
  }

  /** Null: the input ends in it. */
  #tryPart(bits: BitReader, links: Int32Array): Bzip2Block | 'end' | null {
    try {
      const magic = [bits.read(24), bits.read(24)].map((n) => n.toString(16).padStart(6, '0')).join('');
      if (magic === '314159265359') {
        const block = readBlock(bits, links);
        return bits.overrun ? null : block;
      }
      if (magic === '177245385090') return 'end';
      throw new BlockFault('a block does not begin as one');
    } catch (e) {
      if (bits.overrun) return null;
      if (e instanceof BlockFault) throw this.#faults.damaged(e.message, e);
      throw e;
    }
  }

  /** The bytes of a block: each fifth behind four equal ones counts how many more of them follow. */
  #restore({ crc: wanted, links, count, origin }: Bzip2Block): Uint8Array {
    let out = this.#out.length < count ? Buffer.allocUnsafeSlow(count + (count >> 3)) : this.#out;
    let length = 0;
    let crc = -1;
    let at = origin;
    let run = 0;
    let before = -1;
    for (let i = 0; i < count; i++) {
      const link = links[at] ?? 0;
      const byte = link & 0xff;
      at = link >>> 8;
      let copies = 1;
      let copied = byte;
      if (run === RUN) {
        copies = byte;
        copied = before;
        run = 0;
        before = -1;
      } else {
        run = byte === before ? run + 1 : 1;
        before = byte;
      }
      if (length + copies > out.length) {
        const grown = Buffer.allocUnsafeSlow(out.length * 2 + copies);
        out.copy(grown, 0, 0, length);
        out = grown;
      }
      for (let c = 0; c < copies; c++) {
        out[length++] = copied;
        crc = (crc << 8) ^ (CRC_TABLE[(crc >>> 24) ^ copied] ?? 0);
      }
    }
    this.#out = out;
    if (~crc >>> 0 !== wanted) throw this.#faults.damaged('the checksum of a block is wrong');
    this.#streamCrc = (((this.#streamCrc << 1) | (this.#streamCrc >>> 31)) ^ wanted) >>> 0;
    return out.subarray(0, length);
  }
}
