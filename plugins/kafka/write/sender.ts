/** Record batches on their way to the brokers: each lands once in a session, in the order of its partition. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SyncError, isSyncError, type Logger } from 'syncx/plugin-api';
import { isStaleLeader } from '../client/broker-errors.js';
import type { KafkaClient, ProducePart, ProducedPartition, TopicPartition } from '../client/kafka-client.js';
import { partitionError } from '../client/partition-error.js';
import { BatchWriter, NO_PRODUCER } from '../wire/batch-writer.js';
import type { Codec } from '../wire/codec.js';
import type { RecordToWrite } from './records/row-records.js';
import type { WriteTopic } from './write-topics.js';

export interface SenderOptions {
  readonly acks: -1 | 0 | 1;
  readonly codec: Codec;
  /** Bytes of a batch, about, before compression; of a topic that takes less, that. */
  readonly batchBytes: number;
  /** How long a batch is tried for. */
  readonly deliveryMs: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Who sends; null: nobody that the brokers know, so that a batch that is sent again may come twice. */
export interface SenderIds {
  readonly producerId: bigint;
  readonly epoch: number;
  readonly transactionalId: string | null;
}

/** How long brokers may wait for each other. */
const REPLICAS_MS = 30_000;
const PAUSES_MS: readonly number[] = [50, 100, 200, 500, 1000];

/** Words after which the same batch may be sent again. */
const AGAIN: ReadonlySet<string> = new Set([
  'NOT_ENOUGH_REPLICAS',
  'NOT_ENOUGH_REPLICAS_AFTER_APPEND',
  'REQUEST_TIMED_OUT',
  'CONCURRENT_TRANSACTIONS',
  'COORDINATOR_LOAD_IN_PROGRESS',
  'NETWORK_EXCEPTION',
  'KAFKA_STORAGE_ERROR',
  'THROTTLING_QUOTA_EXCEEDED',
]);

/** The open batch of a partition. */
interface Open extends TopicPartition {
  readonly batchBytes: number;
  /** Null: no record waits. */
  writer: BatchWriter | null;
  /** Of the first record of the next batch. */
  sequence: number;
}

/** Batch writers that are kept for later, with their buffers. */
const SPARE_WRITERS = 256;
/** Batches that are open at once, whatever they hold: each has a buffer. */
const MOST_OPEN = 1024;

export class Sender {
  readonly #client: KafkaClient;
  readonly #o: SenderOptions;
  /** By slot. */
  readonly #slots: Open[] = [];
  /** Slots with a batch that has records. */
  readonly #filled = new Set<number>();
  readonly #spare: BatchWriter[] = [];
  #ids: SenderIds | null = null;
  #underWay: Promise<unknown> | null = null;
  #buffered = 0;
  #bytes = 0;

  constructor(client: KafkaClient, options: SenderOptions) {
    this.#client = client;
    this.#o = options;
  }

  /** @returns the slot of its partition 0; the others follow. */
  addTopic(topic: WriteTopic): number {
    return this.#addSlots(topic, []);
  }

  /** `known`: of its first partitions, which go on with their sequences. */
  #addSlots({ topic, partitions, maxBatchBytes }: WriteTopic, known: readonly Open[]): number {
    const first = this.#slots.length;
    const batchBytes = Math.min(this.#o.batchBytes, maxBatchBytes);
    for (let partition = 0; partition < partitions; partition++)
      this.#slots.push(known[partition] ?? { topic, partition, batchBytes, writer: null, sequence: 0 });
    return first;
  }

  /** While nothing is open. @param first What {@link addTopic} gave. @returns the slot of partition 0 from now on. */
  growTopic(topic: WriteTopic, first: number, before: number): number {
    return this.#addSlots(topic, this.#slots.slice(first, first + before));
  }

