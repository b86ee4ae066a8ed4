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
const seconds = (description: string): SchemaNode => ({
  type: 'number',
  minimum: 0,
  maximum: 10 * 366 * 24 * 3600,
  'x-unit': 's',
  description,
});
const ignored = (why: string): SchemaNode => ({ 'x-ignored': why });

const METRICS = 'counts stand in the summary, whatever collects metrics elsewhere';
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
      default: 0,
      'x-unit': 'bytes/s',
      'x-aliases': ['byte'],
      description: 'Bytes per second for the whole job; 0, or less as in old job files: no limit.',
    },
    record: {
      type: 'number',
      default: 0,
      'x-unit': 'rows/s',
      description: 'Rows per second for the whole job; 0, or less as in old job files: no limit.',
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
      'x-values': { RETAIN_ON_CANCELLATION: 'retain', DELETE_ON_CANCELLATION: 'delete' },
      description: 'What becomes of the state of a run that is stopped.',
    },
    resume: { type: 'boolean', default: true, description: 'Go on with an unfinished run instead of starting anew.' },
    resumeMaxAge: ms('An older last checkpoint is not resumed without being asked.', 12 * 3_600_000),
    dir: { type: 'string', minLength: 1, description: 'Folder of the state of all jobs.' },
  },
};

/** Names of Flink's configuration, with and without their common prefix. */
const flink = (...keys: readonly string[]): readonly string[] => keys.flatMap((k) => [k, `restart-strategy.${k}`]);

const RESTART: SchemaNode = {
  type: 'object',
  default: {},
  description: 'When a failed job starts again by itself, from its last checkpoint.',
  properties: {
    strategy: {
      type: 'string',
      enum: ['none', 'fixed-delay', 'failure-rate', 'exponential-delay'],
      default: 'none',
      'x-aliases': ['restart-strategy', ...flink('type')],
      'x-values': {
        NoRestart: 'none',
        off: 'none',
        disable: 'none',
        fixedDelay: 'fixed-delay',
        failureRate: 'failure-rate',
        exponentialDelay: 'exponential-delay',
      },
      description: 'By what rule.',
    },
    attempts: {
      ...count('fixed-delay: restarts before the job fails.', 1, 1_000_000, 3),
      'x-aliases': ['restartAttempts', ...flink('fixed-delay.attempts')],
    },
    delay: {
      ...ms('fixed-delay, failure-rate: pause before a restart.', 10_000, 0),
      'x-aliases': flink('fixed-delay.delay', 'failure-rate.delay'),
    },
    delayInterval: seconds('The same as delay, in seconds, as FlinkX has it.'),
    maxFailures: {
      ...count('failure-rate: failures within failureRateInterval that are borne.', 1, 1_000_000, 2),
      'x-aliases': ['failureRate', ...flink('failure-rate.max-failures-per-interval')],
    },
    failureRateInterval: {
      ...ms('failure-rate: the interval that failures are counted in.', 60_000),
      'x-aliases': flink('failure-rate.failure-rate-interval'),
    },
    failureInterval: seconds('The same as failureRateInterval, in seconds, as FlinkX has it.'),
    initialBackoff: {
      ...ms('exponential-delay: the first pause.', 1000),
      'x-aliases': flink('exponential-delay.initial-backoff'),
    },
    maxBackoff: {
      ...ms('exponential-delay: the longest pause.', 60_000),
      'x-aliases': flink('exponential-delay.max-backoff'),
    },
    backoffMultiplier: {
      type: 'number',
      minimum: 1,
      maximum: 100,
      default: 1.5,
      'x-aliases': flink('exponential-delay.backoff-multiplier'),
      description: 'exponential-delay: by how much a pause is longer than the one before.',
    },
    resetBackoffThreshold: {
      ...ms('exponential-delay: after so long without a failure the first pause counts again.', 3_600_000),
      'x-aliases': flink('exponential-delay.reset-backoff-threshold'),
    },
    jitterFactor: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 0.1,
      'x-aliases': flink('exponential-delay.jitter-factor'),
      description: 'exponential-delay: share of a pause that is added or taken away at random.',
    },
    attemptsBeforeReset: {
      ...count('exponential-delay: restarts in a row before the job fails; without it there is no end.', 1, 1_000_000),
      'x-aliases': flink('exponential-delay.attempts-before-reset-backoff'),
    },
  },
};

/** `job.setting`. */
export const SETTING_SCHEMA: SchemaNode = {
  type: 'object',
  default: {},
  properties: {
    jobId: {
      type: 'string',
      minLength: 1,
      maxLength: 1024,
      description: 'Name of the job; default: the path of its file.',
    },
    contentParallelism: count('Entries of content that run side by side; 1: one after the other.', 1, 1024, 1),
    speed: SPEED,
    errorLimit: ERROR_LIMIT,
    checkpoint: CHECKPOINT,
    dirty: {
      type: 'object',
      properties: {
        path: { type: 'string', minLength: 1, description: 'Folder for the files of dirty rows.' },
        // Looked into by settings.ts: beside it, path is one of HDFS.
        hadoopConfig: {
          type: 'object',
          additionalProperties: true,
          'x-secret': true,
          description: 'Has no effect: dirty rows go to a local folder.',
        },
      },
    },
    verify: {
      type: 'boolean',
      default: false,
      description: 'Compares source and target when the run is finished; it ends with exit 1 where they differ.',
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
    restart: RESTART,
    test: ignored('to measure one side, put the stream reader or writer in place of the other'),
    metricPluginConf: ignored(METRICS),
    metricPluginConfig: ignored(METRICS),
    dryRun: {
      type: 'boolean',
      default: false,
      description: 'Only false: a check of the job is "sync validate".',
    },
    keyVersion: ignored('values are not decrypted; secrets come from ${env:NAME} or ${file:path}'),
  },
};

const DATAX_CORE = 'it configures the process of DataX; limits and checkpoints stand in job.setting';

const DATABASE_CHANGES = 'it is for readers that follow the changes of a whole database';

const SEMANTIC: SchemaNode = {
  type: 'string',
  enum: ['exactly-once', 'at-least-once', 'none'],
  description:
    'What must be delivered at the least: with exactly-once the job is refused where the pair cannot do that.',
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
    core: ignored(DATAX_CORE),
    common: ignored(DATAX_CORE),
    entry: ignored(DATAX_CORE),
    setting: ignored('settings stand in job.setting'),
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
              writer: plugin({ semantic: SEMANTIC }),
              transform: {
                type: 'array',
                'x-plugin': true,
                description: 'What is done to rows between reader and writer, step by step: docs/transforms.md.',
              },
              transformer: {
                type: ['array', 'object'],
                'x-plugin': true,
                description: "The same as a list of DataX's transformers.",
              },
              nameMapping: ignored(DATABASE_CHANGES),
              restoration: ignored(DATABASE_CHANGES),
            },
          },
        },
        setting: SETTING_SCHEMA,
        preHandler: ignored('handlers of DataX are programs of its own'),
        postHandler: ignored('handlers of DataX are programs of its own'),
      },
    },
  },
};
