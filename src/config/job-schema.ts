import type { SchemaNode } from './schema.js';

const ms = (description: string, value: number, minimum = 1): SchemaNode => ({
  type: 'integer',
  minimum,
  maximum: 10 * 366 * 24 * 3_600_000,
  default: value,
  'x-unit': 'ms',
  description,
});
const count = (description: string, minimum: number, maximum: number, value?: number): SchemaNode => ({
  type: 'integer',
  minimum,
  maximum,
  description,
  ...(value === undefined ? {} : { default: value }),
});
const ignored = (why: string): SchemaNode => ({ 'x-ignored': why });

const RESUMES = 'an interrupted run is resumed by its checkpoint, whatever this says';

const SPEED: SchemaNode = {
  type: 'object',
  description: 'How fast the job may go.',
  properties: {
    channel: count('Lanes that read and write side by side.', 1, 1024),
    readerChannel: count('As channel; -1: use channel.', -1, 1024),
    writerChannel: count('As channel; -1: use channel.', -1, 1024),
    bytes: {
      type: 'number',
      minimum: 0,
      default: 0,
      'x-unit': 'bytes/s',
      'x-aliases': ['byte'],
      description: 'Bytes per second for the whole job; 0: no limit.',
    },
    record: {
      type: 'number',
      minimum: 0,
      default: 0,
      'x-unit': 'rows/s',
      description: 'Rows per second for the whole job; 0: no limit.',
    },
    rebalance: ignored('each lane writes what it reads'),
  },
};

const ERROR_LIMIT: SchemaNode = {
  type: 'object',
  description: 'How many dirty rows a job may have. Only what is given is checked; without errorLimit: none.',
  properties: {
    record: { type: 'integer', minimum: -1, description: 'Highest number of dirty rows; -1: not checked.' },
    percentage: {
      type: 'number',
      minimum: 0,
      maximum: 100,
      'x-unit': 'percent',
      description: 'Highest share of dirty rows in percent of the rows read.',
    },
  },
};

const CHECKPOINT: SchemaNode = {
  type: 'object',
  default: {},
  description: 'When progress is saved, where, and how a run goes on from it.',
  properties: {
    interval: ms('Time from one checkpoint to the next.', 10_000),
    minPause: ms('Least time between the end of a checkpoint and the start of the next.', 0, 0),
    timeout: ms('For the barrier and the prepare of one checkpoint.', 600_000),
    tolerableFailed: count('Checkpoints in a row that may time out.', 0, 1_000_000, 0),
    numRetained: count('Checkpoints kept of a run.', 1, 10_000, 3),
    numRetainedRuns: count('Finished runs whose state is kept.', 1, 10_000, 3),
    onCancel: {
      type: 'string',
      enum: ['retain', 'delete'],
      default: 'retain',
      description: 'What becomes of the state of a run that is stopped.',
    },
    resume: { type: 'boolean', default: true, description: 'Go on with an unfinished run instead of starting anew.' },
    resumeMaxAge: ms('An older last checkpoint is not resumed without being asked.', 12 * 3_600_000),
    dir: { type: 'string', minLength: 1, description: 'Folder of the state of all jobs.' },
  },
};

const SETTING: SchemaNode = {
  type: 'object',
  default: {},
  properties: {
    jobId: {
      type: 'string',
      minLength: 1,
      maxLength: 1024,
      description: 'Name of the job; default: the path of its file.',
    },
    speed: SPEED,
    errorLimit: ERROR_LIMIT,
    checkpoint: CHECKPOINT,
    dirty: {
      type: 'object',
      properties: {
        path: { type: 'string', minLength: 1, description: 'Folder for the files of dirty rows.' },
        hadoopConfig: ignored('dirty rows go to a local folder'),
      },
    },
    restore: {
      type: 'object',
      properties: {
        isRestore: ignored(`${RESUMES}; to start anew use --fresh or checkpoint.resume: false`),
        isStream: ignored('whether a job ends is told by its reader'),
        restoreColumnName: ignored(RESUMES),
        restoreColumnIndex: ignored(RESUMES),
        restoreColumnType: ignored(RESUMES),
        maxRowNumForCheckpoint: ignored('checkpoints go by checkpoint.interval'),
      },
    },
    log: ignored('logs go to stderr; see --log-level and --log-format'),
    restart: ignored('a failed job ends; start it again and it resumes'),
    test: ignored('it belongs to FlinkX'),
    metricPluginConf: ignored('it belongs to FlinkX'),
    metricPluginConfig: ignored('it belongs to FlinkX'),
    dryRun: ignored('use "sync validate"'),
  },
};

const plugin = (extra: Readonly<Record<string, SchemaNode>>): SchemaNode => ({
  type: 'object',
  required: ['name', 'parameter'],
  properties: {
    name: { type: 'string', minLength: 1 },
    parameter: { type: 'object', 'x-plugin': true },
    table: ignored('it names a view for transformSql, which is not supported'),
    ...extra,
  },
});

/** The frame of a job file; `parameter` belongs to the plugin's own schema. */
export const JOB_SCHEMA: SchemaNode = {
  type: 'object',
  required: ['job'],
  properties: {
    $schema: { type: 'string' },
    job: {
      type: 'object',
      required: ['content'],
      properties: {
        content: {
          type: 'array',
          minItems: 1,
          items: {
            type: 'object',
            required: ['reader', 'writer'],
            properties: {
              reader: plugin({}),
              writer: plugin({ semantic: ignored('what the pair delivers stands in the summary') }),
            },
          },
        },
        setting: SETTING,
      },
    },
  },
};
