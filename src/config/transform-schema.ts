/** The options of each kind of transform. `transform` has ours; `transformer` is DataX's list. */
import { DATAX_OPS } from '../job/transform-spec.js';
import type { SchemaNode } from './schema.js';

const name = (description: string): SchemaNode => ({ type: 'string', minLength: 1, description });
const names = (description: string): SchemaNode => ({
  type: 'array',
  minItems: 1,
  items: { type: 'string', minLength: 1 },
  description,
});
const expression = (description: string): SchemaNode => ({
  type: 'string',
  minLength: 1,
  'x-unit': 'expression',
  description,
});
const TYPE = 'Type, as in the columns of readers: bigint, decimal(20,4), timestamp …';

function op(
  word: string,
  description: string,
  required: readonly string[],
  properties: Readonly<Record<string, SchemaNode>>,
): SchemaNode {
  return {
    type: 'object',
    description,
    required: ['op', ...required],
    properties: { op: { type: 'string', enum: [word], description: 'What is done.' }, ...properties },
  };
}

/** By `op`. */
export const TRANSFORM_SCHEMAS: Readonly<Record<string, SchemaNode>> = {
  select: op('select', 'Keeps these columns, in this order.', ['columns'], {
    columns: {
      type: 'array',
      minItems: 1,
      description: 'Names, or {name, as} for a column that gets another name.',
      items: {
        anyOf: [
          { type: 'string', minLength: 1 },
          {
            type: 'object',
            required: ['name', 'as'],
            properties: { name: name('The column.'), as: name('Its new name.') },
          },
        ],
      },
    },
  }),
  rename: op('rename', 'Gives columns other names.', ['columns'], {
    columns: {
      type: 'object',
      description: 'Old name: new name.',
      additionalProperties: { type: 'string', minLength: 1 },
    },
  }),
  drop: op('drop', 'Takes columns out.', ['columns'], { columns: names('The columns that go.') }),
  filter: op('filter', 'Keeps the rows that the expression is true of.', ['where'], {
    where: expression('A row stays where this is true; where it is false or NULL the row goes.'),
  }),
  cast: op('cast', 'Brings a column to another type.', ['column', 'type'], {
    column: name('The column.'),
    type: name(TYPE),
    format: name('Pattern of dates (yyyy-MM-dd HH:mm:ss) that a text is read by, or that a date is written by.'),
    onError: {
      type: 'string',
      enum: ['dirty', 'null'],
      default: 'dirty',
      description: 'What becomes of a value that is none of the type: its row is dirty, or it becomes NULL.',
    },
  }),
  constant: op('constant', 'Sets a column to the same value in all rows.', ['column', 'value'], {
    column: name('The column: a new one, or one whose values are replaced.'),
    value: { type: ['string', 'null'], description: 'The value; null: NULL.' },
    type: { ...name(TYPE), default: 'string' },
  }),
  compute: op('compute', 'Sets a column to what an expression gives.', ['column', 'expression'], {
    column: name('The column: a new one, or one whose values are replaced.'),
    expression: expression('What the column holds.'),
    type: name(`${TYPE}; without it that of the expression.`),
  }),
  mask: op('mask', 'Hides the values of columns. NULL stays NULL.', ['columns', 'method'], {
    columns: names('The columns.'),
    method: {
      type: 'string',
      enum: ['sha256', 'partial', 'null'],
      'x-values': { hash: 'sha256' },
      description: 'sha256: the hash, in hexadecimal; partial: other characters in the middle; null: NULL.',
    },
    salt: {
      type: 'string',
      minLength: 1,
      'x-secret': true,
      description: 'sha256: stands before the value that is hashed.',
    },
    keepFirst: {
      type: 'integer',
      minimum: 0,
      maximum: 1_000_000,
      default: 0,
      description: 'partial: characters kept at the start.',
    },
    keepLast: {
      type: 'integer',
      minimum: 0,
      maximum: 1_000_000,
      default: 0,
      description: 'partial: characters kept at the end.',
    },
    with: {
      type: 'string',
      minLength: 1,
      maxLength: 1,
      default: '*',
      description: 'partial: the character that stands for each of the others.',
    },
  }),
};

/** An entry of DataX's list. */
export const DATAX_SCHEMA: SchemaNode = {
  type: 'object',
  required: ['name', 'parameter'],
  properties: {
    name: { type: 'string', enum: DATAX_OPS },
    parameter: {
      type: 'object',
      required: ['columnIndex', 'paras'],
      properties: {
        columnIndex: { type: 'integer', minimum: 0, description: 'The column, from 0.' },
        paras: { type: 'array', items: { type: 'string' }, description: 'Its arguments.' },
        context: { 'x-ignored': 'it is for transformers of your own' },
      },
    },
  },
};

/** For the validators that the build makes. */
export const ALL_TRANSFORM_SCHEMAS: Readonly<Record<string, SchemaNode>> = {
  ...Object.fromEntries(Object.entries(TRANSFORM_SCHEMAS).map(([k, v]) => [`transform.${k}`, v])),
  'transform.datax': DATAX_SCHEMA,
};
