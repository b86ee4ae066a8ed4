import { SyncError } from 'syncx/plugin-api';
import {
  ATTRIBUTES,
  BASE_OFFSET,
  BASE_SEQUENCE,
  BASE_TIMESTAMP,
  BATCH_LENGTH,
  BEFORE_LENGTH,
  CRC,
  HEADER_BYTES,
  LAST_OFFSET_DELTA,
  LEADER_EPOCH,
  MAGIC,
  MAX_TIMESTAMP,
  PRODUCER_EPOCH,
  PRODUCER_ID,
  RECORD_COUNT,
  TRANSACTIONAL,
  putInt64,
} from './batch-layout.js';
import { CODECS, type Codec } from './codec.js';
import { compress } from './compress.js';
import { crc32c } from './crc32c.js';
import { varintSize, varlongSize, writeVarint, writeVarlong } from './varint.js';

export interface HeaderToWrite {
  readonly key: string;
  readonly value: Uint8Array | null;
}

/** Who writes a batch; -1s where nobody says so (not idempotent). */
export interface BatchProducer {
  readonly producerId: bigint;
  readonly producerEpoch: number;
  /** Of the batch's first record. */
  readonly baseSequence: number;
  readonly transactional: boolean;
}

export const NO_PRODUCER: BatchProducer = {
  producerId: -1n,
  producerEpoch: -1,
  baseSequence: -1,
  transactional: false,
};

const FIRST_CAPACITY = 16 << 10;
/** Int32 sizes all around; a broker takes about 1 MB anyway. */
const MAX_BYTES = 1 << 30;
const NONE = Buffer.alloc(0);
/** Longest varints: length, timestamp, offset, key and value length, count of headers; and the attributes. */
const RECORD_OVERHEAD = 5 + 10 + 5 + 5 + 5 + 5 + 1;

/** The most bytes that a record adds to a batch, before compression. */
export function mostRecordBytes(
  keyBytes: number,
  valueBytes: number,
  headers: readonly HeaderToWrite[] | null = null,
): number {
  return RECORD_OVERHEAD + keyBytes + valueBytes + (headers === null ? 0 : headersSize(headers));
}

/** Bytes of a batch without records. */
export const EMPTY_BATCH_BYTES = HEADER_BYTES;

/** Makes record batches, one after another; records are written where they will stay, in one buffer. */
export class BatchWriter {
  readonly #codec: Codec;
  readonly #level: number | null;
  #buffer: Buffer = Buffer.allocUnsafeSlow(FIRST_CAPACITY);
  #end = HEADER_BYTES;
  #records = 0;
  #baseTimestamp = 0.5;
  #maxTimestamp = 0.5;

  /** `level`: of gzip and zstd; the others have none. */
  constructor(o: { readonly codec: Codec; readonly level?: number }) {
    this.#codec = o.codec;
    this.#level = o.level ?? null;
  }

  get records(): number {
    return this.#records;
  }

  /** The batch as it stands, header included, before compression. */
  get bytes(): number {
    return this.#end;
  }

  /**
   * `timestamp`: milliseconds since 1970, a safe integer; -1: none. Bytes are copied.
   * @throws SyncError ROW_TOO_LARGE: the batch would be of more than 1 GiB; ROW_INVALID: the timestamp is no safe integer.
   * The batch is as before then.
   */
  append(
    timestamp: number,
    key: Uint8Array | null,
    value: Uint8Array | null,
    headers: readonly HeaderToWrite[] | null,
  ): void {
    const keyBytes = key ?? NONE;
    const valueBytes = value ?? NONE;
    const keyEnd = key === null ? -1 : key.length;
    const valueEnd = value === null ? -1 : value.length;
    this.appendSlices(timestamp, keyBytes, 0, keyEnd, valueBytes, 0, valueEnd, headers);
  }