  /** Partitions that have records which are not shipped. */
  filled(): readonly TopicPartition[] {
    return [...this.#filled].map((slot) => this.#slot(slot));
  }

  /** From now on; sequences begin anew. */
  use(ids: SenderIds | null): void {
    this.#ids = ids;
    for (const s of this.#slots) s.sequence = 0;
  }

  /** Bytes that were sent since the last call. */
  takeBytes(): number {
    const bytes = this.#bytes;
    this.#bytes = 0;
    return bytes;
  }

  append(slot: number, r: RecordToWrite): void {
    const open = this.#slot(slot);
    const writer = (open.writer ??= this.#fill(slot));
    const before = writer.bytes;
    const { key } = r;
    writer.appendSlices(
      r.timestamp,
      key ?? r.value,
      0,
      key === null ? -1 : key.length,
      r.value,
      r.valueStart,
      r.valueEnd,
      r.headers,
    );
    this.#buffered += writer.bytes - before;
  }

  #slot(slot: number): Open {
    const open = this.#slots[slot];
    if (open === undefined) throw new SyncError('INTERNAL', `there is no partition at ${String(slot)}`);
    return open;
  }

  #fill(slot: number): BatchWriter {
    this.#filled.add(slot);
    return this.#spare.pop() ?? new BatchWriter({ codec: this.#o.codec });
  }

  /** True: a batch is as large as it should be, or all of them together are. */
  isFull(slot: number): boolean {
    const open = this.#slot(slot);
    return (
      (open.writer?.bytes ?? 0) >= open.batchBytes ||
      this.#buffered >= this.#o.batchBytes * 4 ||
      this.#filled.size >= MOST_OPEN
    );
  }

  /** Bytes of the open batch of the partition. */
  bytesOf(slot: number): number {
    return this.#slots[slot]?.writer?.bytes ?? 0;
  }

  /** Begins to send what is buffered, once what is under way has landed. */
  async ship(): Promise<void> {
    await this.settled();
    if (this.#buffered === 0) return;
    const batches = [...this.#filled].flatMap((slot) => this.#finish(this.#slot(slot)));
    this.#filled.clear();
    this.#buffered = 0;
    const sent = Promise.all(batches).then((parts) => this.#send(parts));
    sent.catch(() => undefined); // it may fail before anybody waits for it
    this.#underWay = sent;
  }

  /** All that was shipped has landed when it resolves. */
  async settled(): Promise<void> {
    const sent = this.#underWay;
    if (sent === null) return;
    await sent;
    this.#underWay = null;
  }

  /** Forgets what is not sent, once what is under way has ended. */
  async clear(): Promise<void> {
    for (const slot of this.#filled) {
      const open = this.#slot(slot);
      open.writer?.reset();
      this.#spareWriter(open);
    }
    this.#filled.clear();
    this.#buffered = 0;
    await this.#underWay?.catch(() => undefined);
    this.#underWay = null;
  }

  #spareWriter(open: Open): void {
    if (open.writer !== null && this.#spare.length < SPARE_WRITERS) this.#spare.push(open.writer);
    open.writer = null;
  }

  #finish(open: Open): readonly Promise<ProducePart>[] {
    const { writer, topic, partition } = open;
    if (writer === null) return [];
    if (writer.records === 0) {
      this.#spareWriter(open); // its first record was refused
      return [];
    }
    const ids = this.#ids;
    const baseSequence = open.sequence;
    open.sequence = nextSequence(baseSequence, writer.records);
    const producer =
      ids === null
        ? NO_PRODUCER
        : {
            producerId: ids.producerId,
            producerEpoch: ids.epoch,
            baseSequence,
            transactional: ids.transactionalId !== null,
          };
    const finished = writer.finish(producer);
    this.#spareWriter(open);
    return [this.#part({ topic, partition }, finished)];
  }

  async #part(at: TopicPartition, finished: Buffer | Promise<Buffer>): Promise<ProducePart> {
    const batch = await finished;
    this.#bytes += batch.length;
    return { ...at, batch };
  }

  async #send(all: readonly ProducePart[]): Promise<void> {
    const { signal, deliveryMs, log } = this.#o;
    const end = performance.now() + deliveryMs;
    let left = all;
    for (let tries = 0; ; tries++) {
      const { refused, last } = await this.#attempt(left);
      left = refused;
      if (left.length === 0) return;
      const pause = PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)] ?? 1000;
      if (last === null || performance.now() + pause > end) throw last ?? new SyncError('SINK_IO', 'nothing was sent');
      if (tries === 0) log.info({ error: last.message }, `batches are sent again: ${last.message}`);
      await sleep(pause, undefined, { signal });
    }
  }

  /** @returns the parts that may be sent again, and why. @throws where that is of no use. */
  async #attempt(parts: readonly ProducePart[]): Promise<{ refused: readonly ProducePart[]; last: SyncError | null }> {
    const { signal, acks } = this.#o;
    const refused: ProducePart[] = [];
    let last: SyncError | null = null;
    const again = (some: readonly ProducePart[], e: unknown): void => {
      signal.throwIfAborted();
      if (!isSyncError(e) || e.retry === 'never') throw e;
      refused.push(...some);
      last = e;
    };
    const led = new Map<number, ProducePart[]>();
    for (const p of parts) {
      try {
        const node = await this.#client.leaderOf(p, signal);
        const of = led.get(node);
        if (of === undefined) led.set(node, [p]);
        else of.push(p);
      } catch (e) {
        again([p], e);
      }
    }
    await Promise.all(
      [...led].map(async ([node, of]) => {
        const o = { acks, timeoutMs: REPLICAS_MS, transactionalId: this.#ids?.transactionalId ?? null };
        let answers: readonly ProducedPartition[];
        try {
          answers = await this.#client.produce(node, of, o, signal);
        } catch (e) {
          // Whether it landed is not known. The broker tells batches with a sequence apart; others may come twice.
          again(of, e);
          return;
        }
        for (const a of answers) {
          if (a.error === null || a.error === 'DUPLICATE_SEQUENCE_NUMBER') continue;
          const error = partitionError('sink', a, a.error, a.reason);
          if (!isStaleLeader(a.error) && !AGAIN.has(a.error)) throw error;
          refused.push(...of.filter((p) => p.partition === a.partition && p.topic === a.topic));
          last = error;
        }
      }),
    );
    return { refused, last };
  }
}

/** Sequences are int32 and begin at 0 again behind the largest one. */
export function nextSequence(base: number, records: number): number {
  const next = base + records;
  return next > 0x7fff_ffff ? next - 0x7fff_ffff - 1 : next;
}
