/**
 * What a Kafka holds exactly, and topics, producers and transactions of a test's own: all by the Java client, which knows nothing of
 * this project's code. `kafkaTest` gives them; skipped where SYNC_KAFKA_BROKERS is not set, as in services.ts.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { serverTest } from './services.js';
import { startTool, type ToolProcess, type ToolRecord } from './kafka/tool-process.js';

export { KafkaToolError } from './kafka/tool-process.js';

export interface KafkaHeader {
  readonly key: string;
  readonly value: Buffer | null;
}

export interface KafkaRecord {
  readonly partition: number;
  readonly offset: number;
  /** Milliseconds. */
  readonly timestamp: number;
  readonly timestampType: 'CreateTime' | 'LogAppendTime';
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly KafkaHeader[];
}

type Bytes = string | Uint8Array | null;

/** Left out: a null key or value, no headers, the client's choice of partition and time. */
export interface NewRecord {
  readonly key?: Bytes;
  readonly value?: Bytes;
  readonly partition?: number;
  readonly timestamp?: number;
  readonly headers?: readonly { readonly key: string; readonly value: Bytes }[];
}

export interface Sent {
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
}

/** As the Java client's: `compression.type`, `security.protocol`, … */
export type Properties = Readonly<Record<string, string>>;

export interface ReadOptions {
  /** Default `read_committed`. */
  readonly isolation?: 'read_committed' | 'read_uncommitted';
  /** Partition → the first offset to read; without one from the beginning. */
  readonly from?: Readonly<Record<number, number>>;
  readonly properties?: Properties;
  readonly timeoutMs?: number;
}

export interface TopicContent {
  /** By partition, then offset. */
  readonly records: readonly KafkaRecord[];
  /** Partition → the offset after the last one that this isolation may see, as it was when the reading began. */
  readonly ends: Readonly<Record<number, number>>;
}

/** At its end it aborts a transaction that is open. */
export interface Producer extends AsyncDisposable {
  /** Sends all and waits for the broker's answers. */
  send(topic: string, records: readonly NewRecord[]): Promise<readonly Sent[]>;
  /** Before the first transaction. Fences other producers of this `transactional.id`. */
  init(): Promise<void>;
  begin(): Promise<void>;
  commit(): Promise<void>;
  abort(): Promise<void>;
  /** Without a word to the broker: the transaction stays open, as after the death of a producer. */
  abandon(): Promise<void>;
}

export interface OwnTopic extends AsyncDisposable {
  readonly name: string;
  send(records: readonly NewRecord[], properties?: Properties): Promise<readonly Sent[]>;
  /** All that is there when it begins. */
  read(options?: ReadOptions): Promise<TopicContent>;
  records(options?: ReadOptions): Promise<readonly KafkaRecord[]>;
  /** Raises their number to this. */
  addPartitions(partitions: number): Promise<void>;
  /** Those before the offset; -1: all. */
  deleteRecords(partition: number, before: number): Promise<void>;
  alterConfig(config: Properties): Promise<void>;
}

export interface TopicOptions {
  /** Default 1. */
  readonly partitions?: number;
  readonly config?: Properties;
  /** What the name begins with; `limited-` for the user of few rights. Default `sync-`. */
  readonly prefix?: string;
  /** In place of a random one. */
  readonly name?: string;
}

export interface Right {
  readonly user: string;
  readonly type: 'topic' | 'group' | 'transactional_id' | 'cluster';
  /** `kafka-cluster` of a cluster. */
  readonly name: string;
  readonly pattern?: 'literal' | 'prefixed';
  readonly operation: 'read' | 'write' | 'create' | 'delete' | 'alter' | 'describe' | 'idempotent_write';
}

export interface GroupOffset {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly metadata: string;
}

export interface OpenTransaction {
  readonly transactionalId: string;
  readonly producerId: string;
  /** `Ongoing`, `CompleteCommit`, `CompleteAbort`, `Empty`, … */
  readonly state: string;
}

export interface Kafka extends AsyncDisposable {
  /** `host:port` of the listener without a login, where everybody may do all. */
  readonly brokers: string;
  /** A new topic, deleted at its end: `await using topic = await kafka.topic()`. */
  topic(options?: TopicOptions): Promise<OwnTopic>;
  /** A topic that the test did not create so. */
  read(topic: string, options?: ReadOptions): Promise<TopicContent>;
  deleteTopic(name: string): Promise<void>;
  producer(properties?: Properties): Promise<Producer>;
  groupOffsets(group: string): Promise<readonly GroupOffset[]>;
  setGroupOffset(group: string, topic: string, partition: number, offset: number): Promise<void>;
  deleteGroup(group: string): Promise<void>;
  /** Their numbers. */
  liveBrokers(): Promise<readonly number[]>;
  /** Which broker leads each partition of the topic, by their numbers; -1: none now. */
  leaders(topic: string): Promise<readonly number[]>;
  /** All that the broker knows of. */
  transactions(): Promise<readonly OpenTransaction[]>;
  /** Until its end. */
  allow(right: Right): Promise<AsyncDisposable>;
}

/** The listeners with a login, and the files of SYNC_KAFKA_CERTS; install/services/kafka.sh lists users and files. */
export interface KafkaListeners {
  readonly saslPlaintext: string;
  readonly saslSsl: string;
  readonly ssl: string;
  certificate(file: string): string;
}

