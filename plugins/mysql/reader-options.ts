/** Options of the reader, with the names of FlinkX, ChunJun and DataX. Rules between them: read/plan/check-options.ts. */
import type { OptionsOf, OptionsSchema } from 'syncx/plugin-api';
import {
  CONNECTION_PROPERTIES,
  CONNECT_TIMEOUT,
  PASSWORD,
  PROPERTIES,
  TLS_FILES,
  USERNAME,
} from './connect/connection-options.js';

/** An option that has no effect, and why. */
const ignored = (why: string) => ({ description: `Has no effect: ${why}.`, 'x-ignored': why }) as const;

const COLUMN = {
  title: 'Columns',
  description:
    'Columns to deliver, under the names given here: names (in any case), or objects with name, and type and value for a constant; "*" is all columns of the table, generated and invisible ones too, alone or with others beside it. What is no column and looks like SQL (a number, a quoted text, null, a call, operators) is selected as it stands, under its own text or the name behind `as`.',
  type: 'array',
  minItems: 1,
  default: ['*'],
  examples: [
    ['id', 'name'],
    ['*', { name: 'shop', type: 'string', value: 'berlin' }],
    ['id', "'berlin'", 'null', 'amount * 100 as cents'],
  ],
  items: {
    anyOf: [
      { type: 'string', minLength: 1 },
      {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: {
          name: { type: 'string', minLength: 1, description: 'Name of the column.' },
          type: {
            type: 'string',
            description: 'Type of a constant; a column of the table has the type that it has there.',
          },
          // As text: the config hands over the digits of the job file, which a double could not hold.
          value: { type: ['string', 'null'], description: 'A constant, in place of a column of the table.' },
          index: ignored('columns of a table have names'),
          format: ignored('dates and times go on in their plain form; a transform can write them otherwise'),
          parseFormat: ignored('the server gives dates and times in one form'),
          splitter: ignored('nothing is split'),
          isPart: ignored('tables have no partition folders'),
          notNull: ignored('rows are not refused for NULL'),
        },
      },
    ],
  },
} as const;

const NAMES = <const E extends readonly (string | readonly string[])[]>(
  title: string,
  description: string,
  examples: E,
) =>
  ({
    title,
    description,
    anyOf: [
      { type: 'string', minLength: 1 },
      { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1 },
    ],
    examples,
  }) as const;

const CONNECTION = {
  title: 'Connections',
  description: 'Where the tables are. Every entry is read, and every table of it: the original takes the first alone.',
  type: 'array',
  minItems: 1,
  examples: [[{ jdbcUrl: ['jdbc:mysql://127.0.0.1:3306/shop'], table: ['orders'] }]],
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['jdbcUrl'],
    properties: {
      ...CONNECTION_PROPERTIES,
      table: NAMES('Tables', 'Tables to read, as table or database.table; "*" is every table of the database.', [
        ['orders'],
        ['orders', 'archive.orders'],
        '*',
      ]),
      tablePattern: {
        title: 'Table pattern',
        description: 'A regular expression (of JavaScript): tables of the database whose whole name it fits are read.',
        type: 'string',
        minLength: 1,
        examples: ['orders_\\d{4}'],
      },
      querySql: NAMES('Queries', 'SELECT statements to read in place of tables, a source each.', [
        'select id, name from customers',
      ]),
    },
  },
} as const;

const CURSOR = {
  increColumn: {
    title: 'Incremental column',
    description:
      "A column whose values rise, by name or by its place in `column` (from 0): each run reads what lies above the last one's end. Rows where it is NULL are never read.",
    anyOf: [
      { type: 'string', minLength: 1 },
      { type: 'integer', minimum: 0 },
    ],
    examples: ['updated_at'],
  },
  startLocation: {
    title: 'Start',
    description:
      'Where the first run begins: rows above this value of increColumn (with useMaxFunc: and those that have it). For times as text, or as an instant in s, ms, µs or ns since 1970; both of UTC.',
    type: 'string',
    examples: ['2024-05-01 00:00:00', '12345'],
  },
  endLocation: {
    title: 'End',
    description:
      'Where every run ends at the latest: at the rows below this value of increColumn, in the forms of startLocation.',
    type: 'string',
    examples: ['2024-06-01 00:00:00'],
  },
  useMaxFunc: {
    title: 'With the start',
    description:
      'Whether rows that have startLocation itself are read too. Up to which value is always asked for first.',
    type: 'boolean',
    default: false,
  },
  increLookback: {
    title: 'Look back',
    description:
      'How far below the last end a run begins again, for rows that come late with an old value: a number, or a time as `5m`. Rows are then delivered again: for targets with a key.',
    anyOf: [
      { type: 'string', minLength: 1 },
      { type: 'integer', minimum: 0 },
    ],
    examples: ['5m', 1000],
  },
  increWait: {
    title: 'Wait for transactions',
    description:
      'How long a run waits for transactions that were open when its end was determined, for they may still commit rows below it. Needs the right PROCESS; 0 does not wait.',
    type: 'integer',
    minimum: 0,
    default: 30_000,
    'x-unit': 'ms',
    'x-state': 'tuning',
    examples: [60_000],
  },
  polling: {
    title: 'Polling',
    description: "Whether the job goes on for ever, asking for rows above increColumn's last value again and again.",
    type: 'boolean',
    default: false,
  },
  pollingInterval: {
    title: 'Polling interval',
    description: 'How long after a poll the next one comes.',
    type: 'integer',
    minimum: 1,
    default: 5000,
    'x-unit': 'ms',
    'x-state': 'tuning',
    examples: [3000],
  },
  pollingFromMax: {
    title: 'Poll from the highest value',
    description: 'Whether polling without startLocation leaves out the rows that are there at its start.',
    type: 'boolean',
    default: false,
  },
} as const;

