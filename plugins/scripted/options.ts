import type { OptionsOf, OptionsSchema } from 'syncx/plugin-api';
import { TROUBLE_TEXT, TROUBLES } from './trouble.js';

const ERROR_CODE = {
  type: 'string',
  enum: [
    'SOURCE_IO',
    'SOURCE_FORMAT',
    'SOURCE_MISSING',
    'SOURCE_CHANGED',
    'SINK_IO',
    'SINK_FULL',
    'SINK_CONFLICT',
    'INTERNAL',
  ],
} as const;

export const READER_OPTIONS = {
  type: 'object',
  title: 'Scripted reader',
  description: 'Makes rows from a script, with trouble on demand.',
  additionalProperties: false,
  required: ['splits'],
  examples: [
    { splits: [{ id: 'a', rows: 100 }] },
    {
      splits: [
        { id: 'a', rows: 10, transaction: 5 },
        { id: 'b', rows: 3, bounded: false, after: ['a'] },
      ],
      events: [{ split: 'a', at: 6, do: 'dirty' }],
    },
  ],
  properties: {
    splits: {
      type: 'array',
      description: 'The splits, in the order in which they are handed out.',
      examples: [[{ id: 'a', rows: 100 }]],
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['id', 'rows'],
        properties: {
          id: { type: 'string', pattern: '^[A-Za-z0-9_.-]+$', description: 'Name of the split, unique in the job.' },
          rows: { type: 'integer', minimum: 0, description: 'Number of rows, dirty ones included.' },
          bounded: {
            type: 'boolean',
            default: true,
            description: 'Whether the split ends; an unbounded one is idle after its last row.',
          },
          after: {
            type: 'array',
            items: { type: 'string' },
            default: [],
            description: 'Splits that must be committed before this one is handed out.',
          },
          transaction: {
            type: 'integer',
            minimum: 1,
            default: 1,
            description: 'Rows of one source transaction; there is no safe point inside one.',
            'x-unit': 'rows',
          },
        },
      },
    },
    batchRows: {
      type: 'integer',
      minimum: 1,
      default: 10,
      description: 'Rows of one batch at most.',
      'x-unit': 'rows',
      'x-state': 'tuning',
    },
    password: { type: 'string', 'x-secret': true, description: 'A secret that means nothing.' },
    url: {
      type: 'string',
      default: '',
      'x-secret': 'url',
      description: 'An address that nothing connects to, with credentials in it.',
    },
    properties: {
      type: 'object',
      additionalProperties: { type: 'string' },
      default: {},
      'x-secret': 'properties',
      description: 'A map with secrets in it.',
    },
    leak: {
      type: 'boolean',
      default: false,
      'x-state': 'tuning',
      description:
        'Whether all options, secrets too, are told in logs, errors and reasons of dirty rows, as bad drivers do.',
    },
    increColumn: {
      type: 'string',
      enum: ['', 'n'],
      default: '',
      description: 'Each run reads the rows that have come since the last one, as one split, instead of `splits`.',
    },
    sourceFile: {
      type: 'string',
      default: '',
      'x-path': 'one',
      description: 'Path of the file that holds how many rows there are; needed for `increColumn`.',
    },
    padding: {
      type: 'integer',
      minimum: 0,
      default: 0,
      description: 'Bytes that the text of every row is longer by.',
      'x-unit': 'bytes',
    },
    replayable: { type: 'boolean', default: true, description: 'Whether the reader claims that it can read again.' },
    events: {
      type: 'array',
      default: [],
      description: 'What happens just before a given row of a split; row rows + 1 means just before its end.',
      'x-state': 'tuning',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['split', 'at', 'do'],
        properties: {
          split: { type: 'string', description: 'Name of the split.' },
          at: { type: 'integer', minimum: 1, description: 'Number of the row, from 1.' },
          do: {
            type: 'string',
            enum: ['dirty', 'pause', 'fail', 'idle', 'schema', ...TROUBLES],
            description: `The row is rejected; the split waits for a file; an error is thrown; an empty batch comes; a column is added; ${TROUBLE_TEXT}`,
          },
          until: { type: 'string', default: '', description: 'Path of the file that ends a pause.' },
          code: { ...ERROR_CODE, default: 'SOURCE_IO', description: 'Code of the error.' },
          times: {
            type: 'integer',
            minimum: 1,
            default: 1,
            description: 'How often the error is thrown, or the trouble made, counted over restarts.',
          },
          add: { type: 'string', default: 'added', description: 'Name of the column that a schema change adds.' },
        },
      },
    },
    folder: {
      type: 'string',
      default: '',
      description: 'Folder where the reader remembers over restarts what it did; needed for errors and trouble.',
      'x-state': 'tuning',
    },
  },
} as const satisfies OptionsSchema;

export type ReaderOptions = OptionsOf<typeof READER_OPTIONS>;
export type SplitOptions = ReaderOptions['splits'][number];
export type ReaderEvent = ReaderOptions['events'][number];

const STEP = {
  type: 'string',
  enum: ['begin', 'openLane', 'write', 'prepare', 'commit', 'abort', 'recover', 'sweep', 'complete'],
  description: 'The call that is meant.',
} as const;
const LANE = {
  type: 'integer',
  minimum: -1,
  default: -1,
  description: 'The lane that is meant; -1 means any.',
} as const;
const EPOCH = {
  type: 'integer',
  minimum: 0,
  default: 0,
  description: 'The epoch that is meant; 0 means any. Only prepare, commit and abort know theirs.',
} as const;
const HIT = {
  type: 'integer',
  minimum: 0,
  default: 0,
  description: 'The number of the matching call in this process, from 1; 0 means any.',
} as const;

