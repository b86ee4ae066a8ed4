import type { Finding, OptionsOf, OptionsSchema } from 'syncx/plugin-api';
import { checkCsv } from 'syncx/plugin-kit';
import { BROKERS, CLIENT_ID, SASL, SETTINGS, SSL } from './client/connection-schema.js';
import { CSV_OPTIONS } from './csv-options.js';
import { writerConnection } from './open-client.js';
import type { HeaderOptions } from './write/records/headed-records.js';
import { TABLE_PARTS, isTopicTemplate, unknownPart } from './write/topic-names.js';

/** An option of FlinkX that has no effect, and why. */
const ignored = (why: string) => ({ description: `Has no effect: ${why}.`, 'x-ignored': why }) as const;

export const WRITER_OPTIONS = {
  type: 'object',
  additionalProperties: false,
  required: ['topic'],
  description: 'Writes records to a topic of Kafka.',
  examples: [{ brokers: 'localhost:9092', topic: 'orders', codec: 'json', keyColumns: ['id'] }],
  properties: {
    brokers: BROKERS,
    clientId: CLIENT_ID,
    ssl: SSL,
    sasl: SASL,
    producerSettings: SETTINGS,
    topic: {
      type: 'string',
      minLength: 1,
      description:
        'Topic to write to; it must exist, unless createTopic is set. With `${table}`, and `${database}`, in it each row goes to the topic that is named after its table.',
      examples: ['orders', 'cdc.${database}.${table}'],
      'x-template': TABLE_PARTS,
    },
    createTopic: {
      type: 'object',
      additionalProperties: false,
      description:
        'Topics that are not there are created, that of the markers too: before the first row, or, where they are named after tables, with the first row of the table. Without it they must exist.',
      examples: [{ partitions: 3 }],
      'x-state': 'tuning',
      properties: {
        partitions: {
          type: 'integer',
          minimum: 1,
          description: 'Number of partitions; without it that of the brokers.',
        },
        replicationFactor: {
          type: 'integer',
          minimum: 1,
          maximum: 32767,
          description: 'Copies of each partition; without it the default of the brokers.',
        },
        configs: {
          type: 'object',
          additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] },
          default: {},
          description: 'Settings of the topic, by the names of Kafka.',
          examples: [{ 'cleanup.policy': 'compact' }],
        },
      },
    },
    markerTopic: {
      type: 'string',
      minLength: 1,
      description:
        'With semantic exactly-once: the topic at whose partition 0 each checkpoint leaves its marker, an offset of a group of the job’s own; no record is written to it. Without it the topic of topic. It must be named where topic has `${table}`, and stay while the job runs: without its markers nobody could tell what is committed.',
      examples: ['cdc.markers'],
    },
    column: {
      type: 'array',
      default: ['*'],
      items: { type: 'string', minLength: 1 },
      description: 'Columns to write, in this order; `*`: all data columns.',
      examples: [['id', 'name']],
      'x-aliases': ['tableFields'],
    },
    codec: {
      type: 'string',
      enum: ['json', 'csv', 'text', 'raw', 'canal-json', 'debezium-json'],
      default: 'json',
      description:
        'What a value is. json: an object of the columns. csv: one line, without its line end. text: the text of one column. raw: the bytes of the column `value`, with `key`, `headers` and `timestamp` where the reader delivers them. canal-json, debezium-json: what happened to a row, an update with the row before and after it in one record.',
      'x-aliases': ['format'],
    },
    ...CSV_OPTIONS,
    keyColumns: {
      type: 'array',
      default: [],
      items: { type: 'string', minLength: 1 },
      description:
        'Columns that the key is made of: of one its text, of several a JSON object. With a key updates are records with the new row, and deletes are records without a value, as is the old key of an update that changes it; codecs of changes say what happened in the value, and without keyColumns their key is that of the source’s table, where it is known.',
      examples: [['id']],
      'x-aliases': ['partitionAssignColumns'],
    },
    tombstones: {
      type: 'boolean',
      default: false,
      description:
        'With codec canal-json or debezium-json: whether a record of the same key without a value comes behind each delete, so that compaction may drop the key. It needs keyColumns.',
    },
    headers: {
      type: 'object',
      additionalProperties: { type: 'string' },
      default: {},
      description: 'Headers of every record, by name; values are text.',
      examples: [{ source: 'syncx' }],
    },
    headersColumn: {
      type: 'string',
      minLength: 1,
      description:
        'Column that holds further headers of its row, and is no part of the value: a JSON list of {"key", "value"} with values in base64, as the meta column headers of the reader.',
      examples: ['headers'],
    },
    partition: {
      type: 'integer',
      minimum: 0,
      description:
        'All records go to this partition. Without it by key, as Java’s producer does, and in turns where there is no key.',
    },
    acks: {
      type: 'string',
      enum: ['all', '1', '0'],
      description:
        'Which copies a record must have reached: all, which holds without it, the leader’s, or none. Also as acks of producerSettings.',
      'x-values': { '-1': 'all' },
    },
    compression: {
      type: 'string',
      enum: ['none', 'gzip', 'snappy', 'lz4', 'zstd'],
      description: 'Codec of record batches; none without it. Also as compression.type of producerSettings.',
      'x-state': 'tuning',
    },
    batchBytes: {
      type: 'integer',
      minimum: 1024,
      maximum: 104857600,
      default: 524288,
      description: 'Size of a record batch, about, before compression; never more than the topic takes.',
      'x-unit': 'bytes',
      'x-state': 'tuning',
    },
    deliveryTimeout: {
      type: 'integer',
      minimum: 1000,
      maximum: 86400000,
      default: 120000,
      description: 'How long a batch is tried for while brokers do not take it.',
      'x-unit': 'ms',
      'x-state': 'tuning',
    },
    metadataMaxAge: {
      type: 'integer',
      minimum: 1,
      maximum: 86400000,
      default: 300000,
      description: 'How often the brokers are asked whether topics have more partitions: records then go to these too.',
      'x-unit': 'ms',
      'x-state': 'tuning',
    },
    semantic: {
      type: 'string',
      enum: ['exactly-once', 'at-least-once'],
      default: 'at-least-once',
      description:
        'What is promised over crashes and restarts. exactly-once: a transaction for each checkpoint; consumers with isolation.level read_committed see each record once.',
    },
    transactionTimeout: {
      type: 'integer',
      minimum: 1000,
      maximum: 86400000,
      default: 900000,
      description:
        'With semantic exactly-once: after which the broker aborts a transaction that is not ended. It must outlast a checkpoint and a restart, and be no more than transaction.max.timeout.ms of the brokers. Also as transaction.timeout.ms of producerSettings.',
      'x-unit': 'ms',
      'x-state': 'tuning',
    },
    partitionStrategy: ignored('records go by their key; keyColumns says what that is'),
    dataCompelOrder: ignored('rows of a lane keep their order within a partition'),
    timezone: ignored('times are written as they are'),
    encoding: ignored('values are UTF-8'),
  },
} as const satisfies OptionsSchema;

