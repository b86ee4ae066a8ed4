/** The port on kafkajs's connections. */
import type { ConnectionOptions } from 'node:tls';
import { Backoff } from './backoff.js';
import { brokerError, errorWord, linkError, type Asked, type Side } from './broker-errors.js';
import { Coordinators, type Coordinated, type Refusal } from './coordinators.js';
import type {
  CommittedOffset,
  FetchOptions,
  FetchQuery,
  FetchedPartition,
  GroupOffset,
  KafkaClient,
  ListedOffset,
  Metadata,
  NewTopic,
  OffsetQuery,
  ProduceOptions,
  ProducePart,
  ProducedPartition,
  ProducerIds,
  TopicPartition,
  TransactionState,
  TxnIds,
} from './kafka-client.js';
import { checkKafkajs, type KafkajsSasl } from './kafkajs-internals.js';
import { Leaders } from './leaders.js';
import { showPartition } from './partition-error.js';
import { LinkFailure } from './link-failure.js';
import type { BrokerAddress } from './node-link.js';
import { Nodes } from './nodes.js';
import type { Api, PartitionCode } from './protocol/api.js';
import { FETCH, PRODUCE } from './protocol/hot-apis.js';
import { DELETE_RECORDS, EARLIEST, LATEST, LIST_OFFSETS } from './protocol/topic-apis.js';
import {
  ADD_OFFSETS_TO_TXN,
  ADD_PARTITIONS_TO_TXN,
  DESCRIBE_TRANSACTIONS,
  END_TXN,
  INIT_PRODUCER_ID,
  OFFSET_COMMIT,
  OFFSET_FETCH,
  TXN_OFFSET_COMMIT,
} from './protocol/transaction-apis.js';
import { TopicAdmin } from './topic-admin.js';

export interface KafkaClientSettings {
  /** Some of the cluster's brokers; the others are learned from them. */
  readonly brokers: readonly BrokerAddress[];
  readonly clientId: string;
  /** Null: plain. */
  readonly tls: ConnectionOptions | null;
  /** A new object at each call. Null: no login. */
  readonly sasl: (() => KafkajsSasl) | null;
  /** For a connection with TLS and login. */
  readonly connectTimeoutMs: number;
  /** For an answer, besides what a request lets the broker wait; and for all tries of a call that is repeated. */
  readonly requestTimeoutMs: number;
}

/** Connects when the first call needs it. @throws SyncError INTERNAL where kafkajs is not the version that we know. */
export function openKafkajsClient(settings: KafkaClientSettings, side: Side): KafkaClient {
  checkKafkajs();
  return new KafkajsClient(settings, side);
}

class KafkajsClient implements KafkaClient {
  readonly #side: Side;
  readonly #limitMs: number;
  readonly #nodes: Nodes;
  readonly #leaders: Leaders;
  readonly #coordinators: Coordinators;
  readonly #admin: TopicAdmin;

  constructor(settings: KafkaClientSettings, side: Side) {
    this.#side = side;
    this.#limitMs = settings.requestTimeoutMs;
    this.#nodes = new Nodes(settings.brokers, settings, side);
    this.#leaders = new Leaders(this.#nodes, side, this.#limitMs);
    this.#coordinators = new Coordinators(this.#nodes, this.#limitMs);
    this.#admin = new TopicAdmin(this.#nodes, this.#leaders, side, this.#limitMs);
  }

  metadata(topics: readonly string[] | null, signal: AbortSignal, o: { rights?: boolean } = {}): Promise<Metadata> {
    return this.#leaders.metadata(topics, o.rights ?? false, signal);
  }

  leaderOf(at: TopicPartition, signal: AbortSignal): Promise<number> {
    return this.#leaders.leaderOf(at, signal);
  }