  /** As {@link append}, from parts of buffers. Null: an end before its start. */
  appendSlices(
    timestamp: number,
    key: Uint8Array,
    keyStart: number,
    keyEnd: number,
    value: Uint8Array,
    valueStart: number,
    valueEnd: number,
    headers: readonly HeaderToWrite[] | null,
  ): void {
    const offset = this.#records;
    const base = offset === 0 ? timestamp : this.#baseTimestamp;
    const delta = timestamp - base;
    if (!Number.isSafeInteger(timestamp) || !Number.isSafeInteger(delta)) throw wrongTimestamp(timestamp);
    const keyLength = keyEnd < keyStart ? -1 : keyEnd - keyStart;
    const valueLength = valueEnd < valueStart ? -1 : valueEnd - valueStart;
    const size =
      1 +
      varlongSize(delta) +
      varintSize(offset) +
      varintSize(keyLength) +
      (keyLength < 0 ? 0 : keyLength) +
      varintSize(valueLength) +
      (valueLength < 0 ? 0 : valueLength) +
      (headers === null ? 1 : varintSize(headers.length) + headersSize(headers));
    if (this.#end + size + 5 > this.#buffer.length) this.#grow(size + 5);
    const to = this.#buffer;
    let at = writeVarint(to, this.#end, size);
    to[at++] = 0; // attributes
    at = writeVarlong(to, at, delta);
    at = writeVarint(to, at, offset);
    at = writeVarint(to, at, keyLength);
    if (keyLength > 0) at = copyBytes(to, at, key, keyStart, keyEnd);
    at = writeVarint(to, at, valueLength);
    if (valueLength > 0) at = copyBytes(to, at, value, valueStart, valueEnd);
    if (headers === null || headers.length === 0) to[at++] = 0;
    else at = writeHeaders(to, at, headers);
    this.#end = at;
    this.#records = offset + 1;
    this.#baseTimestamp = base;
    if (offset === 0 || timestamp > this.#maxTimestamp) this.#maxTimestamp = timestamp;
  }

  /**
   * The batch, whole; it is the caller's, and the writer begins a new one. A promise where the codec works in another
   * thread (gzip, zstd). Records may be appended while it is pending.
   * @throws SyncError PLUGIN_BROKEN: the codec cannot be loaded.
   */
  finish(producer: BatchProducer): Buffer | Promise<Buffer> {
    const batch = this.#buffer;
    const end = this.#end;
    const codec = this.#codec;
    this.#putHeader(batch, producer);
    if (codec === 'none') {
      this.#handOver();
      return sealed(batch.subarray(0, end));
    }
    const header = Buffer.from(batch.subarray(0, HEADER_BYTES));
    const packed = compress(codec, this.#level, batch.subarray(HEADER_BYTES, end));
    if (packed instanceof Promise) {
      this.#handOver();
      return packed.then((p) => sealed(Buffer.concat([header, p])));
    }
    this.reset();
    return sealed(Buffer.concat([header, packed]));
  }

  /** Drops what was appended. */
  reset(): void {
    this.#end = HEADER_BYTES;
    this.#records = 0;
  }

  /** The buffer goes with the batch. The next one will likely be as large; a huge one is forgotten step by step. */
  #handOver(): void {
    const { length } = this.#buffer;
    this.#buffer = Buffer.allocUnsafeSlow(Math.max(FIRST_CAPACITY, this.#end < length >>> 2 ? length >>> 1 : length));
    this.reset();
  }

  #putHeader(batch: Buffer, o: BatchProducer): void {
    putInt64(batch, BASE_OFFSET, 0); // the broker's to say
    batch.writeInt32BE(-1, LEADER_EPOCH);
    batch.writeInt8(2, MAGIC);
    batch.writeInt16BE(CODECS.indexOf(this.#codec) | (o.transactional ? TRANSACTIONAL : 0), ATTRIBUTES);
    batch.writeInt32BE(this.#records - 1, LAST_OFFSET_DELTA);
    putInt64(batch, BASE_TIMESTAMP, this.#baseTimestamp);
    putInt64(batch, MAX_TIMESTAMP, this.#maxTimestamp);
    batch.writeBigInt64BE(o.producerId, PRODUCER_ID);
    batch.writeInt16BE(o.producerEpoch, PRODUCER_EPOCH);
    batch.writeInt32BE(o.baseSequence, BASE_SEQUENCE);
    batch.writeInt32BE(this.#records, RECORD_COUNT);
  }

  #grow(more: number): void {
    const needed = this.#end + more;
    if (needed > MAX_BYTES) {
      throw new SyncError(
        'ROW_TOO_LARGE',
        `A record batch of ${String(needed)} bytes is more than Kafka's format takes`,
      );
    }
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(MAX_BYTES, this.#buffer.length * 2)));
    this.#buffer.copy(grown, 0, 0, this.#end);
    this.#buffer = grown;
  }
}

function wrongTimestamp(timestamp: number): SyncError {
  return new SyncError(
    'ROW_INVALID',
    `The timestamp ${String(timestamp)} cannot be written: it is no time in milliseconds`,
  );
}

/** Length and CRC, when all else is there. */
function sealed(batch: Buffer): Buffer {
  batch.writeInt32BE(batch.length - BEFORE_LENGTH, BATCH_LENGTH);
  batch.writeUInt32BE(crc32c(batch.subarray(ATTRIBUTES)), CRC);
  return batch;
}

/** Up to here a loop is faster than a view and a call. */
const SHORT = 48;

function copyBytes(to: Buffer, at: number, from: Uint8Array, start: number, end: number): number {
  if (end - start > SHORT) {
    to.set(start === 0 && end === from.length ? from : from.subarray(start, end), at);
    return at + end - start;
  }
  for (let i = start; i < end; i++) to[at++] = from[i] ?? 0;
  return at;
}

function headersSize(headers: readonly HeaderToWrite[]): number {
  let size = 0;
  for (const { key, value } of headers) {
    const keyLength = Buffer.byteLength(key);
    size += varintSize(keyLength) + keyLength + varintSize(value === null ? -1 : value.length) + (value?.length ?? 0);
  }
  return size;
}

function writeHeaders(to: Buffer, start: number, headers: readonly HeaderToWrite[]): number {
  let at = writeVarint(to, start, headers.length);
  for (const { key, value } of headers) {
    at = writeVarint(to, at, Buffer.byteLength(key));
    at += to.write(key, at);
    at = writeVarint(to, at, value === null ? -1 : value.length);
    if (value !== null) at = copyBytes(to, at, value, 0, value.length);
  }
  return at;
}
