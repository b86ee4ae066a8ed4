import { openDecompressor } from 'syncx/plugin-kit';
import { optionalModule } from './codec-modules.js';

const FRAME = 0xfd2fb528;
const SKIPPABLE = 0x184d2a50;
const MAX_BLOCK = 128 << 10;
const RLE = 1;

/**
 * All frames, one behind the other. Null: they hold more than `limit` bytes.
 * @throws Error, where they are damaged.
 */
export async function readZstd(bytes: Buffer, limit: number, at: string): Promise<Buffer | null> {
  // The native decoder has no limit of its own: what might be too much for it is decoded piece by piece.
  const native = mostBytes(bytes) > limit ? null : optionalModule('@mongodb-js/zstd');
  if (native !== null) return native.decompress(bytes);
  const decoder = await openDecompressor('zstd', at);
  decoder.push(bytes, true);
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let part = decoder.next(); part !== null; part = decoder.next()) {
    size += part.length;
    if (size > limit) return null;
    parts.push(Uint8Array.from(part));
  }
  return Buffer.concat(parts, size);
}

/** No more than this is in the frames: each block says its size, or is of 128 KiB at most. */
function mostBytes(bytes: Buffer): number {
  let most = 0;
  let at = 0;
  while (at + 8 <= bytes.length) {
    const magic = bytes.readUInt32LE(at);
    if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE) {
      at += 8 + bytes.readUInt32LE(at + 4);
      continue;
    }
    if (magic !== FRAME) break; // the decoder says what is wrong
    const flags = bytes.readUInt8(at + 4);
    const single = (flags & 32) !== 0;
    at += 5 + (single ? 0 : 1) + ([0, 1, 2, 4][flags & 3] ?? 0) + ([single ? 1 : 0, 2, 4, 8][flags >> 6] ?? 0);
    for (let last = false; !last && at + 3 <= bytes.length;) {
      const header = bytes.readUIntLE(at, 3);
      const type = (header >> 1) & 3;
      const size = header >> 3;
      last = (header & 1) === 1;
      most += type < 2 ? size : MAX_BLOCK;
      at += 3 + (type === RLE ? 1 : size);
    }
    at += (flags & 4) === 0 ? 0 : 4;
  }
  return most;
}
