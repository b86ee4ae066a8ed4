import {
  SyncError,
  defineWriter,
  type LaneContext,
  type LaneWriter,
  type PluginContext,
  type Writer,
  type WriterFacts,
} from 'syncx/plugin-api';
import { brokerErrorName } from './client/broker-errors.js';
import type { KafkaClient, Topic } from './client/kafka-client.js';
import { openClient, writerConnection } from './open-client.js';
import { KafkaCommitter } from './write/committer.js';
import { LaneTransaction } from './write/lane-transaction.js';
import { KafkaLaneWriter } from './write/lane-writer.js';
import { partitionerOf } from './write/partitioner.js';
import { codecRecords } from './write/records/codec-records.js';
import { Sender } from './write/sender.js';
import {
  WRITER_OPTIONS,
  acksOf,
  checkWriterOptions,
  compressionOf,
  transactionTimeoutOf,
  wantedColumns,
  type WriterOptions,
} from './writer-options.js';

/** max.message.bytes where the broker does not say: its own default. */
const DEFAULT_MAX_BYTES = 1_048_588;

class KafkaWriter {
  readonly #o: WriterOptions;
  readonly #context: PluginContext;
  readonly #client: KafkaClient;

  constructor(options: WriterOptions, context: PluginContext, client: KafkaClient) {
    this.#o = options;
    this.#context = context;
    this.#client = client;
  }

  asWriter(): Writer {
    const exactly = this.#o.semantic === 'exactly-once';
    const { signal } = this.#context;
    return {
      delivery: this.#o.semantic,
      explain: () => this.#explain(),
      begin: async () => {
        const topic = await this.#topic(this.#client);
        if (this.#o.partition !== undefined && this.#o.partition >= topic.partitions.length)
          throw this.#noPartition(topic);
      },
      openLane: (lane) => this.#openLane(lane),
      ...(exactly
        ? {
            committer: new KafkaCommitter(this.#client, {
              topic: this.#o.topic,
              timeoutMs: transactionTimeoutOf(this.#o),
              signal,
              failpoint: (step) => {
                this.#context.failpoint(step);
              },
            }),
          }
        : {}),
      complete: () => Promise.resolve(),
      close: async () => {
        await this.#client[Symbol.asyncDispose]();
      },
    };
  }

  /** @throws SyncError SINK_IO where the topic is not there, or may not be written. */
  async #topic(client: KafkaClient): Promise<Topic> {
    const { signal } = this.#context;
    const { topics } = await client.metadata([this.#o.topic], signal, { rights: true });
    const [topic] = topics;
    const place = this.#o.topic;
    if (topic === undefined || topic.error !== null || topic.partitions.length === 0) {
      throw new SyncError(
        'SINK_IO',
        `the topic ${place} cannot be written: ${topic?.error ?? 'it has no partitions'}`,
        {
          place,
          retry: 'never',
          blame: 'config',
          hint: 'Create it, or check its name and the rights of the user (topic WRITE and DESCRIBE).',
        },
      );
    }
    const needed = this.#o.semantic === 'exactly-once' ? ['WRITE', 'READ'] : ['WRITE'];
    const lacking = topic.rights === null ? [] : needed.filter((r) => topic.rights?.has(r) === false);
    if (lacking.length > 0) {
      throw new SyncError('SINK_IO', `the user has no right to ${lacking.join(', ')} on the topic ${place}`, {
        place,
        retry: 'never',
        blame: 'config',
        hint: 'Grant it. Exactly-once needs READ too, for the marker of each checkpoint.',
      });
    }
    return topic;
  }

  #noPartition(topic: Topic): SyncError {
    const { topic: place, partition } = this.#o;
    const message = `${place} has no partition ${String(partition)}, but ${String(topic.partitions.length)} from 0 on`;
    return new SyncError('JOB_INVALID', message, { place: 'writer.parameter.partition', blame: 'config' });
  }

  async #openLane(lane: LaneContext): Promise<LaneWriter> {
    const o = this.#o;
    // Its own: a lane may live in another thread, and closes it.
    const client = await openClient(writerConnection(o).connection, 'sink');
    try {
      const { partitions } = await this.#topic(client);
      const maxBatchBytes = await this.#maxBytes(client, lane.signal);
      const acks = acksOf(o);
      const sender = new Sender(client, partitions.length, {
        topic: o.topic,
        acks,
        codec: compressionOf(o),
        batchBytes: Math.min(o.batchBytes, maxBatchBytes),
        deliveryMs: o.deliveryTimeout,
        log: lane.log,
        signal: lane.signal,
      });
      const parts = { client, sender, topic: o.topic, timeoutMs: transactionTimeoutOf(o), lane };
      const transaction = o.semantic === 'exactly-once' ? new LaneTransaction(parts) : null;
      if (transaction === null && acks === -1) await this.#makeIdempotent(client, sender, lane);
      return new KafkaLaneWriter({
        client,
        lane,
        sender,
        partitioner: partitionerOf(partitions.length, o.partition ?? null, lane.lane),
        records: (schema) => codecRecords(o.codec, schema, { columns: wantedColumns(o), keyColumns: o.keyColumns }),
        transaction,
        maxBatchBytes,
        topic: o.topic,
      });
    } catch (e) {
      await client[Symbol.asyncDispose]();
      throw e;
    }
  }

