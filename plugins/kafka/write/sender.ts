/** Record batches on their way to the brokers: each lands once in a session, in the order of its partition. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SyncError, isSyncError, type Logger } from 'syncx/plugin-api';
import { isStaleLeader } from '../client/broker-errors.js';
import type { KafkaClient, ProducePart, ProducedPartition } from '../client/kafka-client.js';
import { partitionError } from '../client/partition-error.js';
import { BatchWriter, NO_PRODUCER } from '../wire/batch-writer.js';
import type { Codec } from '../wire/codec.js';
import type { RecordToWrite } from './records/row-records.js';

export interface SenderOptions {
  readonly topic: string;
  readonly acks: -1 | 0 | 1;
  readonly codec: Codec;
  /** Bytes of a batch, about, before compression. */
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

interface Open {
  readonly writer: BatchWriter;
  /** Of the first record of the next batch. */
  sequence: number;
}

export class Sender {
  readonly #client: KafkaClient;
  readonly #o: SenderOptions;
  readonly #partitions: readonly Open[];
  #ids: SenderIds | null = null;
  #underWay: Promise<unknown> | null = null;
  #buffered = 0;
  #bytes = 0;

  constructor(client: KafkaClient, partitions: number, options: SenderOptions) {
    this.#client = client;
    this.#o = options;
    this.#partitions = Array.from({ length: partitions }, () => ({
      writer: new BatchWriter({ codec: options.codec }),
      sequence: 0,
    }));
  }

  /** From now on; sequences begin anew. */
  use(ids: SenderIds | null): void {
    this.#ids = ids;
    for (const p of this.#partitions) p.sequence = 0;
  }

  /** Bytes that were sent since the last call. */
  takeBytes(): number {
    const bytes = this.#bytes;
    this.#bytes = 0;
    return bytes;
  }

  append(partition: number, r: RecordToWrite): void {
    const open = this.#partitions[partition];
    if (open === undefined) throw new SyncError('INTERNAL', `the topic has no partition ${String(partition)}`);
    const before = open.writer.bytes;
    const { key } = r;
    open.writer.appendSlices(
      r.timestamp,
      key ?? r.value,
      0,
      key === null ? -1 : key.length,
      r.value,
      r.valueStart,
      r.valueEnd,
      r.headers,
    );
    this.#buffered += open.writer.bytes - before;
  }

  /** True: a batch is as large as it should be, or all of them together are. */
  isFull(partition: number): boolean {
    const bytes = this.#partitions[partition]?.writer.bytes ?? 0;
    return bytes >= this.#o.batchBytes || this.#buffered >= this.#o.batchBytes * 4;
  }

  /** Bytes of the open batch of the partition. */
  bytesOf(partition: number): number {
    return this.#partitions[partition]?.writer.bytes ?? 0;
  }

  /** Begins to send what is buffered, once what is under way has landed. */
  async ship(): Promise<void> {
    await this.settled();
    if (this.#buffered === 0) return;
    const batches: Promise<ProducePart>[] = [];
    for (const [partition, open] of this.#partitions.entries()) {
      if (open.writer.records > 0) batches.push(this.#finish(partition, open));
    }
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
    for (const p of this.#partitions) p.writer.reset();
    this.#buffered = 0;
    await this.#underWay?.catch(() => undefined);
    this.#underWay = null;
  }

  async #finish(partition: number, open: Open): Promise<ProducePart> {
    const ids = this.#ids;
    const { records } = open.writer;
    const baseSequence = open.sequence;
    open.sequence = nextSequence(baseSequence, records);
    const producer =
      ids === null
        ? NO_PRODUCER
        : {
            producerId: ids.producerId,
            producerEpoch: ids.epoch,
            baseSequence,
            transactional: ids.transactionalId !== null,
          };
    const batch = await open.writer.finish(producer);
    this.#bytes += batch.length;
    return { topic: this.#o.topic, partition, batch };
  }

  async #send(all: readonly ProducePart[]): Promise<void> {
    const { signal, deliveryMs, log, topic } = this.#o;
    const end = performance.now() + deliveryMs;
    let left = all;
    for (let tries = 0; ; tries++) {
      const { refused, last } = await this.#attempt(left);
      left = refused;
      if (left.length === 0) return;
      const pause = PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)] ?? 1000;
      if (last === null || performance.now() + pause > end) throw last ?? new SyncError('SINK_IO', 'nothing was sent');
      if (tries === 0) log.info({ topic, error: last.message }, `batches are sent again: ${last.message}`);
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
          refused.push(...of.filter((p) => p.partition === a.partition));
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