const EPOCHS_OF_LANES = {
  type: 'array',
  default: [],
  'x-state': 'tuning',
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['epoch'],
    properties: { lane: LANE, epoch: EPOCH },
  },
} as const;

export const WRITER_OPTIONS = {
  type: 'object',
  title: 'Scripted writer',
  description: 'Writes to a small store of files, exactly once, with trouble on demand.',
  additionalProperties: false,
  required: ['path'],
  examples: [
    { path: 'target' },
    { path: 'target', failOn: [{ step: 'commit', epoch: 2, when: 'after' }], lose: [{ lane: 0, epoch: 2 }] },
  ],
  properties: {
    path: {
      type: 'string',
      minLength: 1,
      description: 'Folder of the store; made where it is missing.',
      examples: ['target'],
    },
    password: { type: 'string', 'x-secret': true, description: 'A secret that means nothing.' },
    url: {
      type: 'string',
      default: '',
      'x-secret': 'url',
      description: 'An address that nothing connects to, with credentials in it.',
    },
    properties: {
      type: 'object',
      additionalProperties: { type: 'string' },
      default: {},
      'x-secret': 'properties',
      description: 'A map with secrets in it.',
    },
    leak: {
      type: 'boolean',
      default: false,
      'x-state': 'tuning',
      description:
        'Whether all options, secrets too, are told in logs, errors and reasons of dirty rows, as bad drivers do.',
    },
    protocol: {
      type: 'string',
      enum: ['staged', 'marker'],
      default: 'staged',
      description:
        'Whether prepared rows outlive the process and are rolled forward, or die with it like those of an open database transaction.',
    },
    delivery: {
      type: 'string',
      enum: ['exactly-once', 'at-least-once'],
      default: 'exactly-once',
      description: 'With at-least-once rows become visible at prepare and there is nothing to recover.',
    },
    pipelined: {
      type: 'boolean',
      default: false,
      description: 'Whether the writer takes rows of the next epoch between prepare and commit.',
      'x-state': 'tuning',
    },
    epochBytes: {
      type: 'integer',
      minimum: 0,
      default: 0,
      'x-unit': 'bytes',
      description: 'Cells of a lane after which an epoch should end; 0: no limit.',
      'x-state': 'tuning',
    },
    hardEpochBytes: {
      type: 'integer',
      minimum: 1,
      default: 1_000_000_000,
      'x-unit': 'bytes',
      description: 'Cells of a lane that an epoch cannot pass.',
      'x-state': 'tuning',
    },
    overwrite: { type: 'boolean', default: false, description: 'Whether begin removes what other runs have written.' },
    columns: {
      type: 'array',
      items: { type: 'string' },
      default: [],
      description: 'Names of the columns that the writer claims to expect; empty means that it takes what comes.',
    },
    failOn: {
      type: 'array',
      default: [],
      description: 'Calls that throw an error.',
      'x-state': 'tuning',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['step'],
        properties: {
          step: STEP,
          lane: LANE,
          epoch: EPOCH,
          hit: HIT,
          when: {
            type: 'string',
            enum: ['before', 'after'],
            default: 'before',
            description: 'Whether the error comes instead of the effect or after it.',
          },
          how: {
            type: 'string',
            enum: ['error', ...TROUBLES],
            default: 'error',
            description: `An error; or ${TROUBLE_TEXT}`,
          },
          code: { ...ERROR_CODE, default: 'SINK_IO', description: 'Code of the error.' },
          times: {
            type: 'integer',
            minimum: 1,
            default: 1,
            description: 'How often the error is thrown, counted over restarts.',
          },
        },
      },
    },
    gates: {
      type: 'array',
      default: [],
      description: 'Calls that wait until a file exists before they do anything.',
      'x-state': 'tuning',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['step', 'until'],
        properties: {
          step: STEP,
          lane: LANE,
          epoch: EPOCH,
          hit: HIT,
          until: { type: 'string', description: 'Path of the file that is waited for.' },
        },
      },
    },
    late: {
      type: 'array',
      default: [],
      description: 'Commits whose connection breaks; the commit itself lands in the background once a file exists.',
      'x-state': 'tuning',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['epoch', 'until'],
        properties: {
          lane: LANE,
          epoch: EPOCH,
          until: { type: 'string', description: 'Path of the file that lets the commit land.' },
        },
      },
    },
    lose: {
      ...EPOCHS_OF_LANES,
      description: 'Prepared epochs whose rows are gone when recover asks for them.',
    },
    unknown: { ...EPOCHS_OF_LANES, description: 'Prepared epochs for which recover answers unknown.' },
    reject: {
      type: 'array',
      items: { type: 'string' },
      default: [],
      description: 'Values of the reject column whose rows are refused.',
      'x-state': 'tuning',
    },
    rejectColumn: {
      type: 'string',
      default: 'id',
      description: 'Column by which rows are refused.',
      'x-state': 'tuning',
    },
    rejectAt: {
      type: 'string',
      enum: ['write', 'prepare'],
      default: 'write',
      description: 'The call that tells about refused rows.',
      'x-state': 'tuning',
    },
    writeDelay: {
      type: 'integer',
      minimum: 0,
      default: 0,
      description: 'How long every write takes at least.',
      'x-unit': 'ms',
      'x-state': 'tuning',
    },
  },
} as const satisfies OptionsSchema;

export type WriterOptions = OptionsOf<typeof WRITER_OPTIONS>;
export type FaultStep = WriterOptions['gates'][number]['step'];
