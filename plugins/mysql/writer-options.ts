import { type Finding, type OptionsOf } from 'syncx/plugin-api';
import {
  CONNECTION_PROPERTIES,
  CONNECT_TIMEOUT,
  PASSWORD,
  PROPERTIES,
  TLS_FILES,
  USERNAME,
  checkConnections,
} from './connect/connection-options.js';
import { splitSql } from './write/split-sql.js';

/** An option that has no effect, and why. */
const ignored = (why: string) => ({ description: `Has no effect: ${why}.`, 'x-ignored': why }) as const;

const NAMES = { type: 'array', items: { type: 'string', minLength: 1 } } as const;

const TABLE = {
  title: 'Table',
  description:
    'The table to write to: table or database.table, as a text or a list with this one entry; `*`: each row goes to the table that has the name of its own.',
  anyOf: [
    { type: 'string', minLength: 1 },
    { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, maxItems: 1 },
  ],
  examples: [['orders'], 'shop.orders'],
} as const;

const SQL_LIST = (title: string, description: string, example: string) =>
  ({
    title,
    description,
    type: 'array',
    items: { type: 'string', minLength: 1 },
    default: [],
    examples: [[example]],
    'x-state': 'tuning',
  }) as const;

export const WRITER_OPTIONS = {
  type: 'object',
  additionalProperties: false,
  required: ['connection'],
  properties: {
    connection: {
      title: 'Connection',
      description: 'Where to write: one entry with jdbcUrl and table.',
      type: 'array',
      minItems: 1,
      maxItems: 1,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['jdbcUrl', 'table'],
        properties: { ...CONNECTION_PROPERTIES, table: TABLE },
      },
      examples: [[{ jdbcUrl: 'jdbc:mysql://127.0.0.1:3306/shop', table: ['orders'] }]],
    },
    username: USERNAME,
    password: PASSWORD,
    column: {
      title: 'Columns',
      description:
        'Columns of the table to write, in the order of the reader’s columns; "*" is all columns that come, by name.',
      type: 'array',
      default: ['*'],
      examples: [['id', 'name']],
      items: {
        anyOf: [
          { type: 'string', minLength: 1 },
          {
            type: 'object',
            additionalProperties: false,
            required: ['name'],
            properties: {
              name: { type: 'string', minLength: 1, description: 'Name of the column.' },
              type: { type: 'string', description: 'Has no effect: the table says what type its column has.' },
              index: ignored('columns are written in the order of the list'),
              format: ignored('dates and times are written in their plain form'),
              parseFormat: ignored('nothing is parsed'),
              value: ignored('constants belong to the reader'),
              splitter: ignored('nothing is split'),
              isPart: ignored('folders are no columns'),
              notNull: ignored('the table says whether its column may be NULL'),
            },
          },
        ],
      },
    },
    writeMode: {
      title: 'Write mode',
      description:
        'What becomes of a row whose key is there already: insert refuses it (a dirty row), replace puts the new row in its place (columns that are not written get their defaults), update overwrites the columns that are written (INSERT … ON DUPLICATE KEY UPDATE), insert-ignore keeps the old row.',
      type: 'string',
      enum: ['insert', 'replace', 'update', 'insert-ignore'],
      default: 'insert',
      examples: ['insert', 'update'],
      'x-aliases': ['mode'],
      'x-values': {
        'insert into': 'insert',
        append: 'insert',
        'replace into': 'replace',
        upsert: 'update',
        'on duplicate key update': 'update',
        'insert ignore': 'insert-ignore',
        ignore: 'insert-ignore',
      },
    },
    uniqueKey: {
      title: 'Key columns',
      description:
        'By which columns deleted and changed rows of a CDC source are found; without it the primary key, else the first unique key. Inserts and updates always go by the keys of the table.',
      anyOf: [NAMES, { type: 'object', additionalProperties: NAMES }],
      default: [],
      examples: [['id'], { key: ['id'] }],
      'x-aliases': ['updateKey'],
    },
    allReplace: {
      title: 'NULL overwrites',
      description:
        'With writeMode update, whether a NULL that comes overwrites the value that is there; false keeps the old value. The default of FlinkX is false, so that NULL never overwrote anything there.',
      type: 'boolean',
      default: true,
      examples: [false],
    },
    preSql: SQL_LIST(
      'SQL before',
      'Statements that run once, before the first row is written; several may stand in one text, separated by semicolons.',
      'delete from orders where day = current_date',
    ),
    postSql: SQL_LIST(
      'SQL after',
      'Statements that run once, after the last row is committed.',
      "update loads set done = 1 where name = 'orders'",
    ),
    batchSize: {
      title: 'Rows of a statement',
      description: 'At most so many rows go into one INSERT; it also ends at a size that the server takes well.',
      type: 'integer',
      minimum: 1,
      maximum: 65535,
      default: 1024,
      examples: [4096],
      'x-state': 'tuning',
    },
    loadData: {
      title: 'LOAD DATA',
      description:
        'Whether rows may go by LOAD DATA LOCAL INFILE, which is faster: auto where server and mode allow it, never uses INSERT only.',
      type: 'string',
      enum: ['auto', 'never'],
      default: 'auto',
      examples: ['never'],
      'x-values': { true: 'auto', false: 'never' },
      'x-state': 'tuning',
    },
    semantic: {
      title: 'Delivery',
      description:
        'What is promised over crashes and restarts; without it exactly-once for writeMode insert where the tables allow it, else at-least-once, which with a key comes to the same rows.',
      type: 'string',
      enum: ['exactly-once', 'at-least-once'],
      examples: ['exactly-once'],
    },
    commitProtocol: {
      title: 'Commit protocol',
      description:
        'How exactly-once is done: marker keeps the rows of an epoch in one open transaction, which is lost and read again where the job dies before its commit; xa prepares them, so that they outlive the job and the server.',
      type: 'string',
      enum: ['marker', 'xa'],
      default: 'marker',
      examples: ['xa'],
    },
    commitTable: {
      title: 'Commit table',
      description:
        'Table that notes which epochs are committed, as table (in the database of the target) or database.table; it is created where it is missing.',
      type: 'string',
      minLength: 1,
      default: 'syncx_commits',
      examples: ['ops.syncx_commits'],
    },
    createTable: {
      title: 'Create the table',
      description: 'Whether a missing table is created, with the columns that the reader delivers.',
      type: 'string',
      enum: ['never', 'auto'],
      default: 'never',
      examples: ['auto'],
      'x-values': { true: 'auto', false: 'never' },
      'x-state': 'tuning',
    },
    writeStrategy: {
      title: 'Write strategy',
      description:
        'Where rows go: direct is into the table; swap is into a new table beside it, which takes its place at the end in one step, so that others see all of the old rows or all of the new ones.',
      type: 'string',
      enum: ['direct', 'swap'],
      default: 'direct',
      examples: ['swap'],
    },
    epochBytes: {
      title: 'Bytes of an epoch',
      description:
        'With exactly-once a lane asks for a checkpoint after so many bytes, as its rows sit in one open transaction until then.',
      type: 'integer',
      minimum: 1024,
      default: 8388608,
      examples: [67108864],
      'x-unit': 'bytes',
      'x-state': 'tuning',
    },
    properties: PROPERTIES,
    connectTimeOut: CONNECT_TIMEOUT,
    ...TLS_FILES,
    flushIntervalMills: ignored('rows are written as they come, and visible at each checkpoint'),
    fullColumn: ignored('the columns are looked up in the table'),
    isAutoCommit: ignored('when rows are committed follows from semantic'),
    executeDdlAble: ignored('changes of the source’s tables are not carried over'),
    session: ignored('sessions are set up in one way; see sessionVariables of the URL'),
    withNoLock: ignored('it is for another database'),
    insertSqlMode: ignored('it is for another database'),
    queryTimeOut: ignored(
      'a statement takes as long as it takes; socketTimeout in jdbcUrl bounds the silence of a server',
    ),
    batchByteSize: ignored('statements are sized by what the server takes'),
  },
  examples: [
    {
      connection: [{ jdbcUrl: 'jdbc:mysql://127.0.0.1:3306/shop', table: ['orders'] }],
      username: 'sync',
      column: ['*'],
      writeMode: 'insert',
    },
  ],
} as const;