function variable(name: string): string {
  const value = process.env[name] ?? '';
  if (value === '') throw new Error(`${name} is not set; install/services/services.sh env kafka prints it`);
  return value;
}

/** Those of the shared broker. */
export const kafkaListeners = (): KafkaListeners => ({
  saslPlaintext: variable('SYNC_KAFKA_SASL_PLAINTEXT'),
  saslSsl: variable('SYNC_KAFKA_SASL_SSL'),
  ssl: variable('SYNC_KAFKA_SSL'),
  certificate: (file) => join(variable('SYNC_KAFKA_CERTS'), file),
});

let shared: Kafka | null = null;

/** A test on the shared broker; all tests of a file share one Java client. */
export function kafkaTest(name: string, body: (kafka: Kafka, t: TestContext) => Promise<void> | void): void {
  serverTest('kafka', name, (server, t) => body((shared ??= openKafka(server.url)), t));
}

/** For a broker of the test's own: `await using kafka = openKafka(server.url)`. */
export function openKafka(brokers: string): Kafka {
  const tool = startTool(variable('SYNC_KAFKA_LIB'), brokers);
  const tell = async (op: string, request: Readonly<Record<string, unknown>>): Promise<void> => {
    await tool.ask(op, request);
  };
  const readTopic = (topic: string, options: ReadOptions = {}): Promise<TopicContent> => read(tool, topic, options);
  const deleteTopic = (topic: string): Promise<void> => tell('deleteTopic', { topic });
  return {
    brokers,
    topic: async (options = {}) => {
      const topic = options.name ?? `${options.prefix ?? 'sync-'}${randomBytes(6).toString('hex')}`;
      await tell('createTopic', { topic, partitions: options.partitions ?? 1, config: options.config ?? {} });
      return {
        name: topic,
        send: async (records, properties) => {
          await using producer = await openProducer(tool, properties);
          return await producer.send(topic, records);
        },
        read: (o) => readTopic(topic, o),
        records: async (o) => (await readTopic(topic, o)).records,
        addPartitions: (partitions) => tell('addPartitions', { topic, partitions }),
        deleteRecords: (partition, before) => tell('deleteRecords', { topic, partition, before }),
        alterConfig: (config) => tell('alterConfig', { topic, config }),
        [Symbol.asyncDispose]: () => deleteTopic(topic),
      };
    },
    read: readTopic,
    deleteTopic,
    producer: (properties) => openProducer(tool, properties),
    groupOffsets: async (group) => (await tool.ask('groupOffsets', { group })).result as readonly GroupOffset[],
    setGroupOffset: (group, topic, partition, offset) => tell('setGroupOffset', { group, topic, partition, offset }),
    deleteGroup: (group) => tell('deleteGroup', { group }),
    liveBrokers: async () => (await tool.ask('brokers')).result as readonly number[],
    leaders: async (topic) => (await tool.ask('leaders', { topic })).result as readonly number[],
    transactions: async () => (await tool.ask('transactions')).result as readonly OpenTransaction[],
    allow: async (right) => {
      const request = { pattern: 'literal', ...right };
      await tell('allow', request);
      return { [Symbol.asyncDispose]: () => tell('disallow', request) };
    },
    [Symbol.asyncDispose]: () => tool.end(),
  };
}

async function read(tool: ToolProcess, topic: string, options: ReadOptions): Promise<TopicContent> {
  const { records, result } = await tool.ask('consume', {
    topic,
    isolation: options.isolation ?? 'read_committed',
    from: options.from ?? {},
    properties: options.properties ?? {},
    timeoutMs: options.timeoutMs ?? 30_000,
  });
  return {
    records: records.map(decoded).sort((a, b) => a.partition - b.partition || a.offset - b.offset),
    ends: result as Record<number, number>,
  };
}

const bytes = (base64: string | null): Buffer | null => (base64 === null ? null : Buffer.from(base64, 'base64'));

const decoded = (r: ToolRecord): KafkaRecord => ({
  ...r,
  key: bytes(r.key),
  value: bytes(r.value),
  headers: r.headers.map((h) => ({ key: h.key, value: bytes(h.value) })),
});

const base64 = (data: Bytes | undefined): string | null =>
  data === undefined || data === null ? null : Buffer.from(data).toString('base64');

async function openProducer(tool: ToolProcess, properties: Properties = {}): Promise<Producer> {
  const producer = randomBytes(6).toString('hex');
  let open = true;
  await tool.ask('open', { producer, properties });
  const tell =
    (op: string): (() => Promise<void>) =>
    async () => {
      await tool.ask(op, { producer });
    };
  const last = async (op: string): Promise<void> => {
    if (!open) return;
    open = false;
    await tool.ask(op, { producer });
  };
  return {
    send: async (topic, records) => {
      const encoded = records.map((r) => ({
        ...r,
        key: base64(r.key),
        value: base64(r.value),
        headers: (r.headers ?? []).map((h) => ({ key: h.key, value: base64(h.value) })),
      }));
      return (await tool.ask('send', { producer, topic, records: encoded })).result as readonly Sent[];
    },
    init: tell('init'),
    begin: tell('begin'),
    commit: tell('commit'),
    abort: tell('abort'),
    abandon: () => last('abandon'),
    [Symbol.asyncDispose]: () => last('close'),
  };
}
