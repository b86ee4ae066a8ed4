/**
 * The port: what reader and writer need of a Kafka client, in types only, so that another client can take the place of
 * kafkajs. Record batches pass as bytes.
 *
 * All calls: errors are SyncErrors whose message has the broker's own word (UNKNOWN_TOPIC_OR_PARTITION …), what it is about and
 * who lacks which right; {@link brokerErrorName} (broker-errors.ts) gives the word. Each call has a time limit
 * (`requestTimeoutMs`, besides what it asks the broker to wait) and ends at once with the signal's reason where that aborts; whether the
 * broker did what was asked is then unknown. A call that is aborted before it is sent is not sent. Calls to one node reach
 * it in the order in which they are made; fetches have a connection of their own.
 *
 * What Kafka 4.3 answers, by situation (test/client-transactions.test.ts); `epoch + 1`: the broker has fenced the ids.
 *
 * | situation | endTxn | other calls | describeTransaction |
 * |---|---|---|---|
 * | transaction open, ids of another process | done | | Ongoing |
 * | committed, commit again | done | abort: INVALID_TXN_STATE | CompleteCommit, our epoch |
 * | aborted by us, abort again | done | commit: INVALID_TXN_STATE | CompleteAbort, our epoch |
 * | timed out by the broker, nobody began since | PRODUCER_FENCED | produce: INVALID_PRODUCER_EPOCH | CompleteAbort, epoch + 1 |
 * | a newer producer began (transaction was open: it is aborted) | PRODUCER_FENCED | add…: PRODUCER_FENCED; produce, txnOffsetCommit: INVALID_PRODUCER_EPOCH | Empty or Ongoing, a later epoch |
 * | nothing was added since initProducerId | INVALID_TXN_STATE | produce without addPartitionsToTxn: INVALID_TXN_STATE | Empty |
 * | another producer id, or an id that nobody knows | INVALID_PRODUCER_ID_MAPPING | | null |
 * | an epoch that is not given out yet | PRODUCER_FENCED | | |
 *
 * - So PRODUCER_FENCED of a resumed commit alone is ambiguous, and CompleteAbort with our producer id and our epoch + 1 is proof of a
 *   timeout: nothing of the transaction is to be seen. After a newer producer began only a marker offset tells.
 * - An offset in the transaction: `offsetFetch` with `stable: true` waits until it is ended, so ask without it before endTxn.
 * - The next call after endTxn may find the end under way (CONCURRENT_TRANSACTIONS): it is sent again inside, as is all that a
 *   coordinator which moves or loads refuses. A record that was sent before the end shows a moment after it.
 * - initProducerId on an open transaction waits until that is aborted, and gives the same producer id with a later epoch.
 */
import type { TxnIds } from './protocol/transaction-apis.js';

export type { TxnIds } from './protocol/transaction-apis.js';

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

export interface Partition {
  readonly partition: number;
  /** Node that leads it; -1: none now. */
  readonly leader: number;
}

export interface Topic {
  readonly topic: string;
  /** Of a topic that is made anew under the same name another one; null: the broker does not say (before Kafka 3.1). */
  readonly id: string | null;
  /** The broker's word, as UNKNOWN_TOPIC_OR_PARTITION, TOPIC_AUTHORIZATION_FAILED; null: none. */
  readonly error: string | null;
  readonly internal: boolean;
  /** In the order of their numbers. */
  readonly partitions: readonly Partition[];
  /** What we may do with the topic, as `READ`, `WRITE`; null: not asked for, or the broker does not say. */
  readonly rights: ReadonlySet<string> | null;
}

export interface Metadata {
  readonly brokers: readonly { readonly node: number; readonly host: string; readonly port: number }[];
  /** Id of the cluster; null: it does not say. */
  readonly cluster: string | null;
  readonly controller: number;
  readonly topics: readonly Topic[];
}

export interface OffsetQuery extends TopicPartition {
  /** A number: the first record of that time (ms) or later. `latest` of committed reads: the last stable offset. */
  readonly at: 'earliest' | 'latest' | number;
}

export interface ListedOffset extends TopicPartition {
  /** Null: no record is that late. */
  readonly offset: number | null;
}

export interface FetchQuery extends TopicPartition {
  readonly offset: number;
  /** Bytes; the first batch comes whole even where it is longer. */
  readonly maxBytes: number;
}

export interface FetchOptions {
  readonly maxWaitMs: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  /** Up to the last stable offset, with the aborted transactions listed. */
  readonly committedOnly: boolean;
}

export interface FetchedPartition extends TopicPartition {
  /**
   * The broker's word, as OFFSET_OUT_OF_RANGE; null: none. Of NOT_LEADER_OR_FOLLOWER and others that tell of a moved leader the
   * client has forgotten the leader already: ask {@link KafkaClient.leaderOf} again, after a pause.
   */
  readonly error: string | null;
  readonly highWatermark: number;
  readonly lastStableOffset: number;
  /** -1 of brokers before Kafka 1.0, and with an error. */
  readonly logStartOffset: number;
  readonly aborted: readonly { readonly producerId: bigint; readonly firstOffset: number }[];
  /** Whole batches and perhaps a part of one at the end; a view of the answer: it stays whole while it is held. */
  readonly records: Buffer;
}

export interface ProducePart extends TopicPartition {
  /** One record batch. */
  readonly batch: Buffer;
}

export interface ProduceOptions {
  readonly acks: -1 | 0 | 1;
  /** How long the broker may wait for replicas. */
  readonly timeoutMs: number;
  readonly transactionalId: string | null;
}