export type WriterOptions = OptionsOf<typeof WRITER_OPTIONS>;

/** Null: `*`, all that come. */
export function wantedColumns(o: Pick<WriterOptions, 'column'>): readonly string[] | null {
  const names = o.column.map((c) => (typeof c === 'string' ? c : c.name));
  return names.length === 0 || (names.length === 1 && names[0] === '*') ? null : names;
}

export function tableText(o: WriterOptions): string {
  const table = o.connection[0]?.table ?? '';
  return typeof table === 'string' ? table : (table[0] ?? '');
}

/** Empty: none is given. */
export function keyOption(o: Pick<WriterOptions, 'uniqueKey'>): readonly string[] {
  const given = o.uniqueKey as readonly string[] | Readonly<Record<string, readonly string[]>>;
  return Array.isArray(given) ? (given as readonly string[]) : (Object.values(given)[0] ?? []);
}

/** What is promised where the tables allow it. */
export const wantsExactlyOnce = (o: WriterOptions): boolean =>
  (o.semantic ?? (o.writeMode === 'insert' ? 'exactly-once' : 'at-least-once')) === 'exactly-once';

/** `table`: each row goes to the table that has the name of its own. */
export const ALL_TABLES = '*';

function checkAllTables(o: WriterOptions, names: readonly string[]): readonly Finding[] {
  const findings: Finding[] = [];
  const why = 'has no place beside `*`, which stands for several tables';
  if (names.length > 0) findings.push({ path: 'column', message: `a list of names ${why}`, hint: 'Leave it out.' });
  if (keyOption(o).length > 0) findings.push({ path: 'uniqueKey', message: `it ${why}` });
  if (o.createTable === 'auto') {
    findings.push({ path: 'createTable', message: `auto ${why}`, hint: 'Create the tables before.' });
  }
  if (o.writeStrategy === 'swap') findings.push({ path: 'writeStrategy', message: `swap ${why}` });
  return findings;
}