  /** So that a batch that is sent again after a lost answer lands once. */
  async #makeIdempotent(client: KafkaClient, sender: Sender, lane: LaneContext): Promise<void> {
    try {
      const { producerId, epoch } = await client.initProducerId(null, transactionTimeoutOf(this.#o), lane.signal);
      sender.use({ producerId, epoch, transactionalId: null });
    } catch (e) {
      if (brokerErrorName(e) !== 'CLUSTER_AUTHORIZATION_FAILED') throw e;
      lane.log.warn(
        { topic: this.#o.topic },
        'without the right IDEMPOTENT_WRITE a batch whose answer is lost may come twice',
      );
    }
  }

  async #maxBytes(client: KafkaClient, signal: AbortSignal): Promise<number> {
    try {
      const configs = await client.topicConfigs(this.#o.topic, signal);
      return Number(configs.get('max.message.bytes') ?? DEFAULT_MAX_BYTES);
    } catch (e) {
      if (brokerErrorName(e) !== 'TOPIC_AUTHORIZATION_FAILED') throw e;
      return DEFAULT_MAX_BYTES; // the user may write, and not see the settings
    }
  }

  async #explain(): Promise<WriterFacts> {
    const { signal } = this.#context;
    const { partitions } = await this.#topic(this.#client);
    const topic = this.#o.topic;
    const at = (which: 'earliest' | 'latest') =>
      this.#client.listOffsets(
        partitions.map(({ partition }) => ({ topic, partition, at: which })),
        'uncommitted',
        signal,
      );
    const [first, last] = [await at('earliest'), await at('latest')];
    const held = last.reduce((n, l, i) => n + (l.offset ?? 0) - (first[i]?.offset ?? 0), 0);
    const names = wantedColumns(this.#o)?.join(', ') ?? 'all columns';
    const exactly = this.#o.semantic === 'exactly-once';
    return {
      writes: [`records of topic ${topic}, ${this.#o.codec}, of ${names}`],
      target: {
        place: `topic ${topic}`,
        state: held === 0 ? 'empty' : 'filled',
        holds: `up to ${held.toLocaleString('en-US')} records in ${String(partitions.length)} partitions`,
        effect: 'they stay; records are added',
      },
      columns: null,
      losses: [],
      whyDelivery: exactly ? null : 'semantic is at-least-once unless it says exactly-once',
      problems: [],
    };
  }
}

export const writer = defineWriter({
  name: 'kafka',
  aliases: [],
  summary: 'Writes records to a topic of Kafka.',
  options: WRITER_OPTIONS,
  delivery: ['at-least-once', 'exactly-once'],
  check: checkWriterOptions,
  columns: wantedColumns,
  create: async (o, context) =>
    new KafkaWriter(o, context, await openClient(writerConnection(o).connection, 'sink')).asWriter(),
});
