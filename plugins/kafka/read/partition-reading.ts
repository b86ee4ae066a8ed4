import { BatchBuilder, type BatchTarget, type Position, type ReadItem, type RowBatch } from 'syncx/plugin-api';
import type { FetchedPartition } from '../client/kafka-client.js';
import { showPartition } from '../client/partition-error.js';

import { newRecordSlot, RecordReader } from '../wire/record-reader.js';
import { offsetBehind } from './offset-behind.js';
import type { RecordRows } from './rows/record-rows.js';
import { positionAt, type PartitionSpec } from './split-spec.js';

/** Bytes of a fetch, from which on a batch that is cut off is asked for whole. */
const FETCH_BYTES = 1 << 20;

/** One is being read, and one waits. */
const MOST_ANSWERS = 2;

/** One partition as a lane reads it: where it is, and how what was fetched becomes batches. */
export class PartitionReading {
  readonly spec: PartitionSpec;
  readonly splitId: string;
  held = false;
  /** A fetch of it is under way. */
  asking = false;
  /** Answers that wait to be read, or are being read. */
  answers = 0;
  /** One of them is an error: what comes of it says where the next fetch begins. */
  broken = false;
  ended = false;
  /** Of the topic that the offset is of; null: not known. */
  topicId: string | null = null;
  /** Node that leads it; null: to be looked for. */
  leader: number | null = null;
  /** It was not fetched yet. */
  fresh = true;
  /** The last fetch found nothing. */
  idle = false;
  /** It has failed: the topic may have been made anew meanwhile. */
  doubtful = false;
  /** Counts the jumps: what was asked for before one is not wanted. */
  jumps = 0;
  /** Not to be asked before this time (ms of `performance.now`). */
  notBefore = 0;
  /** Fetches in a row that failed. */
  failures = 0;
  /** For the next fetch. */
  maxBytes = FETCH_BYTES;
  #offset: number;
  #fetchOffset: number;
  /** Of the last record that may be read, and one more. */
  #end = 0;
  readonly #rows: RecordRows;
  readonly #target: BatchTarget;
  readonly #committedOnly: boolean;

  constructor(
    splitId: string,
    spec: PartitionSpec,
    from: number | null,
    rows: RecordRows,
    o: { readonly target: BatchTarget; readonly committedOnly: boolean },
  ) {
    this.splitId = splitId;
    this.spec = spec;
    this.#offset = from ?? spec.start;
    this.#fetchOffset = this.#offset;
    this.#rows = rows;
    this.#target = o.target;
    this.#committedOnly = o.committedOnly;
  }

  get name(): string {
    return showPartition(this.spec);
  }

  /** Of the record to go on with. */
  get offset(): number {
    return this.#offset;
  }

  /** Of the record that the next fetch begins with: ahead of {@link offset}, so that brokers work while rows are made. */
  get fetchOffset(): number {
    return this.#fetchOffset;
  }

  /** Goes on at another record: what was asked for is gone. */
  moveTo(offset: number): void {
    this.jumps++;
    this.#offset = offset;
    this.#fetchOffset = offset;
  }

  mayAsk(now: number): boolean {
    return this.#wanted && !this.asking && this.answers < MOST_ANSWERS && this.notBefore <= now;
  }

  /** It is to be fetched as soon as one of its answers is read. */
  get full(): boolean {
    return this.#wanted && this.answers >= MOST_ANSWERS;
  }

  get #wanted(): boolean {
    const { stop } = this.spec;
    return !this.broken && !this.held && !this.ended && (stop === null || this.#fetchOffset < stop);
  }

  /** Whatever a broker says of it. */
  sees({ error, highWatermark, lastStableOffset }: FetchedPartition): void {
    if (error === null) this.#end = this.#committedOnly ? lastStableOffset : highWatermark;
  }

  /** Records of the run that are there and were not read, control records with them; 0 before a broker has said it. */
  get lag(): number {
    return Math.max(0, Math.min(this.#end, this.spec.stop ?? this.#end) - this.#offset);
  }

  /** An answer with records, or with an error, is to be read. */
  answered({ records, error }: FetchedPartition): void {
    this.answers++;
    this.broken ||= error !== null;
    this.#fetchOffset = Math.max(this.#fetchOffset, offsetBehind(records) ?? 0);
  }

  /** True: all records of the run are read. */
  get done(): boolean {
    return this.spec.stop !== null && this.#offset >= this.spec.stop;
  }

  end(): ReadItem {
    this.ended = true;
    return { is: 'splitEnd', splitId: this.splitId, position: this.#position(), outcome: null };
  }

  /** What was fetched, as batches with the position behind them. Records from `stop` on are left out. */
  async *batches(fetched: FetchedPartition): AsyncGenerator<RowBatch> {
    const { stop } = this.spec;
    const before = this.#offset;
    const reader = new RecordReader(fetched.records, {
      from: before,
      committedOnly: this.#committedOnly,
      aborted: fetched.aborted,
      place: this.name,
    });
    const slot = newRecordSlot();
    let builder: BatchBuilder | null = null;
    let bytes = fetched.records.length;
    const finish = (b: BatchBuilder): RowBatch => {
      const batch = b.finish(this.splitId, this.#position(), bytes);
      bytes = 0;
      return batch;
    };
    do {
      while (reader.next(slot)) {
        if (stop !== null && slot.offset >= stop) {
          this.#offset = stop;
          if (builder !== null && !builder.empty) yield finish(builder);
          return;
        }
        builder ??= this.#builder(fetched.records.length);
        this.#rows.append(slot, builder);
        this.#offset = reader.nextOffset;
        if (!builder.full) continue;
        yield finish(builder);
        builder = null;
      }
    } while (await reader.more());
    // Behind control records and aborted ones, too.
    this.#offset = stop === null ? reader.nextOffset : Math.min(stop, reader.nextOffset);
    if (builder !== null && !builder.empty) yield finish(builder);
    else if (this.#offset > before && !this.done) yield this.#progress(bytes);
    const stuck = this.#offset === before && reader.cutBytes > 0;
    this.maxBytes = stuck ? Math.max(this.maxBytes * 2, fetched.records.length + reader.cutBytes) : FETCH_BYTES;
  }

  /** No row, but a step on: else the same control records would be read at each start. */
  #progress(sourceBytes: number): RowBatch {
    const empty = new BatchBuilder(this.#rows.schema, { bytes: 1, rows: 1 });
    return { ...empty.finish(this.splitId, this.#position(), sourceBytes), rows: 0 };
  }

  #position(): Position {
    return positionAt(this.#offset, this.topicId);
  }

  /** Of a size that fits: few records should not hold a buffer for a megabyte while they wait for the writer. */
  #builder(bytes: number): BatchBuilder {
    const size = Math.min(this.#target.bytes, Math.max(4096, bytes * 2));
    return new BatchBuilder(this.#rows.schema, { ...this.#target, bytes: size });
  }
}