/** Rules that the schema cannot say. */
export function checkWriter(o: WriterOptions): readonly Finding[] {
  const findings: Finding[] = [...checkConnections(o, o.connection)];
  const names = wantedColumns(o) ?? [];
  const folded = names.map((n) => n.toLowerCase());
  names.forEach((name, i) => {
    const path = `column[${String(i)}]`;
    if (name === '*')
      findings.push({ path, message: '`*` stands beside names', hint: 'Name all columns, or only `*`.' });
    else if (folded.indexOf(name.toLowerCase()) !== i)
      findings.push({ path, message: `the column \`${name}\` stands here twice` });
  });
  const table = tableText(o);
  if (table === ALL_TABLES) findings.push(...checkAllTables(o, names));
  if (!Array.isArray(o.uniqueKey) && Object.keys(o.uniqueKey).length > 1) {
    findings.push({
      path: 'uniqueKey',
      message: 'more than one key is given',
      hint: 'Keep the one that tells rows apart.',
    });
  }
  if (!o.allReplace && o.writeMode !== 'update') {
    const message = `it has no effect with writeMode ${o.writeMode}`;
    findings.push({ path: 'allReplace', level: 'warning', message });
  }
  if (o.commitProtocol === 'xa' && !wantsExactlyOnce(o)) {
    const message = 'xa is a way to exactly-once, and the job is at-least-once';
    findings.push({
      path: 'commitProtocol',
      message,
      hint: 'Set semantic to exactly-once, or leave commitProtocol out.',
    });
  }
  if (o.writeStrategy === 'swap' && o.preSql.length > 0) {
    const message = 'preSql sees the old table, which writeStrategy swap replaces at the end';
    findings.push({ path: 'preSql', level: 'warning', message });
  }
  for (const path of ['preSql', 'postSql'] as const) {
    o[path].forEach((text, i) => {
      const split = splitSql(text);
      if (typeof split === 'string') findings.push({ path: `${path}[${String(i)}]`, message: split });
    });
  }
  return findings;
}