const SPLITTING = {
  splitPk: {
    title: 'Split column',
    description:
      'Column by whose ranges several lanes read a table; of any type with an order but FLOAT and DOUBLE. Without it the primary key, or a unique key without NULL, is taken where there is one.',
    type: 'string',
    examples: ['id'],
  },
  splitStrategy: {
    title: 'Split strategy',
    description:
      "How ranges are found. even: equal steps from the lowest to the highest value; sampled: by the server's estimates of how many rows a range has; keyset: by walking the key, which every type allows. auto: sampled for integers, keyset for others.",
    type: 'string',
    enum: ['auto', 'even', 'sampled', 'keyset'],
    default: 'auto',
    'x-values': { range: 'even' },
    'x-ignored-values': {
      pattern: '^[mM][oO][dD]$',
      why: 'remainders need a scan of the table for every lane: ranges are read',
    },
    'x-state': 'tuning',
    examples: ['even'],
  },
  splitSize: {
    title: 'Split size',
    description:
      "Bytes of a split, by the server's estimate; small tables get smaller ones, so that all lanes have work.",
    type: 'integer',
    minimum: 1,
    default: 67_108_864,
    'x-unit': 'bytes',
    'x-state': 'tuning',
    examples: [268_435_456],
  },
} as const;

const ORDERED = "rows are read in the order of the table's key, so that a run can go on anywhere";
const RESUMES = "every run can be resumed, by the table's own key";

const FOREIGN = {
  fetchSize: ignored('rows stream, as many at a time as there is room for'),
  queryTimeOut: ignored('a read takes as long as it takes; socketTimeout in jdbcUrl bounds the silence of a server'),
  isOrderBy: ignored(ORDERED),
  orderByColumn: ignored(ORDERED),
  orderBy: ignored(ORDERED),
  restoreColumn: ignored(RESUMES),
  restoreColumnType: ignored(RESUMES),
  restoreColumnIndex: ignored(RESUMES),
  increColumnType: ignored('the table tells it'),
  increColumnIndex: ignored('increColumn takes a number too'),
  increment: ignored('increColumn says it'),
  initReporter: ignored("where a run ended is kept in the job's state: sync state list --cursor"),
  requestAccumulatorInterval: ignored("where a run ended is kept in the job's state"),
  splitPkStart: ignored('the table tells it'),
  splitPkEnd: ignored('the table tells it'),
  parallelism: ignored('setting.speed.channel says it'),
  withNoLock: ignored('it is for another database'),
  fieldDelim: ignored('it is for another database'),
  nullDelim: ignored('it is for another database'),
  insertSqlMode: ignored('it is for another database'),
  session: ignored('sessions are set up in one way; see sessionVariables of the URL'),
  mandatoryEncoding: ignored('the server converts texts from what their columns have'),
} as const;

export const READER_OPTIONS = {
  type: 'object',
  title: 'MySQL reader',
  description: 'Reads tables and queries of MySQL and MariaDB.',
  additionalProperties: false,
  required: ['connection'],
  examples: [
    {
      username: 'sync',
      password: '${env:SHOP_PASSWORD:secret}',
      connection: [{ jdbcUrl: ['jdbc:mysql://127.0.0.1:3306/shop'], table: ['orders'] }],
      column: ['id', 'amount', 'paid_at'],
      where: 'status = 1',
      splitPk: 'id',
    },
  ],
  properties: {
    connection: CONNECTION,
    username: USERNAME,
    password: PASSWORD,
    column: COLUMN,
    where: {
      title: 'Condition',
      description: 'A condition in SQL, as it is; rows that it is not true for are not read.',
      type: 'string',
      examples: ["status = 1 and city <> 'x'"],
    },
    customSql: {
      title: 'Query',
      description: 'A SELECT statement to read in place of tables; every connection has it.',
      type: 'string',
      examples: ['select o.id, c.name from orders o join customers c on c.id = o.customer'],
    },
    ...SPLITTING,
    consistent: {
      title: 'Consistent',
      description:
        'Whether all lanes read the state of one moment: the job’s tables are locked for writing (LOCK TABLES … READ) until every lane has begun its transaction. For queries, and for a user without the right LOCK TABLES, the whole server is (FLUSH TABLES WITH READ LOCK, right RELOAD). A run that was broken off goes on only where nothing was written since.',
      type: 'boolean',
      default: false,
      'x-aliases': ['snapshot'],
    },
    ...CURSOR,
    zeroDate: {
      title: 'Zero dates',
      description:
        'What becomes of dates of zeros as 0000-00-00: keep gives them as they are, null NULL, error a dirty row. Without it what zeroDateTimeBehavior in jdbcUrl says, else keep.',
      type: 'string',
      enum: ['keep', 'null', 'error'],
      examples: ['null'],
    },
    properties: PROPERTIES,
    connectTimeOut: CONNECT_TIMEOUT,
    ...TLS_FILES,
    ...FOREIGN,
  },
} as const satisfies OptionsSchema;

export type ReaderOptions = OptionsOf<typeof READER_OPTIONS>;
export type ReaderConnection = ReaderOptions['connection'][number];
