import {
  ATTRIBUTES,
  BASE_OFFSET,
  BASE_TIMESTAMP,
  BATCH_LENGTH,
  BEFORE_LENGTH,
  CODEC_BITS,
  CONTROL,
  CRC,
  HEADER_BYTES,
  LAST_OFFSET_DELTA,
  LOG_APPEND_TIME,
  MAGIC,
  MAX_TIMESTAMP,
  RECORD_COUNT,
  TRANSACTIONAL,
  int64At,
} from './batch-layout.js';
import { CODECS, type Codec } from './codec.js';
import { crc32c } from './crc32c.js';
import { batchPlace, damagedBatch, hugeOffset, oldFormat, unknownCodec } from './wire-faults.js';

export interface BatchHeader {
  /** Where it begins in the buffer. */
  readonly start: number;
  readonly end: number;
  readonly baseOffset: number;
  readonly lastOffset: number;
  readonly codec: Codec;
  readonly baseTimestamp: number;
  /** Of all records; null: each has its own. */
  readonly appendTime: number | null;
  readonly control: boolean;
  readonly transactional: boolean;
  readonly records: number;
  /** topic-partition@offset */
  readonly place: string;
}

/** Bytes of the batch that begins there, as it says itself; null: not even that is there. Format 2 or older. */
export function batchSizeAt(bytes: Buffer, start: number): number | null {
  if (bytes.length - start < BEFORE_LENGTH) return null;
  return BEFORE_LENGTH + bytes.readInt32BE(start + BATCH_LENGTH);
}

/**
 * The header of a batch that is wholly there. `place`: topic-partition.
 * @throws SyncError SOURCE_FORMAT: damaged, of an old format, or of a codec that nobody knows.
 */
export function batchHeaderAt(bytes: Buffer, start: number, size: number, place: string): BatchHeader {
  const baseOffset = int64At(bytes, start + BASE_OFFSET);
  const at = batchPlace(place, baseOffset);
  const magic = size > MAGIC ? bytes.readInt8(start + MAGIC) : -1;
  if (magic === 0 || magic === 1) throw oldFormat(at, magic);
  if (size < HEADER_BYTES) throw damagedBatch(at, `its length is ${String(size)} bytes`);
  if (magic !== 2) throw damagedBatch(at, `its format is ${String(magic)}, not 2`);
  const end = start + size;
  const wanted = bytes.readUInt32BE(start + CRC);
  const found = crc32c(bytes.subarray(start + ATTRIBUTES, end));
  if (found !== wanted) throw damagedBatch(at, `its CRC-32C is ${hex(found)}, not ${hex(wanted)}`);
  const attributes = bytes.readInt16BE(start + ATTRIBUTES);
  const codec = CODECS[attributes & CODEC_BITS];
  if (codec === undefined) throw unknownCodec(at, attributes & CODEC_BITS);
  const lastOffset = baseOffset + bytes.readInt32BE(start + LAST_OFFSET_DELTA);
  // The next one is told too, as the offset to go on at.
  if (!Number.isSafeInteger(lastOffset + 1) || baseOffset < 0) throw hugeOffset(place);
  const records = bytes.readInt32BE(start + RECORD_COUNT);
  if (records < 0 || lastOffset < baseOffset) throw damagedBatch(at, 'its header has negative counts');
  return {
    start,
    end,
    baseOffset,
    lastOffset,
    codec,
    baseTimestamp: int64At(bytes, start + BASE_TIMESTAMP),
    appendTime: (attributes & LOG_APPEND_TIME) === 0 ? null : int64At(bytes, start + MAX_TIMESTAMP),
    control: (attributes & CONTROL) !== 0,
    transactional: (attributes & TRANSACTIONAL) !== 0,
    records,
    place: at,
  };
}

function hex(crc: number): string {
  return crc.toString(16).padStart(8, '0');
}
