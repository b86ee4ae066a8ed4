import { constants, gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { Codec } from './codec.js';
import { MissingModule, codecModule } from './codec-modules.js';
import { writeLz4 } from './lz4-frame.js';
import { writeSnappy } from './snappy-blocks.js';
import { missingCodec } from './wire-faults.js';

const gzipped = promisify(gzip);

/**
 * Gzip and zstd work in other threads; `bytes` must stay as they are until they are done. `level` is for these two;
 * null: the codec's own.
 * @throws SyncError PLUGIN_BROKEN: the codec cannot be loaded.
 */
export function compress(codec: Exclude<Codec, 'none'>, level: number | null, bytes: Buffer): Buffer | Promise<Buffer> {
  try {
    switch (codec) {
      case 'gzip':
        return gzipped(bytes, { level: level ?? constants.Z_DEFAULT_COMPRESSION });
      case 'snappy':
        return writeSnappy(bytes);
      case 'lz4':
        return writeLz4(bytes);
      case 'zstd':
        return codecModule('@mongodb-js/zstd').compress(bytes, level ?? undefined);
    }
  } catch (e) {
    if (e instanceof MissingModule) throw missingCodec(`A record batch with the compression ${codec}`, codec, e);
    throw e;
  }
}
