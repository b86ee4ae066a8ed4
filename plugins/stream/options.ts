import type { OptionsOf, OptionsSchema } from 'syncx/plugin-api';

/** An option of FlinkX or DataX that has no effect, and why. */
const ignored = (why: string) => ({ description: `Has no effect: ${why}.`, 'x-ignored': why }) as const;

const COUNT = {
  type: 'integer',
  minimum: 0,
  description: 'Rows of one split; 0: endless.',
} as const;

/** Column keys of FlinkX that say nothing about made-up rows: accepted, each with a warning. */
const UNUSED = {
  index: {
    type: ['integer', 'null'],
    default: null,
    description: 'Has no effect: columns are made in the order of the list.',
  },
  format: {
    type: ['string', 'null'],
    default: null,
    description: 'Has no effect: values have the canonical form of their type.',
  },
  parseFormat: { type: ['string', 'null'], default: null, description: 'Has no effect: nothing is parsed.' },
  splitter: { type: ['string', 'null'], default: null, description: 'Has no effect: nothing is split.' },
  isPart: { type: ['boolean', 'null'], default: null, description: 'Has no effect: there are no partitions.' },
  notNull: { type: ['boolean', 'null'], default: null, description: 'Has no effect: no value is null.' },
} as const;

export const READER_OPTIONS = {
  type: 'object',
  additionalProperties: false,
  required: ['column'],
  description: 'Makes up rows, the same ones at every start of a run.',
  examples: [{ column: [{ name: 'id', type: 'id' }], sliceRecordCount: [1000] }],
  properties: {
    column: {
      type: 'array',
      minItems: 1,
      description: 'The columns of the rows, in order.',
      examples: [
        [
          { name: 'id', type: 'id' },
          { name: 'city', type: 'string' },
          { name: 'src', type: 'string', value: 'demo' },
        ],
      ],
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['type'],
        properties: {
          name: {
            type: 'string',
            default: '',
            description: 'Name of the column; empty: `column` and its number, from 1.',
          },
          type: {
            type: 'string',
            minLength: 1,
            description: 'Type name, or `id`: a counter from 1, unique over all splits.',
          },
          value: {
            type: ['string', 'null'],
            default: null,
            description: 'Every row has this value; null: a made-up one.',
          },
          random: ignored('values are made up by their type'),
          ...UNUSED,
        },
      },
    },
    sliceRecordCount: {
      description: 'Rows of each split: one split for each entry. 0, or nothing at all: endless.',
      default: [0],
      examples: [[1000], [500, 500]],
      anyOf: [{ type: 'array', minItems: 1, maxItems: 10_000, items: COUNT }, COUNT],
    },
    permitsPerSecond: {
      type: 'number',
      minimum: 0,
      default: 0,
      description: 'Most rows per second of one split; 0: no limit.',
      'x-unit': 'rows/s',
      'x-state': 'tuning',
    },
    haveMixupFunction: ignored('values are made up by their type'),
  },
} as const satisfies OptionsSchema;

export const UNUSED_COLUMN_KEYS = Object.keys(UNUSED) as readonly (keyof typeof UNUSED)[];

export type ReaderOptions = OptionsOf<typeof READER_OPTIONS>;

const TO_FILES = 'rows go to stdout; the writer of files is filewriter';
const TO_SLOW = 'a limit of rows per second is setting.speed.record';

export const WRITER_OPTIONS = {
  type: 'object',
  additionalProperties: false,
  description: 'Prints rows to stdout, or drops them: for trying a reader and for measuring it.',
  examples: [{ print: true }, { print: false }],
  properties: {
    print: { type: 'boolean', default: true, description: 'Print each row; false: rows are counted and dropped.' },
    format: {
      type: 'string',
      enum: ['json', 'text'],
      default: 'json',
      'x-state': 'tuning',
      description:
        'Form of a line: `json` is an object, `text` is cells with a delimiter between them, nothing escaped, for the eye.',
    },
    fieldDelimiter: {
      type: 'string',
      minLength: 1,
      default: '\t',
      'x-aliases': ['writeDelimiter'],
      'x-state': 'tuning',
      description: 'Between the cells of a line of text; also spelled out as \\t, \\u0001 or \\x01.',
    },
    encoding: ignored('rows are printed in UTF-8'),
    path: ignored(TO_FILES),
    fileName: ignored(TO_FILES),
    recordNumBeforeSleep: ignored(TO_SLOW),
    sleepTime: ignored(TO_SLOW),
    column: ignored('all columns that come are printed'),
  },
} as const satisfies OptionsSchema;

export type WriterOptions = OptionsOf<typeof WRITER_OPTIONS>;

/** Rows of each split; 0: endless. */
export function countsOf(o: ReaderOptions): readonly number[] {
  const counts = o.sliceRecordCount;
  return typeof counts === 'number' ? [counts] : counts;
}
