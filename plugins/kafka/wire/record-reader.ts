import type { SyncError } from 'syncx/plugin-api';
import { AbortedProducers, isAbortMarker, type AbortedTransaction } from './aborted-producers.js';
import { HEADER_BYTES, PRODUCER_ID } from './batch-layout.js';
import { batchHeaderAt, batchSizeAt, type BatchHeader } from './batch-header.js';
import { decompress } from './decompress.js';
import { readVarint, readVarlong, varintEnd } from './varint.js';
import { damagedBatch } from './wire-faults.js';
import { ZstdAhead } from './zstd-ahead.js';

/**
 * One record, in place: the reader uses the slot again for the next one, but never the bytes of the buffer. Starts and
 * ends are places in `buffer`; null keys and values begin and end at -1.
 */
export interface RecordSlot {
  buffer: Buffer;
  offset: number;
  /**
   * Milliseconds since 1970, the producer's or the broker's as the topic says; -1: it has none. NaN: beyond 2^53, which a
   * number does not hold exactly.
   */
  timestamp: number;
  keyStart: number;
  keyEnd: number;
  valueStart: number;
  valueEnd: number;
  /** See {@link headersOf}. */
  headersStart: number;
  headersEnd: number;
  /** How many there are. */
  headers: number;
  /** topic-partition@offset of its batch, for messages. */
  place: string;
}

export function newRecordSlot(): RecordSlot {
  return {
    buffer: Buffer.alloc(0),
    offset: 0,
    timestamp: 0.5, // so that V8 keeps a double here from the start
    keyStart: -1,
    keyEnd: -1,
    valueStart: -1,
    valueEnd: -1,
    headersStart: 0,
    headersEnd: 0,
    headers: 0,
    place: '',
  };
}

export interface RecordReaderOptions {
  /** Records before this offset are passed over: a fetch begins with the whole batch that has it. */
  readonly from: number;
  /** False: records of aborted transactions come too. */
  readonly committedOnly: boolean;
  /** As the fetch told them; only looked at with `committedOnly`. */
  readonly aborted: readonly AbortedTransaction[];
  /** topic-partition, for messages. */
  readonly place: string;
  /** The most bytes that a batch may hold when it is decompressed. */
  readonly maxBatchBytes?: number;
}

/** Far above what brokers take (1 MB, compressed) and producers make, and what a process can bear. */
const MAX_BATCH_BYTES = 128 << 20;

/**
 * Records of one partition, from the bytes that a fetch gave. A batch at the end that is there in part is left out.
 *
 * ```ts
 * do while (reader.next(slot)) use(slot);
 * while (await reader.more());
 * ```
 */
export class RecordReader {
  readonly #batches: Buffer;
  readonly #from: number;
  readonly #aborted: AbortedProducers | null;
  readonly #place: string;
  readonly #maxBatchBytes: number;
  readonly #ahead: ZstdAhead;
  /** Where the next batch begins. */
  #nextBatch = 0;
  #nextOffset: number;
  /** Its decoder works in another thread. */
  #waiting: BatchHeader | null = null;
  #header: BatchHeader | null = null;
  /** Records of the open batch: */
  #bytes: Buffer;
  #at = 0;
  #end = 0;
  #left = 0;
  #baseOffset = 0;
  #lastDelta = 0;
  #baseTimestamp = 0;
  /** NaN: records have their own. */
  #appendTime = NaN;

  constructor(batches: Buffer, o: RecordReaderOptions) {
    this.#batches = batches;
    this.#bytes = batches;
    this.#from = o.from;
    this.#nextOffset = o.from;
    this.#aborted = o.committedOnly ? new AbortedProducers(o.aborted) : null;
    this.#place = o.place;
    this.#maxBatchBytes = o.maxBatchBytes ?? MAX_BATCH_BYTES;
    this.#ahead = new ZstdAhead(batches, o.place, this.#maxBatchBytes);
  }

  /**
   * Where to go on: behind the last record that came, and behind control records, aborted ones and gaps that were passed
   * over. After an error: at the batch that is wrong, or within it; calls throw the same again.
   */
  get nextOffset(): number {
    return this.#nextOffset;
  }

  /** Bytes of a batch at the end that is not wholly there. Where no record came, the fetch must ask for more. */
  get cutBytes(): number {
    return this.#batches.length - this.#nextBatch;
  }

