import {
  SyncError,
  defineReader,
  isSyncError,
  type JsonValue,
  type LaneContext,
  type LaneReader,
  type PluginContext,
  type Position,
  type Reader,
  type ReaderFacts,
  type Split,
  type SplitFacts,
  type SplitPlanner,
} from 'syncx/plugin-api';
import { columnSpecs, csvDialect, isSpec, unnamed } from 'syncx/plugin-kit';
import { brokerErrorName } from './client/broker-errors.js';
import type { KafkaClient, TopicPartition } from './client/kafka-client.js';
import { openClient, readerConnection } from './open-client.js';
import { checkReaderOptions, committedOnly, groupOf, textOf, topicNames } from './read/check-options.js';
import { KafkaLaneReader, type LaneReading } from './read/lane-reader.js';
import { parseOffsets } from './read/offset-text.js';
import { KafkaPlanner, decodePlan, planOf, type KafkaPlan } from './read/planner.js';
import { codecRows, isChangeCodec, type ChangeSettings, type RowsOptions } from './read/rows/codec-rows.js';
import { nullValuesOf } from './read/rows/null-values.js';
import { tellOnce } from './read/rows/tell-once.js';
import { offsetOf, positions, specOf, splitIdOf, splitOf } from './read/split-spec.js';
import {
  startOffsets,
  stopOffsets,
  type OffsetLookup,
  type Offsets,
  type StartMode,
  type StopMode,
} from './read/start-offsets.js';
import {
  assertCluster,
  idsOf,
  madeAnew,
  partitionsOf,
  topicsNow,
  type TopicPartitionNow,
  type TopicsNow,
} from './read/topics.js';
import { READER_OPTIONS, type ReaderOptions } from './reader-options.js';

class KafkaReader implements Reader {
  readonly positions = positions;
  readonly replayable = true;
  readonly #o: ReaderOptions;
  readonly #context: PluginContext;
  readonly #client: KafkaClient;
  /** By name, as they were when this start looked first. */
  #topicIds: Readonly<Record<string, string | null>> = {};
  /** All of a new run; null: it is none. */
  #planned: readonly Split[] | null = null;
  /** Why the offsets of the last checkpoint are not with the group; null: they are. */
  #untold: string | null = null;

  constructor(options: ReaderOptions, context: PluginContext, client: KafkaClient) {
    this.#o = options;
    this.#context = context;
    this.#client = client;
  }

