import type { OptionsOf, OptionsSchema } from 'syncx/plugin-api';
import { CSV_OPTIONS } from './csv-options.js';
import { BROKERS, CLIENT_ID, SASL, SETTINGS, SSL } from './client/connection-schema.js';

/** An option of FlinkX that has no effect, and why. */
const ignored = (why: string) => ({ description: `Has no effect: ${why}.`, 'x-ignored': why }) as const;

export const READER_OPTIONS = {
  type: 'object',
  additionalProperties: false,
  description: 'Reads topics of Kafka.',
  examples: [
    { topic: 'orders', brokers: 'localhost:9092', mode: 'earliest-offset', codec: 'json', column: ['id', 'name'] },
  ],
  properties: {
    brokers: BROKERS,
    clientId: CLIENT_ID,
    ssl: SSL,
    sasl: SASL,
    consumerSettings: SETTINGS,
    topic: {
      type: 'string',
      minLength: 1,
      description: 'Topic, or several with commas between them.',
      examples: ['orders', 'orders,refunds'],
    },
    topics: {
      type: 'array',
      minItems: 1,
      items: { type: 'string', minLength: 1 },
      description: 'Topics; in place of topic.',
      examples: [['orders', 'refunds']],
    },
    topicPattern: {
      type: 'string',
      minLength: 1,
      description: 'Regular expression for whole names of topics; in place of topic. Internal topics are left out.',
      'x-aliases': ['topic-pattern'],
      examples: ['orders_.*'],
    },
    groupId: {
      type: 'string',
      minLength: 1,
      description:
        'Group under whose name offsets are told to the brokers at each checkpoint, for tools that show how far the job is, and where mode group-offsets begins. Without it group.id of consumerSettings.',
    },
    mode: {
      type: 'string',
      enum: ['earliest-offset', 'latest-offset', 'group-offsets', 'timestamp', 'specific-offsets'],
      default: 'group-offsets',
      description:
        'Where the first start begins; later starts go on behind the last checkpoint. group-offsets: behind what the group has committed; where it has committed nothing, auto.offset.reset of consumerSettings says (earliest without it).',
      'x-aliases': ['scan.startup.mode'],
      'x-values': {
        earliest: 'earliest-offset',
        latest: 'latest-offset',
        EARLIEST: 'earliest-offset',
        LATEST: 'latest-offset',
      },
    },
    timestamp: {
      type: 'integer',
      minimum: 0,
      description: 'With mode timestamp: the first records of this time or later.',
      'x-unit': 'ms',
      'x-aliases': ['scan.startup.timestamp-millis'],
    },
    offset: {
      type: 'string',
      minLength: 1,
      description:
        'With mode specific-offsets: the first record of each partition, as `partition:0,offset:42;partition:1,offset:300`; of several topics as `topic:a,partition:0,offset:1;…`.',
      'x-aliases': ['scan.startup.specific-offsets'],
      examples: ['partition:0,offset:42;partition:1,offset:300'],
    },
    bounded: {
      type: 'string',
      enum: ['no', 'latest-at-start', 'timestamp', 'offsets'],
      default: 'no',
      description:
        'Whether the job ends by itself: at the last record that is there at the first start, before a time (boundedTimestamp), or before given offsets (boundedOffset).',
      'x-aliases': ['scan.bounded.mode'],
      'x-values': { unbounded: 'no', 'latest-offset': 'latest-at-start', 'specific-offsets': 'offsets' },
    },
    boundedTimestamp: {
      type: 'integer',
      minimum: 0,
      description: 'With bounded timestamp: the first record of this time or later is not read, nor what is behind it.',
      'x-unit': 'ms',
      'x-aliases': ['scan.bounded.timestamp-millis'],
    },
    boundedOffset: {
      type: 'string',
      minLength: 1,
      description: 'With bounded offsets: in the form of offset; the record of that offset is not read.',
      'x-aliases': ['scan.bounded.specific-offsets'],
    },
    partitionDiscovery: {
      type: 'integer',
      minimum: 0,
      maximum: 86400000,
      default: 5000,
      description:
        'How often new partitions and topics are looked for, in jobs without an end; 0: never. They are read from offset 0.',
      'x-unit': 'ms',
      'x-state': 'tuning',
      'x-aliases': ['partition-discovery.interval-ms', 'scan.topic-partition-discovery.interval'],
    },
    isolation: {
      type: 'string',
      enum: ['read_committed', 'read_uncommitted'],
      description:
        'Which records come: without it, and with read_committed, none of open or aborted transactions. Also as isolation.level of consumerSettings.',
    },
    offsetGone: {
      type: 'string',
      enum: ['fail', 'earliest', 'latest'],
      default: 'fail',
      description:
        'What to do where the record to go on with was deleted, or the topic made anew: fail, or go on at the first or behind the last record, with a warning that says what is gone.',
      'x-state': 'tuning',
    },
    codec: {
      type: 'string',
      enum: ['text', 'json', 'csv', 'avro', 'raw', 'canal-json', 'debezium-json', 'maxwell-json'],
      default: 'text',
      description:
        'What a value is. text: one text, the column `message`. json: an object, whose keys are columns (`a.b` is a path into it). csv: one line, whose fields are the columns in their order, or by index. avro: a record in the binary encoding of Avro, whose fields are columns (`a.b` is one of a record within), of the types of avroSchema. raw: bytes; the columns are value, key, headers and timestamp, as they are. canal-json, debezium-json, maxwell-json: changes of rows, which come as inserts, updates and deletes; columns are those of the table. A record of several rows gives all of them, or is one dirty row.',
      'x-aliases': ['format'],
    },
    ...CSV_OPTIONS,
    avroSchema: {
      description:
        'With codec avro: the schema that the values were written with, a record: path of an .avsc file, or the schema as an object.',
      anyOf: [{ type: 'string', minLength: 1 }, { type: 'object' }],
      'x-path': 'one',
      examples: ['order.avsc'],
    },
    avroFraming: {
      type: 'string',
      enum: ['none', 'confluent'],
      default: 'none',
      description:
        'What stands in front of a value of Avro. none: nothing. confluent: a zero byte and the id of its schema, as the serializers of Confluent write it. The id is compared with avroSchemaId; no registry is asked.',
    },
    avroSchemaId: {
      description:
        'With avroFraming confluent: the id of avroSchema in the registry, or several ids of the same schema. Values of other ids are dirty rows.',
      anyOf: [
        { type: 'integer', minimum: 0 },
        { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } },
      ],
      examples: [7],
    },
    nullValues: {
      type: 'string',
      enum: ['skip', 'row', 'reject'],
      description:
        'What becomes of records without a value (tombstones). skip: they are no rows; the log tells of the first one of a partition. row: the columns of the value are NULL, those of meta as in every row. reject: they are dirty rows. Without it skip with json, csv and avro, row with text and raw. Not of codecs of changes, whose tombstones say nothing.',
    },
    column: {
      type: 'array',
      default: ['*'],
      description:
        'Columns of a value: names, or objects with name, type, index (csv), value (a constant), format (a date pattern) and meta. `*` is all fields (avro), or the whole value as the column `message` (text) or `json`, alone or with constants and meta columns beside it. Of changes `*` is all columns that a record has, as text; with canal-json of the types that it says.',
      examples: [
        ['id', 'customer.name'],
        [
          { name: 'id', type: 'bigint' },
          { name: 'at', meta: 'offset' },
        ],
      ],
      items: {
        anyOf: [
          { type: 'string', minLength: 1 },
          {
            type: 'object',
            additionalProperties: false,
            properties: {
              name: { type: 'string', minLength: 1, description: 'Name of the column; with json the key.' },
              index: { type: 'integer', minimum: 0, description: 'With csv: place of the field, from 0.' },
              type: {
                type: 'string',
                description: 'Type of the column; without it text, with avro as the schema says.',
              },
              // As text: the config hands over the digits of the job file, which a double could not hold.
              value: { type: ['string', 'null'], description: 'A constant, in place of a key of the value.' },
              format: { type: 'string', description: 'Pattern of dates and times, as dd.MM.yyyy HH:mm.' },
              meta: {
                type: 'string',
                enum: ['topic', 'partition', 'offset', 'timestamp', 'key', 'headers', 'database', 'table'],
                description:
                  'In place of a key of the value: what is known of the record. key is text; headers are JSON, a list of {"key", "value"} with values in base64. database and table are those that a change is of.',
              },
              notNull: ignored('rows are not refused for NULL'),
            },
          },
        ],
      },
    },
    databaseInclude: {
      type: 'string',
      minLength: 1,
      description:
        'With a codec of changes: regular expression for whole names of the databases whose changes are read; others are passed over.',
      'x-aliases': ['canal-json.database.include'],
      examples: ['shop_.*'],
    },
    tableInclude: {
      type: 'string',
      minLength: 1,
      description: 'As databaseInclude, of tables.',
      'x-aliases': ['canal-json.table.include'],
      examples: ['orders|refunds'],
    },
    addMessage: ignored('a value that is not JSON is a dirty row'),
    encoding: ignored('values are UTF-8'),
    blankIgnore: ignored('a value is a row, also a blank one'),
  },
} as const satisfies OptionsSchema;

export type ReaderOptions = OptionsOf<typeof READER_OPTIONS>;
