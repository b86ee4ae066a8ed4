import { gunzipSync } from 'node:zlib';
import type { SyncError } from 'syncx/plugin-api';
import type { Codec } from './codec.js';
import { MissingModule } from './codec-modules.js';
import { readLz4 } from './lz4-frame.js';
import { readSnappy } from './snappy-blocks.js';
import { damagedBatch, missingCodec, tooLargeBatch } from './wire-faults.js';
import { readZstd } from './zstd-frames.js';

/**
 * The records of a batch. All codecs but zstd, whose decoder is quick only in a thread of its own.
 * `limit`: no more bytes than these are made. `at`: topic-partition@offset.
 * @throws SyncError SOURCE_FORMAT where the bytes are damaged or hold more than `limit`.
 */
export function decompress(codec: 'gzip' | 'snappy' | 'lz4', bytes: Buffer, limit: number, at: string): Buffer {
  let out: Buffer | null;
  try {
    out =
      codec === 'gzip' ? gunzip(bytes, limit) : codec === 'snappy' ? readSnappy(bytes, limit) : readLz4(bytes, limit);
  } catch (e) {
    throw explained(e, codec, at);
  }
  if (out === null) throw tooLargeBatch(at, codec, limit);
  return out;
}

/** As {@link decompress}. */
export async function decompressZstd(bytes: Buffer, limit: number, at: string): Promise<Buffer> {
  let out: Buffer | null;
  try {
    out = await readZstd(bytes, limit, at);
  } catch (e) {
    throw explained(e, 'zstd', at);
  }
  if (out === null) throw tooLargeBatch(at, 'zstd', limit);
  return out;
}

function gunzip(bytes: Buffer, limit: number): Buffer | null {
  try {
    return gunzipSync(bytes, { maxOutputLength: limit });
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return null;
    throw e;
  }
}

function explained(e: unknown, codec: Codec, at: string): SyncError {
  if (e instanceof MissingModule) return missingCodec(`The record batch at ${at}`, codec, e);
  return damagedBatch(
    at,
    `its ${codec} data cannot be decompressed (${e instanceof Error ? e.message : String(e)})`,
    e,
  );
}
