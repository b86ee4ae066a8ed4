import type { Committable, LaneContext } from 'syncx/plugin-api';
import type { KafkaClient, TopicPartition, TxnIds } from '../client/kafka-client.js';
import { showPartition } from '../client/partition-error.js';
import {
  commitTransaction,
  groupOf,
  markerPartition,
  transactionalIdOf,
  type PreparedTransaction,
} from './epoch-marker.js';
import type { Sender } from './sender.js';

export interface TransactionParts {
  readonly client: KafkaClient;
  readonly sender: Sender;
  /** Where the records go, for a person. */
  readonly place: string;
  readonly markerTopic: string;
  /** After which the broker aborts it. */
  readonly timeoutMs: number;
  readonly lane: LaneContext;
}

/** A lane has 10 s to settle. */
const ABORT_MS = 5000;

/** The transaction of one epoch after the other. The id is initialised before each: else an end with the ids of the epoch before would end it, too. */
export class LaneTransaction {
  readonly #p: TransactionParts;
  readonly #id: string;
  readonly #group: string;
  #ids: TxnIds | null = null;
  /** Names of partitions. */
  readonly #added = new Set<string>();

  constructor(parts: TransactionParts) {
    this.#p = parts;
    const { run, lane } = parts.lane;
    this.#id = transactionalIdOf(run.runId, lane, run.attempt);
    this.#group = groupOf(run.runId, lane);
  }

  get open(): boolean {
    return this.#ids !== null;
  }

  async begin(): Promise<void> {
    const { client, sender, timeoutMs, lane } = this.#p;
    const { producerId, epoch } = await client.initProducerId(this.#id, timeoutMs, lane.signal);
    this.#ids = { transactionalId: this.#id, producerId, epoch };
    this.#added.clear();
    sender.use({ producerId, epoch, transactionalId: this.#id });
    lane.failpoint('kafka.begun');
  }

  /** Before anything is sent to them. */
  async add(partitions: readonly TopicPartition[]): Promise<void> {
    const { client, lane } = this.#p;
    const fresh = partitions.filter((p) => !this.#added.has(showPartition(p)));
    if (fresh.length === 0) return;
    await client.addPartitionsToTxn(this.#need(), fresh, lane.signal);
    for (const p of fresh) this.#added.add(showPartition(p));
  }

  /** All records have landed. */
  async prepare(epoch: number, rows: number): Promise<Committable> {
    const { client, markerTopic, place, lane } = this.#p;
    const ids = this.#need();
    lane.failpoint('kafka.marker');
    await client.addOffsetsToTxn(ids, this.#group, lane.signal);
    const offset = { ...markerPartition(markerTopic), offset: epoch, metadata: lane.run.runId };
    await client.txnOffsetCommit(ids, this.#group, [offset], lane.signal);
    const data: PreparedTransaction = {
      format: 1,
      transactionalId: ids.transactionalId,
      producerId: String(ids.producerId),
      producerEpoch: ids.epoch,
      group: this.#group,
      topic: markerTopic,
      epoch,
      preparedAt: Date.now(),
    };
    lane.failpoint('kafka.prepared');
    return { data: { ...data }, rows, place };
  }

  async commit(): Promise<void> {
    if (this.#ids === null) return;
    await commitTransaction(this.#p.client, this.#ids, this.#p.lane.signal);
    this.#ids = null;
  }

  /** Also where the run is ending. What cannot be aborted now, the next start aborts, or the broker after its timeout. */
  async abort(): Promise<void> {
    const ids = this.#ids;
    this.#ids = null;
    if (ids === null || this.#added.size === 0) return; // the broker knows of no transaction
    const { client, lane } = this.#p;
    try {
      await client.endTxn(ids, false, AbortSignal.timeout(ABORT_MS));
    } catch (e) {
      const error = e instanceof Error ? e.message : String(e);
      lane.log.warn({ transactionalId: ids.transactionalId, error }, 'a transaction could not be aborted');
    }
  }

  #need(): TxnIds {
    if (this.#ids === null) throw new Error('no transaction is open');
    return this.#ids;
  }
}