  /**
   * False: no record is left that can be had without waiting, see {@link more}.
   * @throws SyncError SOURCE_FORMAT, with topic-partition@offset: a batch is damaged, too large, or of an unknown kind.
   */
  next(slot: RecordSlot): boolean {
    for (;;) {
      if (this.#left === 0) {
        if (!this.#openNext()) return false;
        continue;
      }
      const bytes = this.#bytes;
      const length = readVarint(bytes, this.#at);
      const start = varintEnd;
      const end = start + length;
      // The byte of attributes is unused.
      const timestampDelta = readVarlong(bytes, start + 1);
      const offsetDelta = readVarint(bytes, varintEnd);
      const keyLength = readVarint(bytes, varintEnd);
      const keyStart = varintEnd;
      const keyEnd = keyLength > 0 ? keyStart + keyLength : keyStart;
      const valueLength = readVarint(bytes, keyEnd);
      const valueStart = varintEnd;
      const valueEnd = valueLength > 0 ? valueStart + valueLength : valueStart;
      const headers = readVarint(bytes, valueEnd);
      const headersStart = varintEnd;
      // Each end is behind the one before: the last ones are enough.
      if (length < 0 || end > this.#end || headersStart > end) throw this.#damagedRecord();
      if (headers < 0 || (headers === 0 && headersStart !== end)) throw this.#damagedRecord();
      if (offsetDelta < 0 || offsetDelta > this.#lastDelta) throw this.#damagedRecord();
      if (this.#left === 1 && end !== this.#end) throw this.#damagedRecord();
      this.#at = end;
      this.#left--;
      const offset = this.#baseOffset + offsetDelta;
      if (offset < this.#from) continue;
      this.#nextOffset = offset + 1;
      slot.buffer = bytes;
      slot.offset = offset;
      slot.timestamp = this.#timestamp(timestampDelta);
      slot.keyStart = keyLength < 0 ? -1 : keyStart;
      slot.keyEnd = keyLength < 0 ? -1 : keyEnd;
      slot.valueStart = valueLength < 0 ? -1 : valueStart;
      slot.valueEnd = valueLength < 0 ? -1 : valueEnd;
      slot.headersStart = headersStart;
      slot.headersEnd = end;
      slot.headers = headers;
      slot.place = this.#header?.place ?? this.#place;
      return true;
    }
  }

  /**
   * Waits for what {@link next} could not do at once. False: the end of the whole batches.
   * @throws as {@link next}
   */
  async more(): Promise<boolean> {
    const batch = this.#waiting;
    if (batch === null) return false;
    this.#begin(batch, await this.#ahead.open(batch), 0);
    this.#ahead.drop(batch.start);
    this.#waiting = null;
    return true;
  }

  #timestamp(delta: number): number {
    const time = this.#appendTime;
    const own = Number.isNaN(time) ? this.#baseTimestamp + delta : time;
    return Number.isSafeInteger(own) && Number.isSafeInteger(delta) ? own : NaN;
  }

  /** Opens the next batch with records for the caller. False: there is none, or it must be waited for. */
  #openNext(): boolean {
    if (this.#waiting !== null) return false;
    for (;;) {
      this.#leave();
      const start = this.#nextBatch;
      const size = batchSizeAt(this.#batches, start);
      // A size that cannot be is looked at as a batch: its header tells what is wrong.
      if (size === null || start + size > this.#batches.length) return false;
      const batch = this.#ahead.header(start) ?? batchHeaderAt(this.#batches, start, size, this.#place);
      const passed = this.#isHidden(batch) || batch.lastOffset < this.#from || batch.records === 0;
      // What cannot be decompressed is not left behind: the next call meets it again.
      const opened = passed ? null : this.#open(batch);
      if (passed) this.#ahead.drop(start);
      this.#nextBatch = batch.end;
      this.#header = batch;
      if (opened !== null) return opened;
    }
  }

  /** False: it must be waited for. */
  #open(batch: BatchHeader): boolean {
    if (batch.codec === 'none') {
      this.#begin(batch, this.#batches, batch.start + HEADER_BYTES);
    } else if (batch.codec === 'zstd') {
      this.#waiting = batch;
    } else {
      this.#begin(batch, decompress(batch.codec, this.#packed(batch), this.#maxBatchBytes, batch.place), 0);
    }
    return this.#waiting === null;
  }

  /** True: nothing in it is for the caller. */
  #isHidden(batch: BatchHeader): boolean {
    const aborted = this.#aborted;
    if (aborted === null || !batch.transactional) return batch.control;
    aborted.goTo(batch.lastOffset);
    const producer = this.#batches.readBigInt64BE(batch.start + PRODUCER_ID);
    if (!batch.control) return aborted.has(producer);
    // Compaction may have taken the marker's record, when nothing of its transaction is left either.
    if (batch.records > 0 && isAbortMarker(this.#batches, batch.start + HEADER_BYTES)) aborted.end(producer);
    return true;
  }

  #packed(batch: BatchHeader): Buffer {
    return this.#batches.subarray(batch.start + HEADER_BYTES, batch.end);
  }

  #begin(batch: BatchHeader, bytes: Buffer, at: number): void {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = bytes === this.#batches ? batch.end : bytes.length;
    this.#left = batch.records;
    this.#baseOffset = batch.baseOffset;
    this.#lastDelta = batch.lastOffset - batch.baseOffset;
    this.#baseTimestamp = Number.isSafeInteger(batch.baseTimestamp) ? batch.baseTimestamp : NaN;
    this.#appendTime = batch.appendTime ?? NaN;
  }

  /** Behind the last batch that was opened, whatever its last offsets were. */
  #leave(): void {
    const left = this.#header;
    if (left !== null && left.lastOffset >= this.#nextOffset) this.#nextOffset = left.lastOffset + 1;
    this.#header = null;
  }

  #damagedRecord(): SyncError {
    const why = `its records do not fit its length, behind offset ${String(this.#nextOffset - 1)}`;
    return damagedBatch(this.#header?.place ?? this.#place, why);
  }
}
