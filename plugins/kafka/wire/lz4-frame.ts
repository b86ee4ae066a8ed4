import { codecModule } from './codec-modules.js';

const FRAME = 0x184d2204;
const BLOCK_CHECKSUM = 16;
const CONTENT_SIZE = 8;
const CONTENT_CHECKSUM = 4;
const DICTIONARY = 1;
const STORED = 0x80000000;

/**
 * All frames, one behind the other. Null: they hold more than `limit` bytes.
 * @throws Error, where they are damaged.
 */
export function readLz4(bytes: Buffer, limit: number): Buffer | null {
  const frames = lz4Frames(bytes);
  // The decoder has no limit of its own. Blocks are seldom full: only where they might be too much they are measured.
  const most = frames.reduce((sum, f) => sum + f.blocks.length * f.blockMax, 0);
  if (most > limit && exactSize(bytes, frames) > limit) return null;
  const { decompressFrameSync } = codecModule('lz4-napi');
  const parts = frames.map((f) => decompressFrameSync(bytes.subarray(f.start, f.end)));
  return parts.length === 1 ? (parts[0] ?? null) : Buffer.concat(parts);
}

interface Block {
  readonly start: number;
  readonly end: number;
  readonly stored: boolean;
}

interface Frame {
  readonly start: number;
  readonly end: number;
  readonly blockMax: number;
  readonly blocks: readonly Block[];
}

function lz4Frames(bytes: Buffer): readonly Frame[] {
  const frames: Frame[] = [];
  let at = 0;
  do {
    const frame = frameAt(bytes, at);
    frames.push(frame);
    at = frame.end;
  } while (at < bytes.length);
  return frames;
}

function frameAt(bytes: Buffer, start: number): Frame {
  if (start + 7 > bytes.length) throw new Error('an lz4 frame is cut');
  if (bytes.readUInt32LE(start) !== FRAME) throw new Error('it does not begin as an lz4 frame');
  const flags = bytes.readUInt8(start + 4);
  const blockMax = 1 << (8 + 2 * ((bytes.readUInt8(start + 5) >> 4) & 7));
  let at = start + 7 + ((flags & CONTENT_SIZE) === 0 ? 0 : 8) + ((flags & DICTIONARY) === 0 ? 0 : 4);
  const blockTail = (flags & BLOCK_CHECKSUM) === 0 ? 0 : 4;
  const blocks: Block[] = [];
  for (;;) {
    if (at + 4 > bytes.length) throw new Error('an lz4 frame is cut');
    const word = bytes.readUInt32LE(at);
    at += 4;
    if (word === 0) break;
    const end = at + (word & ~STORED);
    blocks.push({ start: at, end, stored: word >= STORED });
    at = end + blockTail;
  }
  const end = at + ((flags & CONTENT_CHECKSUM) === 0 ? 0 : 4);
  if (end > bytes.length) throw new Error('an lz4 frame is cut');
  return { start, end, blockMax, blocks };
}

function exactSize(bytes: Buffer, frames: readonly Frame[]): number {
  let size = 0;
  for (const { blocks } of frames) {
    for (const b of blocks) size += b.stored ? b.end - b.start : blockSize(bytes, b.start, b.end);
  }
  return size;
}

/** Adds up literals and matches, without copying any. */
function blockSize(bytes: Buffer, start: number, end: number): number {
  let at = start;
  let size = 0;
  const longer = (nibble: number): number => {
    let length = nibble;
    if (nibble === 15) {
      let b = 255;
      while (b === 255 && at < end) {
        b = bytes[at++] ?? 0;
        length += b;
      }
    }
    return length;
  };
  while (at < end) {
    const token = bytes[at++] ?? 0;
    const literals = longer(token >> 4);
    at += literals;
    size += literals;
    if (at >= end) break; // the last sequence has no match
    at += 2;
    size += longer(token & 15) + 4;
  }
  return size;
}
