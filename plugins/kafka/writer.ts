import { defineWriter, type LaneContext, type LaneWriter, type PluginContext, type Writer } from 'syncx/plugin-api';
import { csvDialect } from 'syncx/plugin-kit';
import { brokerErrorName } from './client/broker-errors.js';
import type { KafkaClient } from './client/kafka-client.js';
import { openClient, writerConnection } from './open-client.js';
import { KafkaCommitter } from './write/committer.js';
import { createMissing, missingTopics } from './write/create-topics.js';
import { explainWriter } from './write/explain.js';
import { LaneTransaction } from './write/lane-transaction.js';
import { KafkaLaneWriter } from './write/lane-writer.js';
import { partitionerOf } from './write/partitioner.js';
import { codecRecords } from './write/records/codec-records.js';
import { askAhead, rehearse } from './write/rehearsal.js';
import { Sender } from './write/sender.js';
import { TopicGrowth } from './write/topic-growth.js';
import { isTopicTemplate, topicOf } from './write/topic-names.js';
import { assertMarkerTopic, assertPartition, lookUpTopic, writableTopic } from './write/write-topics.js';
import {
  WRITER_OPTIONS,
  acksOf,
  checkWriterOptions,
  headersOf,
  compressionOf,
  markerTopicOf,
  transactionTimeoutOf,
  wantedColumns,
  type WriterOptions,
} from './writer-options.js';

const NONE: ReadonlySet<string> = new Set();

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
      explain: async () => {
        const missing = this.#o.createTopic ? await missingTopics(this.#client, this.#fixedTopics(), signal) : NONE;
        await this.#checkTopics(missing);
        if (exactly) await askAhead(this.#client, transactionTimeoutOf(this.#o), signal);
        return explainWriter(this.#client, this.#o, missing, signal);
      },
      begin: async (run) => {
        const { createTopic } = this.#o;
        if (createTopic) await createMissing(this.#client, this.#fixedTopics(), createTopic, signal);
        await this.#checkTopics();
        if (exactly) await rehearse(this.#client, run, transactionTimeoutOf(this.#o), signal);
      },
      openLane: (lane) => this.#openLane(lane),
      ...(exactly
        ? {
            committer: new KafkaCommitter(this.#client, {
              markerTopic: markerTopicOf(this.#o),
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

  /** Those that are known before rows come. */
  #fixedTopics(): readonly string[] {
    const { topic, semantic } = this.#o;
    const names = [...(semantic === 'exactly-once' ? [markerTopicOf(this.#o)] : []), topic];
    return [...new Set(names)].filter((name) => !isTopicTemplate(name));
  }

  /** Those that are known before rows come. @param missing They will be made. @throws SyncError SINK_IO, JOB_INVALID */
  async #checkTopics(missing: ReadonlySet<string> = NONE): Promise<void> {
    const { topic, partition, semantic } = this.#o;
    const { signal } = this.#context;
    const marker = markerTopicOf(this.#o);
    if (semantic === 'exactly-once' && !missing.has(marker)) await assertMarkerTopic(this.#client, marker, signal);
    if (isTopicTemplate(topic) || missing.has(topic)) return;
    const { partitions } = await writableTopic(this.#client, topic, signal);
    assertPartition(topic, partitions.length, partition ?? null);
  }

  async #openLane(lane: LaneContext): Promise<LaneWriter> {
    const o = this.#o;
    const { keyColumns, tombstones } = o;
    const csv = csvDialect(o);
    const headers = headersOf(o);
    const recordOptions = { keyColumns, tombstones, onePartition: o.partition !== undefined };
    // Its own: a lane may live in another thread, and closes it.
    const client = await openClient(writerConnection(o).connection, 'sink');
    try {
      const acks = acksOf(o);
      const fixed = o.partition ?? null;
      const lookUp = async (topic: string) => {
        if (o.createTopic) await createMissing(client, [topic], o.createTopic, lane.signal);
        return lookUpTopic(client, topic, fixed, lane.signal);
      };
      const known = isTopicTemplate(o.topic) ? null : await lookUp(o.topic);
      const sender = new Sender(client, {
        acks,
        codec: compressionOf(o),
        batchBytes: o.batchBytes,
        deliveryMs: o.deliveryTimeout,
        log: lane.log,
        signal: lane.signal,
      });
      const parts = {
        client,
        sender,
        place: o.topic,
        markerTopic: markerTopicOf(o),
        timeoutMs: transactionTimeoutOf(o),
      };
      const transaction = o.semantic === 'exactly-once' ? new LaneTransaction({ ...parts, lane }) : null;
      if (transaction === null && acks === -1) await this.#makeIdempotent(client, sender, lane);
      return new KafkaLaneWriter({
        client,
        lane,
        sender,
        topicOf: (schema) => topicOf(o.topic, schema),
        lookUp: async (topic) => known ?? (await lookUp(topic)),
        partitioner: (partitions) => partitionerOf(partitions, fixed, lane.lane),
        records: (schema) =>
          codecRecords(o.codec, schema, { ...recordOptions, columns: wantedColumns(o), csv }, headers),
        growth: new TopicGrowth({ client, maxAgeMs: o.metadataMaxAge, log: lane.log, signal: lane.signal }),
        transaction,
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
      lane.log.warn({}, 'without the right IDEMPOTENT_WRITE a batch whose answer is lost may come twice');
    }
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