  async planner(saved: JsonValue | null): Promise<SplitPlanner> {
    const bounded = this.#o.bounded !== 'no';
    const now = await topicsNow(this.#client, this.#o, this.#context.signal);
    this.#topicIds = idsOf(now.topics);
    const plan = saved === null ? await this.#plan(now) : decodePlan(saved);
    if (saved !== null) assertCluster(now, plan.cluster);
    const { partitionDiscovery } = this.#o;
    return new KafkaPlanner(plan, bounded, {
      intervalMs: partitionDiscovery === 0 ? null : partitionDiscovery,
      partitions: (signal) => this.#partitionsNow(signal),
      found: (partitions) => {
        const names = partitions.map((p) => splitIdOf(p.topic, p.partition)).join(', ');
        this.#context.log.info({ partitions: names }, `new partitions are read from their first record: ${names}`);
      },
      failed: ({ message }) => {
        this.#context.log.info({ error: message }, `new partitions cannot be looked for just now: ${message}`);
      },
    });
  }

  /** In mid-run: a lane that has no reason to look would not see that a topic is another one. */
  async #partitionsNow(signal: AbortSignal): Promise<readonly TopicPartitionNow[]> {
    const now = await topicsNow(this.#client, this.#o, signal);
    const partitions = partitionsOf(now, this.#o);
    for (const { topic, id } of now.topics) {
      const was = this.#topicIds[topic] ?? id;
      if (was !== null && id !== null && was !== id && this.#o.offsetGone === 'fail') throw madeAnew(topic, was, id);
    }
    this.#topicIds = { ...idsOf(now.topics), ...this.#topicIds };
    return partitions;
  }

  /** For the lanes. */
  shared(): JsonValue {
    return this.#topicIds;
  }

  async #plan(now: TopicsNow): Promise<KafkaPlan> {
    const partitions = partitionsOf(now, this.#o);
    const lookup = this.#lookup();
    const starts = await startOffsets(lookup, partitions, this.#startMode());
    const stop = this.#stopMode();
    const stops = stop === null ? null : await stopOffsets(lookup, partitions, stop);
    const splits = partitions.map(({ topic, topicId, partition }, i): Split => {
      const start = starts[i] ?? 0;
      const end = stops === null ? null : Math.max(start, stops[i] ?? start);
      return splitOf({ topic, topicId, partition, start, stop: end });
    });
    this.#planned = splits;
    return planOf(splits, now.cluster);
  }

  #lookup(): OffsetLookup {
    const { log, signal } = this.#context;
    return { client: this.#client, isolation: this.#isolation(), log, signal };
  }

  #isolation(): 'committed' | 'uncommitted' {
    return committedOnly(this.#o) ? 'committed' : 'uncommitted';
  }

  #startMode(): StartMode {
    const { mode, timestamp = 0, offset = '' } = this.#o;
    switch (mode) {
      case 'earliest-offset':
        return { is: 'earliest' };
      case 'latest-offset':
        return { is: 'latest' };
      case 'timestamp':
        return { is: 'timestamp', ms: timestamp };
      case 'specific-offsets':
        return { is: 'offsets', at: this.#offsets(offset) };
      case 'group-offsets': {
        const reset = textOf(this.#o, 'auto.offset.reset');
        const known = reset === 'latest' || reset === 'none' ? reset : 'earliest';
        return { is: 'group', group: groupOf(this.#o) ?? '', reset: known };
      }
    }
  }

  #stopMode(): StopMode | null {
    const { bounded, boundedTimestamp = 0, boundedOffset = '' } = this.#o;
    switch (bounded) {
      case 'no':
        return null;
      case 'latest-at-start':
        return { is: 'latest' };
      case 'timestamp':
        return { is: 'timestamp', ms: boundedTimestamp };
      case 'offsets':
        return { is: 'offsets', at: this.#offsets(boundedOffset) };
    }
  }

  #offsets(text: string): Offsets {
    const offsets = parseOffsets(text, topicNames(this.#o));
    if (typeof offsets === 'string') throw new SyncError('JOB_INVALID', offsets, { blame: 'config' });
    return offsets;
  }

  async openLane(lane: LaneContext, shared: JsonValue): Promise<LaneReader> {
    const { codec } = this.#o;
    const columns = columnSpecs(this.#o.column);
    const csv = csvDialect(this.#o);
    const avro = await avroOf(this.#o);
    const changes: ChangeSettings = {
      included: { database: this.#o.databaseInclude ?? null, table: this.#o.tableInclude ?? null },
      note: tellOnce(lane.log),
    };
    const reading: LaneReading = {
      committedOnly: committedOnly(this.#o),
      whenGone: this.#o.offsetGone,
      topicIds: shared as Readonly<Record<string, string | null>>,
      rows: (topic, partition) => {
        const nulls = nullValuesOf(this.#o, splitIdOf(topic, partition), lane.log);
        return codecRows({ codec, columns, csv, changes, avro }, { topic, partition }, nulls);
      },
    };
    // Its own: a lane may live in another thread, and close it with itself.
    const client = await openClient(readerConnection(this.#o).connection, 'source');
    return new KafkaLaneReader(client, lane, reading);
  }

  /** For tools that show how far the group is; the job itself goes by its own checkpoints. */
  async checkpointed(at: Readonly<Record<string, Position | null>>): Promise<void> {
    const group = groupOf(this.#o);
    if (group === null) return;
    const offsets = Object.entries(at).flatMap(([id, position]) => {
      const of = partitionOf(id);
      return position === null || of === null ? [] : [{ ...of, offset: offsetOf(position), metadata: null }];
    });
    if (offsets.length === 0) return;
    try {
      await this.#client.offsetCommit(group, offsets, this.#context.signal);
      this.#untold = null;
    } catch (e) {
      this.#context.signal.throwIfAborted();
      const word = brokerErrorName(e);
      // The job does not live by them. A missing right or a bad name stays so, and is for a person.
      if (!isSyncError(e) || word === 'INVALID_GROUP_ID' || word?.endsWith('_AUTHORIZATION_FAILED') === true) throw e;
      const { message, hint } = e;
      if (message === this.#untold) return;
      this.#untold = message;
      const told = `offsets are not told to the group ${group}, and the job goes on: ${message}`;
      this.#context.log.warn({ group, error: message, ...(hint === undefined ? {} : { hint }) }, told);
    }
  }

  async explain(): Promise<ReaderFacts> {
    const { explainResumed, explainTopics } = await import('./read/explain-topics.js'); // only for plans
    return this.#planned === null
      ? explainResumed(Object.keys(this.#topicIds), this.#o)
      : explainTopics(this.#lookup(), this.#planned, this.#o);
  }

  explainSplit(split: Split): SplitFacts {
    const { topic, partition, start, stop } = specOf(split);
    const to = stop === null ? 'on' : `to ${String(stop)}`;
    const what = `${topic}-${String(partition)} from offset ${String(start)} ${to}`;
    return { what, rows: stop === null ? null : stop - start, bytes: null };
  }

  async close(): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
  }
}

/** Names of topics may have hyphens; the partition is behind the last one. */
function partitionOf(splitId: string): TopicPartition | null {
  const at = splitId.lastIndexOf('-');
  const partition = Number(splitId.slice(at + 1));
  return at < 1 || !Number.isInteger(partition) ? null : { topic: splitId.slice(0, at), partition };
}

/** Null: no job of another codec loads it. */
async function avroOf(o: ReaderOptions): Promise<RowsOptions['avro']> {
  return o.codec === 'avro' ? (await import('./read/avro/open-avro.js')).openAvro(o) : null;
}

/** Null: they are those of each record. */
function columnNames(o: ReaderOptions): readonly string[] | null {
  if (o.codec === 'raw') return ['value', 'key', 'headers', 'timestamp'];
  const columns = columnSpecs(o.column) ?? (['*'] as const);
  if ((isChangeCodec(o.codec) || o.codec === 'avro') && !columns.every(isSpec)) return null;
  const whole = o.codec === 'json' ? 'json' : 'message';
  return columns.map((c, i) => (isSpec(c) ? (c.name ?? unnamed(c.index ?? i)) : whole));
}

export const reader = defineReader({
  name: 'kafka',
  aliases: [],
  summary: 'Reads topics of Kafka, with or without an end.',
  options: READER_OPTIONS,
  boundedness: (o) => (o.bounded === 'no' ? 'unbounded' : 'bounded'),
  replayable: true,
  check: checkReaderOptions,
  columns: columnNames,
  create: async (o, context) => {
    await avroOf(o); // what is wrong with the schema shows at once
    return new KafkaReader(o, context, await openClient(readerConnection(o).connection, 'source'));
  },
});
