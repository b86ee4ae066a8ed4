import type { OptionsOf, OptionsSchema } from 'syncx/plugin-api';

/** An option of FlinkX or DataX that has no effect, and why. */
const ignored = (why: string) => ({ description: `Has no effect: ${why}.`, 'x-ignored': why }) as const;

export const READER_OPTIONS = {
  type: 'object',
  additionalProperties: false,
  required: ['address'],
  description: 'Reads the lines that a TCP server sends.',
  examples: [{ address: 'localhost:9000' }, { address: '10.0.0.7:9000', parse: 'json', column: ['id', 'name'] }],
  properties: {
    address: {
      type: 'string',
      minLength: 1,
      description: 'The server as `host:port`; an IPv6 address stands in brackets.',
      examples: ['localhost:9000', '[::1]:9000'],
    },
    parse: {
      type: 'string',
      enum: ['text', 'json'],
      default: 'text',
      description: 'What a line is: `text` (fields with a delimiter between them) or `json` (one JSON value).',
      'x-aliases': ['codeC'],
      'x-values': { TEXT: 'text', JSON: 'json' },
    },
    column: {
      type: 'array',
      default: ['*'],
      description:
        'Columns of a line: names, or objects with name, index (from 0), type, value (a constant) and format (a date pattern). `*` is the whole line as the column `message` (text) or `json`, alone or with constants beside it.',
      examples: [['id', 'name'], [{ index: 0, name: 'id', type: 'bigint' }]],
      items: {
        anyOf: [
          { type: 'string', minLength: 1 },
          {
            type: 'object',
            additionalProperties: false,
            properties: {
              name: { type: 'string', minLength: 1, description: 'Name of the column; with json the key.' },
              index: { type: 'integer', minimum: 0, maximum: 65535, description: 'Place of the field, from 0.' },
              type: { type: 'string', description: 'Type of the column; without it text.' },
              // As text: the config hands over the digits of the job file, which a double could not hold.
              value: { type: ['string', 'null'], description: 'A constant, in place of a field of the line.' },
              format: { type: 'string', description: 'Pattern of dates and times, as dd.MM.yyyy HH:mm.' },
              parseFormat: ignored('the pattern to read by is format'),
              splitter: ignored('nothing is split'),
              isPart: ignored('there are no folders'),
              notNull: ignored('rows are not refused for NULL'),
            },
          },
        ],
      },
    },
    fieldDelimiter: {
      type: 'string',
      minLength: 1,
      default: ',',
      description:
        'Stands between two fields of a text line; one or several characters, also spelled out as \\t, \\u0001 or \\x01.',
      examples: [',', '\\t', '\\u0001'],
    },
    nullFormat: {
      type: 'string',
      default: '\\N',
      description: 'The text of a field that stands for NULL; with parse text.',
      examples: ['\\N', ''],
    },
    encoding: {
      type: 'string',
      minLength: 1,
      default: 'utf-8',
      description:
        'Character encoding of the lines: utf-8, gbk, gb18030, big5, shift_jis, euc-kr, iso-8859-1 …, windows-1250 …, utf-16le, utf-16be.',
      examples: ['utf-8', 'gbk'],
    },
    maxLineBytes: {
      type: 'integer',
      minimum: 1,
      maximum: 268435456,
      default: 67108864,
      description: 'A line that is longer is a dirty row, of which only the beginning is kept.',
      'x-unit': 'bytes',
      'x-state': 'tuning',
    },
    reconnect: {
      type: 'boolean',
      default: true,
      description:
        'Connect again after the connection has ended. False: a close by the server ends the job, a connection that breaks is an error.',
      'x-state': 'tuning',
    },
    reconnectDelay: {
      type: 'integer',
      minimum: 0,
      maximum: 3600000,
      default: 1000,
      description: 'Pause before each new connection.',
      'x-unit': 'ms',
      'x-state': 'tuning',
    },
    maxReconnects: {
      type: 'integer',
      minimum: -1,
      default: -1,
      description: 'New connections in a row that may fail, or bring nothing, before the job fails; -1: for ever.',
      'x-state': 'tuning',
    },
    connectTimeout: {
      type: 'integer',
      minimum: 1,
      maximum: 3600000,
      default: 10000,
      description: 'How long connecting may take.',
      'x-unit': 'ms',
      'x-state': 'tuning',
    },
    idleTimeout: {
      type: 'integer',
      minimum: 0,
      maximum: 86400000,
      default: 0,
      description: 'A connection on which nothing comes for so long is taken for broken; 0: it may be silent for ever.',
      'x-unit': 'ms',
      'x-state': 'tuning',
    },
  },
} as const satisfies OptionsSchema;

export type ReaderOptions = OptionsOf<typeof READER_OPTIONS>;