  async listOffsets(
    queries: readonly OffsetQuery[],
    isolation: 'committed' | 'uncommitted',
    signal: AbortSignal,
  ): Promise<readonly ListedOffset[]> {
    const parts = queries.map(({ topic, partition, at }) => ({
      topic,
      partition,
      timestamp: at === 'latest' ? LATEST : at === 'earliest' ? EARLIEST : at,
    }));
    const request = (mine: Readonly<typeof parts>) => ({ committedOnly: isolation === 'committed', parts: mine });
    const listed = await this.#leaders.ask(LIST_OFFSETS, parts, 'list the offsets of', request, signal);
    return listed.map(({ topic, partition, offset }) => ({ topic, partition, offset: offset < 0 ? null : offset }));
  }

  /** To a node that the caller named. Where it does not answer, its partitions may be led elsewhere soon. */
  async #sendTo<Q, A>(
    node: number,
    api: Api<Q, A>,
    q: Q,
    limitMs: number,
    doing: string,
    signal: AbortSignal,
  ): Promise<A | null> {
    signal.throwIfAborted();
    if (this.#nodes.addressOf(node) === null) await this.#leaders.metadata([], false, signal);
    const at = this.#nodes.addressOf(node);
    try {
      if (at === null) throw new LinkFailure('lost', `node ${String(node)}`, 'no broker of that number is known', null);
      return await this.#nodes.send(at, api, q, limitMs, signal);
    } catch (e) {
      if (!(e instanceof LinkFailure)) throw e;
      this.#leaders.forgetNode(node);
      throw linkError(e, { side: this.#side, doing });
    }
  }

  async fetch(
    node: number,
    queries: readonly FetchQuery[],
    o: FetchOptions,
    signal: AbortSignal,
  ): Promise<readonly FetchedPartition[]> {
    const doing = `fetch from ${shown(queries)}`;
    const limit = o.maxWaitMs + this.#limitMs;
    const answer = await this.#sendTo(node, FETCH, { ...o, parts: queries }, limit, doing, signal);
    const word = errorWord(answer?.code ?? 0);
    if (word !== null) throw brokerError(word, null, this.#asked('Fetch', doing, shown(queries), ''));
    const parts = answer?.parts ?? [];
    this.#leaders.forgetStale(parts);
    return parts.map(({ code, ...p }) => ({ ...p, error: errorWord(code) }));
  }

  async produce(
    node: number,
    parts: readonly ProducePart[],
    o: ProduceOptions,
    signal: AbortSignal,
  ): Promise<readonly ProducedPartition[]> {
    const doing = `produce to ${shown(parts)}`;
    const answer = await this.#sendTo(node, PRODUCE, { ...o, parts }, o.timeoutMs + this.#limitMs, doing, signal);
    if (answer === null) return parts.map(({ topic, partition }) => ({ topic, partition, ...SENT }));
    this.#leaders.forgetStale(answer);
    return answer.map((p) => ({
      topic: p.topic,
      partition: p.partition,
      error: errorWord(p.code),
      reason: p.message,
      baseOffset: p.baseOffset,
      logAppendTime: p.logAppendTime < 0 ? null : p.logAppendTime,
    }));
  }

  #asked(api: string, doing: string, place: string, resource: string): Asked {
    return { side: this.#side, api, doing, place, resource };
  }

  async initProducerId(transactionalId: string | null, timeoutMs: number, signal: AbortSignal): Promise<ProducerIds> {
    const q = { transactionalId, timeoutMs };
    if (transactionalId !== null) {
      const asked = this.#asked('InitProducerId', `begin as ${transactionalId}`, transactionalId, transactionalId);
      const of = { kind: 'transaction', key: transactionalId } as const;
      const { producerId, epoch } = await this.#coordinators.call(of, INIT_PRODUCER_ID, q, asked, ofWhole, signal);
      return { producerId, epoch };
    }
    const asked = this.#asked('InitProducerId', 'get a producer id', 'producer id', '');
    const backoff = new Backoff(this.#limitMs, signal);
    for (;;) {
      // Any broker gives them out.
      const answer = await this.#nodes.sendToAny(INIT_PRODUCER_ID, q, this.#limitMs, signal, asked);
      const word = errorWord(answer?.code ?? -1);
      if (answer !== null && word === null) return { producerId: answer.producerId, epoch: answer.epoch };
      const error = brokerError(word ?? '', null, asked);
      if (error.retry === 'never' || !(await backoff.pause())) throw error;
    }
  }

  #transactional(api: string, doing: string, ids: TxnIds): readonly [Coordinated, Asked] {
    const id = ids.transactionalId;
    return [{ kind: 'transaction', key: id }, this.#asked(api, `${doing} of ${id}`, id, id)];
  }

  async addPartitionsToTxn(ids: TxnIds, partitions: readonly TopicPartition[], signal: AbortSignal): Promise<void> {
    const [of, asked] = this.#transactional('AddPartitionsToTxn', 'add partitions to the transaction', ids);
    await this.#coordinators.call(of, ADD_PARTITIONS_TO_TXN, { ...ids, parts: partitions }, asked, ofParts, signal);
  }

  async addOffsetsToTxn(ids: TxnIds, group: string, signal: AbortSignal): Promise<void> {
    const [of, asked] = this.#transactional('AddOffsetsToTxn', `add group ${group} to the transaction`, ids);
    await this.#coordinators.call(
      of,
      ADD_OFFSETS_TO_TXN,
      { ...ids, group },
      asked,
      ({ code }) =>
        code === 0 ? null : { code, ...(errorWord(code)?.startsWith('GROUP_') ? { resource: group } : {}) },
      signal,
    );
  }

  async txnOffsetCommit(
    ids: TxnIds,
    group: string,
    offsets: readonly GroupOffset[],
    signal: AbortSignal,
  ): Promise<void> {
    const doing = `commit offsets of group ${group} in the transaction of ${ids.transactionalId}`;
    const asked = this.#asked('TxnOffsetCommit', doing, group, group);
    const q = { ...ids, group, parts: offsets };
    const refused = refusedParts(group, ids.transactionalId);
    await this.#coordinators.call({ kind: 'group', key: group }, TXN_OFFSET_COMMIT, q, asked, refused, signal);
  }

  async endTxn(ids: TxnIds, commit: boolean, signal: AbortSignal): Promise<void> {
    const [of, asked] = this.#transactional('EndTxn', `${commit ? 'commit' : 'abort'} the transaction`, ids);
    await this.#coordinators.call(of, END_TXN, { ...ids, commit }, asked, ofWhole, signal);
  }

  async describeTransaction(transactionalId: string, signal: AbortSignal): Promise<TransactionState | null> {
    const of = { kind: 'transaction', key: transactionalId } as const;
    const doing = `ask for the transaction of ${transactionalId}`;
    const asked = this.#asked('DescribeTransactions', doing, transactionalId, transactionalId);
    if (!(await this.#coordinators.supports(of, DESCRIBE_TRANSACTIONS, asked, signal))) return null;
    const refused = (states: readonly { readonly code: number }[]): Refusal | null => {
      const code = states[0]?.code ?? -1;
      return code === 0 || errorWord(code) === 'TRANSACTIONAL_ID_NOT_FOUND' ? null : { code };
    };
    const states = await this.#coordinators.call(
      of,
      DESCRIBE_TRANSACTIONS,
      { transactionalId },
      asked,
      refused,
      signal,
    );
    const [s] = states;
    if (s === undefined || s.code !== 0) return null;
    const { state, producerId, epoch, timeoutMs, startTime } = s;
    return { state, producerId, epoch, timeoutMs, startTime: startTime < 0 ? null : startTime };
  }

  async offsetFetch(
    group: string,
    partitions: readonly TopicPartition[],
    o: { readonly stable: boolean },
    signal: AbortSignal,
  ): Promise<readonly CommittedOffset[]> {
    const asked = this.#asked('OffsetFetch', `read the offsets of group ${group}`, group, group);
    const q = { group, parts: partitions, stable: o.stable };
    const refused = ({ code, parts }: { code: number; parts: readonly PartitionCode[] }): Refusal | null =>
      code === 0 ? refusedParts(group, null)(parts) : { code };
    const { parts } = await this.#coordinators.call(
      { kind: 'group', key: group },
      OFFSET_FETCH,
      q,
      asked,
      refused,
      signal,
    );
    return partitions.map(({ topic, partition }) => {
      const found = parts.find((p) => p.topic === topic && p.partition === partition);
      const offset = found === undefined || found.offset < 0 ? null : found.offset;
      return { topic, partition, offset, metadata: found?.metadata ?? '' };
    });
  }

  async offsetCommit(group: string, offsets: readonly GroupOffset[], signal: AbortSignal): Promise<void> {
    const asked = this.#asked('OffsetCommit', `commit offsets of group ${group}`, group, group);
    const of = { kind: 'group', key: group } as const;
    const refused = refusedParts(group, null);
    await this.#coordinators.call(of, OFFSET_COMMIT, { group, parts: offsets }, asked, refused, signal);
  }

  async deleteRecords(
    parts: readonly (TopicPartition & { readonly before: number })[],
    signal: AbortSignal,
  ): Promise<void> {
    const request = (mine: typeof parts) => ({ parts: mine, timeoutMs: this.#limitMs });
    await this.#leaders.ask(DELETE_RECORDS, parts, 'delete records of', request, signal);
  }

  createTopics(topics: readonly NewTopic[], signal: AbortSignal): Promise<void> {
    return this.#admin.createTopics(topics, signal);
  }

  createPartitions(topic: string, count: number, signal: AbortSignal): Promise<void> {
    return this.#admin.createPartitions(topic, count, signal);
  }

  deleteTopics(topics: readonly string[], signal: AbortSignal): Promise<void> {
    return this.#admin.deleteTopics(topics, signal);
  }

  topicConfigs(topic: string, signal: AbortSignal): Promise<ReadonlyMap<string, string | null>> {
    return this.#admin.topicConfigs(topic, signal);
  }

  brokerConfigs(signal: AbortSignal): Promise<ReadonlyMap<string, string | null>> {
    return this.#admin.brokerConfigs(signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#nodes.close();
    return Promise.resolve();
  }
}

const SENT = { error: null, reason: null, baseOffset: -1, logAppendTime: null } as const;

const SHOWN = 3;

function shown(parts: readonly TopicPartition[]): string {
  const names = parts.slice(0, SHOWN).map(showPartition).join(', ');
  return parts.length > SHOWN ? `${names} and ${String(parts.length - SHOWN)} more` : names;
}

const ofWhole = ({ code }: { readonly code: number }): Refusal | null => (code === 0 ? null : { code });

/** The other partitions are not tried (OPERATION_NOT_ATTEMPTED) where one is refused: that one is to be told of. */
function worst(parts: readonly PartitionCode[]): PartitionCode | undefined {
  const failed = parts.filter((p) => p.code !== 0);
  return failed.find((p) => errorWord(p.code) !== 'OPERATION_NOT_ATTEMPTED') ?? failed[0];
}

/** Rights are on topics, groups or transactional ids; the answer has all of them with the partitions. */
const refusedParts =
  (group: string, transactionalId: string | null) =>
  (parts: readonly PartitionCode[]): Refusal | null => {
    const bad = worst(parts);
    if (bad === undefined) return null;
    const word = errorWord(bad.code) ?? '';
    const about = word.startsWith('TRANSACTIONAL_ID_')
      ? (transactionalId ?? '')
      : word.startsWith('GROUP_')
        ? group
        : bad.topic;
    return { code: bad.code, place: showPartition(bad), resource: about };
  };

const ofParts = (parts: readonly PartitionCode[]): Refusal | null => {
  const bad = worst(parts);
  if (bad === undefined) return null;
  const place = showPartition(bad);
  const onTopic = errorWord(bad.code)?.startsWith('TOPIC_') ?? false;
  return onTopic ? { code: bad.code, place, resource: bad.topic } : { code: bad.code, place };
};
