import { codecModule } from './codec-modules.js';

/** The Java library's framing: this, two version numbers, then blocks, each behind its length. */
const JAVA_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]);
const JAVA_HEADER = Buffer.concat([JAVA_MAGIC, Buffer.from([0, 0, 0, 1, 0, 0, 0, 1])]);
/** As the Java library: what its readers are used to. */
const JAVA_BLOCK = 32 << 10;
/** Results as external memory cost the garbage collector ten times what the copy does. */
const COPIED = { copyOutputData: true };

/**
 * Blocks with or without Java's framing. Null: they hold more than `limit` bytes.
 * @throws Error, where they are damaged.
 */
export function readSnappy(bytes: Buffer, limit: number): Buffer | null {
  const blocks = isJava(bytes, 0) ? javaBlocks(bytes) : [bytes];
  let size = 0;
  for (const block of blocks) size += sizeOf(block);
  if (size > limit) return null;
  const { uncompressSync } = codecModule('snappy');
  const parts = blocks.map((b) => uncompressSync(b, COPIED) as Buffer);
  return parts.length === 1 ? (parts[0] ?? null) : Buffer.concat(parts, size);
}

/** In Java's framing: what the Java client writes, and all others can read. */
export function writeSnappy(bytes: Buffer): Buffer {
  const { compressSync } = codecModule('snappy');
  const parts: Buffer[] = [JAVA_HEADER];
  for (let at = 0; at < bytes.length; at += JAVA_BLOCK) {
    const block = compressSync(bytes.subarray(at, at + JAVA_BLOCK), COPIED);
    const length = Buffer.allocUnsafe(4);
    length.writeInt32BE(block.length, 0);
    parts.push(length, block);
  }
  return Buffer.concat(parts);
}

function isJava(bytes: Buffer, at: number): boolean {
  return bytes.length >= at + JAVA_HEADER.length && bytes.compare(JAVA_MAGIC, 0, JAVA_MAGIC.length, at, at + 8) === 0;
}

function javaBlocks(bytes: Buffer): readonly Buffer[] {
  const blocks: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    // Streams may follow one another, each with a header of its own.
    if (isJava(bytes, at)) {
      at += JAVA_HEADER.length;
      continue;
    }
    const end = at + 4 + (at + 4 > bytes.length ? 0 : bytes.readUInt32BE(at));
    if (end > bytes.length || end === at + 4) throw new Error('a snappy block is cut');
    blocks.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return blocks;
}

/** A block begins with its size, as a plain varint. */
function sizeOf(block: Buffer): number {
  let size = 0;
  for (let i = 0; i < 5; i++) {
    const b = block[i];
    if (b === undefined) break;
    size += (b & 127) * 2 ** (7 * i);
    if (b < 128) return size;
  }
  throw new Error('a snappy block has no size');
}