export type WriterOptions = OptionsOf<typeof WRITER_OPTIONS>;

const COMPRESSIONS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
type Compression = (typeof COMPRESSIONS)[number];

const textOf = (o: WriterOptions, key: string): string | null => {
  const value = o.producerSettings[key];
  return value === undefined ? null : String(value);
};

export function compressionOf(o: WriterOptions): Compression {
  const named = o.compression ?? textOf(o, 'compression.type') ?? 'none';
  return COMPRESSIONS.find((c) => c === named) ?? 'none';
}

const ACKS: Readonly<Record<string, -1 | 0 | 1>> = { all: -1, '-1': -1, '1': 1, '0': 0 };

export const acksOf = (o: WriterOptions): -1 | 0 | 1 => ACKS[o.acks ?? textOf(o, 'acks') ?? 'all'] ?? -1;

export function transactionTimeoutOf(o: WriterOptions): number {
  const set = Number(textOf(o, 'transaction.timeout.ms') ?? Number.NaN);
  return Number.isSafeInteger(set) && set > 0 ? set : o.transactionTimeout;
}

/** Known without any row: markers must be found when nothing was read yet. */
export const markerTopicOf = (o: WriterOptions): string => o.markerTopic ?? o.topic;

export const headersOf = (o: WriterOptions): HeaderOptions => ({
  always: Object.entries(o.headers).map(([key, value]) => ({ key, value: Buffer.from(value) })),
  column: o.headersColumn ?? null,
});

/** Null: `*`. */
export const wantedColumns = (o: WriterOptions): readonly string[] | null =>
  o.column.length === 0 || (o.column.length === 1 && o.column[0] === '*') ? null : o.column;

/** What the schema alone cannot say. */
export function checkWriterOptions(o: WriterOptions): readonly Finding[] {
  const findings: Finding[] = [];
  const say = (path: string, message: string, hint: string): void => void findings.push({ path, message, hint });
  if (o.semantic === 'exactly-once' && acksOf(o) !== -1)
    say('acks', 'semantic exactly-once needs acks all', 'Leave acks out.');
  const unknown = unknownPart(o.topic);
  if (unknown !== null)
    say(
      'topic',
      `topic has \`${unknown}\``,
      `Only ${TABLE_PARTS.map((p) => `\${${p}}`).join(' and ')} are known in it.`,
    );
  if (o.semantic === 'exactly-once' && o.markerTopic === undefined && isTopicTemplate(o.topic)) {
    const why = 'semantic exactly-once needs one topic for its markers that is known before rows come';
    say('markerTopic', why, 'Name a topic that exists, and stays, in markerTopic.');
  }
  const acks = textOf(o, 'acks');
  if (acks !== null && ACKS[acks] === undefined) say('producerSettings', `acks is \`${acks}\``, 'It is all, 1 or 0.');
  const compression = textOf(o, 'compression.type');
  if (compression !== null && !COMPRESSIONS.some((c) => c === compression))
    say('producerSettings', `compression.type is \`${compression}\``, `It is one of ${COMPRESSIONS.join(', ')}.`);
  if (o.codec === 'raw' && o.headersColumn !== undefined)
    say('headersColumn', 'codec raw takes headers from the column headers', 'Leave headersColumn out.');
  if (o.codec === 'raw' && wantedColumns(o) !== null)
    say('column', 'codec raw writes the columns value, key, headers and timestamp', 'Leave column out.');
  const changes = o.codec === 'canal-json' || o.codec === 'debezium-json';
  if (o.tombstones && !changes)
    say('tombstones', `codec ${o.codec} writes deletes as records without a value anyway`, 'Leave tombstones out.');
  if (o.tombstones && changes && o.keyColumns.length === 0)
    say('tombstones', 'a record without a value needs a key', 'Name keyColumns.');
  const csv = o.codec === 'csv' ? checkCsv(o) : [];
  return [...findings, ...csv, ...writerConnection(o).findings];
}