export interface ProducedPartition extends TopicPartition {
  /** As in {@link FetchedPartition}; null: it is written (with `acks: 0`: sent). */
  readonly error: string | null;
  /** The broker's explanation of the error. */
  readonly reason: string | null;
  /** -1: not known. */
  readonly baseOffset: number;
  /** ms; null: the records keep their own times. */
  readonly logAppendTime: number | null;
}

export interface ProducerIds {
  readonly producerId: bigint;
  readonly epoch: number;
}

export interface GroupOffset extends TopicPartition {
  readonly offset: number;
  readonly metadata: string | null;
}

export interface CommittedOffset extends TopicPartition {
  /** Null: nothing is committed, or it has expired. */
  readonly offset: number | null;
  readonly metadata: string;
}

/** What the coordinator holds of a transactional id. */
export interface TransactionState {
  /** Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort, Dead … */
  readonly state: string;
  readonly producerId: bigint;
  readonly epoch: number;
  readonly timeoutMs: number;
  /** ms; null: no transaction is open. */
  readonly startTime: number | null;
}

export interface NewTopic {
  readonly topic: string;
  /** -1: the broker's default (Kafka 2.4 and later). */
  readonly partitions: number;
  readonly replicas: number;
  readonly configs: Readonly<Record<string, string>>;
}

export interface KafkaClient extends AsyncDisposable {
  /**
   * @param topics null: all that we may see. One that does not exist is not created, and has its `error`.
   * @param o `rights`: ask for what we may do with each topic.
   */
  metadata(topics: readonly string[] | null, signal: AbortSignal, o?: { readonly rights?: boolean }): Promise<Metadata>;

  /** The node that leads the partition, from what is known or by asking. Waits for a leader within the time limit. */
  leaderOf(at: TopicPartition, signal: AbortSignal): Promise<number>;

  /** Finds the leaders itself. In the order of the queries. */
  listOffsets(
    queries: readonly OffsetQuery[],
    isolation: 'committed' | 'uncommitted',
    signal: AbortSignal,
  ): Promise<readonly ListedOffset[]>;

  /** Of partitions that `node` leads. The time limit is `maxWaitMs` longer. One at a time per node; abort closes the connection. */
  fetch(
    node: number,
    queries: readonly FetchQuery[],
    o: FetchOptions,
    signal: AbortSignal,
  ): Promise<readonly FetchedPartition[]>;

  /** To partitions that `node` leads, one batch for each. The time limit is `timeoutMs` longer. Nothing is sent twice. */
  produce(
    node: number,
    parts: readonly ProducePart[],
    o: ProduceOptions,
    signal: AbortSignal,
  ): Promise<readonly ProducedPartition[]>;

  /**
   * With a transactional id: fences its older producer and aborts its open transaction (and waits for that).
   * @param timeoutMs after which the broker aborts a transaction; no more than its transaction.max.timeout.ms.
   */
  initProducerId(transactionalId: string | null, timeoutMs: number, signal: AbortSignal): Promise<ProducerIds>;
  addPartitionsToTxn(ids: TxnIds, partitions: readonly TopicPartition[], signal: AbortSignal): Promise<void>;
  addOffsetsToTxn(ids: TxnIds, group: string, signal: AbortSignal): Promise<void>;
  /** After {@link addOffsetsToTxn} of the same group. */
  txnOffsetCommit(ids: TxnIds, group: string, offsets: readonly GroupOffset[], signal: AbortSignal): Promise<void>;
  /** Any client that has the ids may end a transaction. Sent again where the answer was lost. */
  endTxn(ids: TxnIds, commit: boolean, signal: AbortSignal): Promise<void>;
  /** Null: the broker knows no such id, or cannot say (before Kafka 3.0). */
  describeTransaction(transactionalId: string, signal: AbortSignal): Promise<TransactionState | null>;

  /**
   * In the order of the partitions.
   * @param o `stable`: wait, as long as the time limit lets, while a transaction that has offsets of these partitions is open or is being
   * ended (Kafka 2.5 and later; error UNSTABLE_OFFSET_COMMIT). Without it the answer is what was committed before, also for a
   * moment after the end of the transaction.
   */
  offsetFetch(
    group: string,
    partitions: readonly TopicPartition[],
    o: { readonly stable: boolean },
    signal: AbortSignal,
  ): Promise<readonly CommittedOffset[]>;
  /** As a group without members; one that has members refuses it (UNKNOWN_MEMBER_ID). */
  offsetCommit(group: string, offsets: readonly GroupOffset[], signal: AbortSignal): Promise<void>;

  /** A topic that is there already counts as created. Waits until all partitions have leaders. */
  createTopics(topics: readonly NewTopic[], signal: AbortSignal): Promise<void>;
  /** `count`: of the topic from now on; one that has as many or more stays as it is. */
  createPartitions(topic: string, count: number, signal: AbortSignal): Promise<void>;
  deleteTopics(topics: readonly string[], signal: AbortSignal): Promise<void>;
  /** Records below the offsets. */
  deleteRecords(parts: readonly (TopicPartition & { readonly before: number })[], signal: AbortSignal): Promise<void>;
  /** By name, as `max.message.bytes`; null: secret. */
  topicConfigs(topic: string, signal: AbortSignal): Promise<ReadonlyMap<string, string | null>>;
  /** Of any one broker, as `message.max.bytes`, `transaction.max.timeout.ms`. Needs a right on the cluster. */
  brokerConfigs(signal: AbortSignal): Promise<ReadonlyMap<string, string | null>>;
}
