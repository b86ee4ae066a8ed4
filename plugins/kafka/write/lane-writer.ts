import {
  type LaneContext,
  type LaneWriter,
  type Prepared,
  type RejectedRow,
  type RowBatch,
  type RowSchema,
  type WriteResult,
} from 'syncx/plugin-api';
import { showRow } from 'syncx/plugin-kit';
import type { KafkaClient } from '../client/kafka-client.js';
import { EMPTY_BATCH_BYTES, mostRecordBytes } from '../wire/batch-writer.js';
import type { LaneTransaction } from './lane-transaction.js';
import type { Partitioner } from './partitioner.js';
import { becomeTombstone, newRecord, type RecordToWrite, type RowRecords } from './records/row-records.js';
import type { Sender } from './sender.js';
import type { TopicGrowth } from './topic-growth.js';
import type { WriteTopic } from './write-topics.js';

export interface LaneWriterParts {
  readonly client: KafkaClient;
  readonly lane: LaneContext;
  readonly sender: Sender;
  /** @throws SyncError COLUMN_MISMATCH */
  readonly topicOf: (schema: RowSchema) => string;
  /** @throws SyncError where it cannot be written. */
  readonly lookUp: (topic: string) => Promise<WriteTopic>;
  readonly partitioner: (partitions: number) => Partitioner;
  /** @throws SyncError COLUMN_MISMATCH */
  readonly records: (schema: RowSchema) => RowRecords;
  readonly growth: TopicGrowth;
  /** Null: at-least-once. */
  readonly transaction: LaneTransaction | null;
}

/** A topic as this lane writes it. */
interface Target {
  topic: WriteTopic;
  partitioner: Partitioner;
  /** Of its partition 0 at the sender. */
  firstSlot: number;
}

/** What becomes of rows of one schema. */
interface Route {
  readonly records: RowRecords;
  readonly target: Target;
}

/** Rows between two looks at what else is to be done. */
const SLICE = 1024;

export class KafkaLaneWriter implements LaneWriter {
  readonly #p: LaneWriterParts;
  /** By the schema's id. */
  readonly #routes = new Map<number, Route>();
  readonly #targets = new Map<string, Target>();
  readonly #record: RecordToWrite = newRecord();
  #count = 0;
  #prepared: number | null = null;

  constructor(parts: LaneWriterParts) {
    this.#p = parts;
  }

  async write(batch: RowBatch, signal: AbortSignal): Promise<WriteResult> {
    const { sender, transaction } = this.#p;
    const rejected: RejectedRow[] = [];
    const reject = (r: RejectedRow): void => void rejected.push(r);
    signal.throwIfAborted();
    if (transaction !== null && !transaction.open) await transaction.begin();
    for (const section of batch.sections) {
      const { records, target } = this.#routes.get(section.schema.id) ?? (await this.#openRoute(section.schema));
      const { partitioner, firstSlot } = target;
      const { maxBatchBytes } = target.topic;
      for (let row = 0; row < section.rows; row++) {
        if (row % SLICE === 0) signal.throwIfAborted();
        const r = this.#record;
        if (!records.record(batch, section, row, r, reject)) continue;
        do {
          const size = mostRecordBytes(r.key?.length ?? 0, Math.max(0, r.valueEnd - r.valueStart), r.headers);
          if (size + EMPTY_BATCH_BYTES > maxBatchBytes) {
            reject(tooLarge(batch, section, row, r, size, target.topic));
            break;
          }
          const slot = firstSlot + partitioner.partitionOf(r.key);
          // Compression may fail to make anything smaller: a batch is bounded by what it is before.
          if (sender.bytesOf(slot) + size > maxBatchBytes) await this.#ship();
          sender.append(slot, r);
          this.#count++;
          if (sender.isFull(slot)) await this.#ship();
        } while (becomeTombstone(r));
      }
    }
    // What came is on its way: nobody waits for a batch to be full, nor for the next checkpoint.
    await this.#ship();
    return { rejected: rejected.length > 0 ? rejected : null, bytes: sender.takeBytes() };
  }

  async prepare(epoch: number): Promise<Prepared> {
    const { sender, transaction } = this.#p;
    await this.#ship();
    await sender.settled();
    if (this.#p.growth.due) await this.#grow();
    const bytes = sender.takeBytes();
    const rows = this.#count;
    this.#count = 0;
    if (transaction === null || !transaction.open) return { rejected: null, bytes, committables: [], state: null };
    if (rows === 0) {
      await transaction.abort();
      return { rejected: null, bytes, committables: [], state: null };
    }
    const committable = await transaction.prepare(epoch, rows);
    this.#prepared = epoch;
    return { rejected: null, bytes, committables: [committable], state: null };
  }

  async commit(epoch: number): Promise<void> {
    if (this.#prepared !== epoch) return; // nothing was prepared, or it is committed already
    const { transaction, lane } = this.#p;
    lane.failpoint('kafka.committing');
    await transaction?.commit();
    this.#prepared = null;
    lane.failpoint('kafka.committed');
  }

  async abort(): Promise<void> {
    const { sender, transaction } = this.#p;
    this.#prepared = null;
    this.#count = 0;
    await sender.clear();
    await transaction?.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#p.client[Symbol.asyncDispose]();
  }

  async #ship(): Promise<void> {
    const { sender, transaction } = this.#p;
    await transaction?.add(sender.filled());
    await sender.ship();
  }

  async #openRoute(schema: RowSchema): Promise<Route> {
    const name = this.#p.topicOf(schema);
    const records = this.#p.records(schema);
    const target = this.#targets.get(name) ?? (await this.#openTarget(name));
    const route = { records, target };
    this.#routes.set(schema.id, route);
    return route;
  }

  async #openTarget(name: string): Promise<Target> {
    const { lookUp, sender, partitioner } = this.#p;
    const topic = await lookUp(name);
    const target = { topic, partitioner: partitioner(topic.partitions), firstSlot: sender.addTopic(topic) };
    this.#targets.set(name, target);
    return target;
  }

  /** Between two epochs, while no batch is open. */
  async #grow(): Promise<void> {
    const { growth, sender, partitioner } = this.#p;
    const known = new Map([...this.#targets].map(([name, { topic }]) => [name, topic.partitions]));
    for (const [name, partitions] of await growth.grown(known)) {
      const target = this.#targets.get(name);
      if (target === undefined) continue;
      const before = target.topic.partitions;
      target.topic = { ...target.topic, partitions };
      target.partitioner = partitioner(partitions);
      target.firstSlot = sender.growTopic(target.topic, target.firstSlot, before);
    }
  }
}

function tooLarge(
  batch: RowBatch,
  section: RowBatch['sections'][number],
  row: number,
  { key }: RecordToWrite,
  size: number,
  { topic, maxBatchBytes }: WriteTopic,
): RejectedRow {
  const of = key === null ? '' : ` of the key ${JSON.stringify(Buffer.from(key).toString('utf8', 0, 200))}`;
  return {
    row: showRow(batch, section, row),
    column: null,
    code: 'ROW_TOO_LARGE',
    reason: `the record${of} has up to ${String(size)} bytes; ${topic} takes ${String(maxBatchBytes)} (max.message.bytes)`,
    place: topic,
  };
}
