import type { OptionsOf, OptionsSchema } from 'syncx/plugin-api';

const COUNT = {
  type: 'integer',
  minimum: 0,
  description: 'Rows of one split; 0: endless.',
} as const;

export const READER_OPTIONS = {
  type: 'object',
  additionalProperties: false,
  required: ['column'],
  description: 'Rows that are made up, the same ones at every start of a run.',
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
          name: { type: 'string', minLength: 1, description: 'Default: `column` and its number, from 1.' },
          type: {
            type: 'string',
            minLength: 1,
            description: 'Type name, or `id`: a counter from 1, unique over all splits.',
          },
          value: { type: 'string', description: 'Every row has this value.' },
          index: { description: 'Has no effect.', 'x-ignored': 'columns are made in the order of the list' },
          format: { description: 'Has no effect.', 'x-ignored': 'values have the canonical form of their type' },
          parseFormat: { description: 'Has no effect.', 'x-ignored': 'nothing is parsed' },
          splitter: { description: 'Has no effect.', 'x-ignored': 'nothing is split' },
          isPart: { description: 'Has no effect.', 'x-ignored': 'there are no partitions' },
          notNull: { description: 'Has no effect.', 'x-ignored': 'no value is null' },
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
  },
} as const satisfies OptionsSchema;

export type ReaderOptions = OptionsOf<typeof READER_OPTIONS>;

export const WRITER_OPTIONS = {
  type: 'object',
  additionalProperties: false,
  description: 'Prints rows to stdout, or drops them: for trying a reader and for measuring it.',
  properties: {
    print: { type: 'boolean', default: true, description: 'Print each row; false: rows are counted and dropped.' },
    format: {
      type: 'string',
      enum: ['json', 'text'],
      default: 'json',
      'x-state': 'tuning',
      description: 'json: one object a line. text: cells with a delimiter between them, nothing escaped, for the eye.',
    },
    fieldDelimiter: {
      type: 'string',
      minLength: 1,
      default: '\t',
      'x-aliases': ['writeDelimiter'],
      'x-state': 'tuning',
      description: 'Between the cells of a line of text.',
    },
  },
} as const satisfies OptionsSchema;

export type WriterOptions = OptionsOf<typeof WRITER_OPTIONS>;

/** Rows of each split; 0: endless. */
export function countsOf(o: ReaderOptions): readonly number[] {
  const counts = o.sliceRecordCount;
  return typeof counts === 'number' ? [counts] : counts;
}
