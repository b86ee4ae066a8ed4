/**
 * A record batch of format 2: a header of fixed size, then the records, compressed or not. Numbers are big-endian, those
 * in records are zigzag varints. The CRC-32C goes from the attributes to the end of the batch.
 */
export const BASE_OFFSET = 0;
/** int32: bytes behind this field. */
export const BATCH_LENGTH = 8;
export const LEADER_EPOCH = 12;
export const MAGIC = 16;
export const CRC = 17;
export const ATTRIBUTES = 21;
export const LAST_OFFSET_DELTA = 23;
export const BASE_TIMESTAMP = 27;
export const MAX_TIMESTAMP = 35;
export const PRODUCER_ID = 43;
export const PRODUCER_EPOCH = 51;
export const BASE_SEQUENCE = 53;
export const RECORD_COUNT = 57;
export const HEADER_BYTES = 61;
/** Base offset and length, which the length does not count. */
export const BEFORE_LENGTH = 12;

export const CODEC_BITS = 7;
/** All records have the broker's time, which is the batch's largest timestamp. */
export const LOG_APPEND_TIME = 8;
export const TRANSACTIONAL = 16;
/** Holds the end of a transaction, and no records of anyone's. */
export const CONTROL = 32;

/** An int64 as number; it may be inexact beyond 2^53. */
export function int64At(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) * 0x100000000 + bytes.readUInt32BE(at + 4);
}

/** `value`: a whole number within 2^53. */
export function putInt64(bytes: Buffer, at: number, value: number): void {
  bytes.writeInt32BE(Math.floor(value / 0x100000000), at);
  bytes.writeUInt32BE(value >>> 0, at + 4);
}
