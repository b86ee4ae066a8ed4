import { Decompress } from 'fzstd';
import xxhash, { type XXHash } from 'xxhash-wasm';
import { CodecFaults } from './codec-faults.js';
import type { Decompressor } from './decompressor.js';
import { PendingInput } from './pending-input.js';

const FRAME = 0xfd2fb528;
/** 16 numbers, for frames that decoders pass over. */
const SKIPPABLE = 0x184d2a50;
const MAX_BLOCK = 128 << 10;
/** As the zstd program, which takes more only where it is told to: it is memory of each reader. */
const MAX_WINDOW = 128 << 20;
const BLOCK_HEADER = 3;
const CHECKSUM = 4;

interface Frame {
  readonly decoder: Decompress;
  /** Null: the frame has no checksum. */
  readonly hash: XXHash<bigint> | null;
  /** Bytes that it says to hold; null: it says nothing. */
  readonly size: number | null;
  produced: number;
}

/**
 * zstd, frame after frame. fzstd decodes the blocks; it does not look at checksums, sizes and ends of frames, which is
 * done here: a damaged file must not become wrong rows.
 */
export class ZstdDecompressor implements Decompressor {
  readonly #input = new PendingInput();
  readonly #faults: CodecFaults;
  readonly #newHash: () => XXHash<bigint>;
  #frame: Frame | null = null;
  /** The frame's last block is decoded. */
  #behindBlocks = false;
  /** Bytes of a skippable frame that are still to pass over. */
  #skip = 0;
  readonly #out: Uint8Array[] = [];

  constructor(place: string, newHash: () => XXHash<bigint>) {
    this.#newHash = newHash;
    this.#faults = new CodecFaults(place, 'zstd', '.zst or .zstd', this.#input);
  }

  push(chunk: Uint8Array, last: boolean): void {
    this.#input.push(chunk, last);
  }

  next(): Uint8Array | null {
    for (;;) {
      const ready = this.#out.shift();
      if (ready !== undefined) return ready;
      const moved =
        this.#frame === null ? this.#begin() : this.#behindBlocks ? this.#end(this.#frame) : this.#block(this.#frame);
      if (!moved) return null;
    }
  }

  /** True: so many bytes are there. */
  #has(bytes: number): boolean {
    if (this.#input.size >= bytes) return true;
    if (this.#input.last) throw this.#faults.cut();
    return false;
  }

  #begin(): boolean {
    const input = this.#input;
    if (this.#skip > 0) {
      this.#skip -= input.take(Math.min(this.#skip, input.size)).length;
      if (this.#skip > 0 && input.last) throw this.#faults.cut();
      return this.#skip === 0;
    }
    if (input.size === 0) {
      // Even nothing is written as an empty frame.
      if (input.last && input.used === 0) throw this.#faults.cut();
      return false;
    }
    if (input.size < 4) {
      if (input.last) throw this.#faults.notThis();
      return false;
    }
    const magic = input.buffer.readUInt32LE(input.start);
    if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE) {
      if (!this.#has(8)) return false;
      this.#skip = input.take(8).readUInt32LE(4);
      return true;
    }
    if (magic !== FRAME) throw this.#faults.notThis();
    return this.#beginFrame();
  }

  #beginFrame(): boolean {
    const input = this.#input;
    if (!this.#has(5)) return false;
    const flags = input.buffer[input.start + 4] ?? 0;
    const single = (flags & 32) !== 0;
    const dictionaryBytes = [0, 1, 2, 4][flags & 3] ?? 0;
    const sizeBytes = [single ? 1 : 0, 2, 4, 8][flags >> 6] ?? 0;
    const windowBytes = single ? 0 : 1;
    const length = 5 + windowBytes + dictionaryBytes + sizeBytes;
    if (!this.#has(length)) return false;
    if ((flags & 8) !== 0) throw this.#faults.damaged('a reserved bit of a frame header is set');
    const header = Buffer.from(input.take(length));
    if (header.subarray(5 + windowBytes, length - sizeBytes).some((b) => b !== 0)) {
      throw this.#faults.refused('a zstd frame needs a dictionary, and none can be given');
    }
    const size = sizeOf(header, sizeBytes);
    const window = single ? (size ?? 0) : windowOf(header[5] ?? 0);
    if (window > MAX_WINDOW) {
      throw this.#faults.refused(`a zstd frame needs a window of ${String(window)} bytes; the most is 128 MiB`);
    }
    const hash = (flags & 4) === 0 ? null : this.#newHash();
    header[4] = flags & ~4; // fzstd must not wait for the checksum, which is taken here
    const decoder = new Decompress((bytes) => {
      if (bytes.length > 0) this.#out.push(bytes);
    });
    this.#frame = { decoder, hash, size, produced: 0 };
    this.#decode(this.#frame, header, false);
    return true;
  }

  #block(frame: Frame): boolean {
    const input = this.#input;
    if (!this.#has(BLOCK_HEADER)) return false;
    const header = input.buffer.readUIntLE(input.start, BLOCK_HEADER);
    const type = (header >> 1) & 3;
    const size = header >> 3;
    if (type === 3 || size > MAX_BLOCK) throw this.#faults.damaged('a block header is wrong');
    const length = BLOCK_HEADER + (type === 1 ? 1 : size);
    if (!this.#has(length)) return false;
    this.#behindBlocks = (header & 1) === 1;
    this.#decode(frame, Buffer.from(input.take(length)), this.#behindBlocks);
    return true;
  }

  #decode(frame: Frame, bytes: Buffer, last: boolean): void {
    try {
      frame.decoder.push(bytes, last);
    } catch (e) {
      throw this.#faults.damaged((e as Error).message, e);
    }
    for (const out of this.#out) {
      frame.hash?.update(out);
      frame.produced += out.length;
    }
  }

  #end(frame: Frame): boolean {
    if (frame.hash !== null) {
      if (!this.#has(CHECKSUM)) return false;
      const wanted = this.#input.take(CHECKSUM).readUInt32LE(0);
      if (Number(frame.hash.digest() & 0xffffffffn) !== wanted) throw this.#faults.damaged('the checksum is wrong');
    }
    if (frame.size !== null && frame.size !== frame.produced) {
      throw this.#faults.damaged(`a frame holds ${String(frame.produced)} bytes, not ${String(frame.size)}`);
    }
    this.#frame = null;
    this.#behindBlocks = false;
    return true;
  }
}

function sizeOf(header: Buffer, bytes: number): number | null {
  const at = header.length - bytes;
  if (bytes === 0) return null;
  if (bytes === 8) return Number(header.readBigUInt64LE(at));
  return header.readUIntLE(at, bytes) + (bytes === 2 ? 256 : 0);
}

function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

export async function openZstd(place: string): Promise<ZstdDecompressor> {
  const { create64 } = await xxhash();
  return new ZstdDecompressor(place, () => create64());
}
