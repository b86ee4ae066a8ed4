import { lz4BlockSize, readLz4Block, writeLz4Block } from './lz4-block.js';

const FRAME = 0x184d2204;
const BLOCKS_ALONE = 32;
const BLOCK_CHECKSUM = 16;
const CONTENT_SIZE = 8;
const CONTENT_CHECKSUM = 4;
const DICTIONARY = 1;
const STORED = 0x80000000;

interface Block {
  readonly start: number;
  readonly end: number;
  readonly stored: boolean;
}

interface Frame {
  readonly end: number;
  /** False: matches may reach into the blocks before. */
  readonly alone: boolean;
  readonly blocks: readonly Block[];
}

/**
 * All frames, one behind the other. Null: they hold more than `limit` bytes. The frames' own checksums are not looked at:
 * the batch's CRC is over all of these bytes.
 * @throws Error, where they are damaged.
 */
export function readLz4(bytes: Buffer, limit: number): Buffer | null {
  const frames: Frame[] = [];
  let size = 0;
  for (let at = 0; at < bytes.length || at === 0;) {
    const frame = frameAt(bytes, at);
    frames.push(frame);
    for (const b of frame.blocks) size += b.stored ? b.end - b.start : lz4BlockSize(bytes, b.start, b.end);
    if (size > limit) return null;
    at = frame.end;
  }
  const to = Buffer.allocUnsafeSlow(size);
  let put = 0;
  for (const { blocks, alone } of frames) {
    const frameStart = put;
    for (const { start, end, stored } of blocks) {
      if (stored) put += bytes.copy(to, put, start, end);
      else put = readLz4Block(bytes, start, end, to, put, alone ? put : frameStart);
    }
  }
  return to;
}

function frameAt(bytes: Buffer, start: number): Frame {
  if (start + 7 > bytes.length) throw cut();
  if (bytes.readUInt32LE(start) !== FRAME) throw new Error('this is no lz4 frame');
  const flags = bytes.readUInt8(start + 4);
  if (flags >> 6 !== 1) throw new Error(`an lz4 frame is of version ${String(flags >> 6)}`);
  if ((flags & DICTIONARY) !== 0) throw new Error('an lz4 frame needs a dictionary');
  let at = start + 7 + ((flags & CONTENT_SIZE) === 0 ? 0 : 8);
  const blockTail = (flags & BLOCK_CHECKSUM) === 0 ? 0 : 4;
  const blocks: Block[] = [];
  for (;;) {
    if (at + 4 > bytes.length) throw cut();
    const word = bytes.readUInt32LE(at);
    at += 4;
    if (word === 0) break;
    const end = at + (word & ~STORED);
    if (end + blockTail > bytes.length) throw cut();
    blocks.push({ start: at, end, stored: word >= STORED });
    at = end + blockTail;
  }
  const end = at + ((flags & CONTENT_CHECKSUM) === 0 ? 0 : 4);
  if (end > bytes.length) throw cut();
  return { end, alone: (flags & BLOCKS_ALONE) !== 0, blocks };
}

function cut(): Error {
  return new Error('an lz4 frame is cut');
}

/** Magic, flags (version 1, blocks alone), size of blocks (64 KiB), checksum of these two: as the Java client writes. */
const HEADER = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82];
/** A place in a block, plus one, fits 16 bits. */
const BLOCK = (64 << 10) - 1;

/** One frame. Its blocks stand alone: Java's reader takes no others. */
export function writeLz4(bytes: Buffer): Buffer {
  const blocks = Math.ceil(bytes.length / BLOCK);
  const to = Buffer.allocUnsafeSlow(HEADER.length + bytes.length + 4 * blocks + 4);
  to.set(HEADER, 0);
  let put = HEADER.length;
  for (let at = 0; at < bytes.length; at += BLOCK) {
    const end = Math.min(bytes.length, at + BLOCK);
    const length = put;
    const packed = writeLz4Block(bytes, at, end, to, put + 4, end - at);
    if (packed === null) bytes.copy(to, put + 4, at, end);
    put = packed ?? put + 4 + end - at;
    to.writeUInt32LE(packed === null ? (STORED | (end - at)) >>> 0 : packed - length - 4, length);
  }
  to.writeUInt32LE(0, put);
  return to.subarray(0, put + 4);
}
