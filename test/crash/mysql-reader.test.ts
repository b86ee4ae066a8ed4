/** kill -9 while tables of MySQL are read: the next start goes on behind the last row that was committed, whatever the key. */
import assert from 'node:assert/strict';
import { atOnce } from '../support/crash.js';
import { ownDatabase } from '../support/databases.js';
import { assertDone, csvWriter, jdbcUrl, mysqlReader, mysqlWriter, outLines, type Json } from '../support/mysql-job.js';
import {
  isInsideSplit,
  makeSource,
  makeTarget,
  rowsOf,
  runKilled,
  slow,
  type SourceTable,
} from '../support/mysql-source.js';
import { MYSQL_SERVERS, serverTest, type TestServer } from '../support/services.js';
import { Workspace } from '../support/workspace.js';

const PAD = '.'.repeat(40);
const ROWS = 1200;
/** Bytes; some two hundred rows. */
const SPLIT = 20_000;
/** Rows. */
const BATCH = 20;
/** Jobs that mostly wait, for the rate limit. */
const AT_ONCE = 5;

const two = (n: number): string => String(n).padStart(2, '0');

const INTEGER: SourceTable = {
  columns: { id: 'bigint', v: 'varchar(80)' },
  keys: 'primary key (id)',
  rows: ROWS,
  // Below zero too, and with gaps.
  row: (n) => [String((n - 300) * 7), n % 11 === 0 ? null : `${PAD}é${String(n)}`],
};

/** Rows that are alike, too: a count and a hash tell where a start is. */
const KEYLESS: SourceTable = {
  columns: { id: 'int', v: 'varchar(80)' },
  rows: ROWS,
  row: (n) => [n % 5 === 0 ? null : String(n % 50), `${PAD}${String(n % 7)}`],
};

const COMPOSITE: SourceTable = {
  columns: { a: 'varchar(20)', at: 'datetime', n: 'decimal(12,3)', v: 'varchar(80)' },
  keys: 'primary key (a, at, n)',
  rows: ROWS,
  row: (n) => [
    `x${String(n % 4)}`,
    `2024-01-${two(1 + (n % 3))} 00:00:${two(n % 50)}`,
    `${String(n - 300)}.${String(n % 10)}00`,
    `${PAD}${String(n)}`,
  ],
};

const LETTERS = ['a', 'Z', 'ä', 'ß', "'", '\\', '"', 'o ', '%_', '-'] as const;

/** In the order of its collation, not of its bytes. */
const TEXT: SourceTable = {
  columns: { id: 'varchar(60) character set latin1 collate latin1_german2_ci', v: 'varchar(80)' },
  keys: 'primary key (id)',
  rows: ROWS,
  row: (n) => [`${LETTERS[n % 10] ?? ''}${String(n)}${LETTERS[(n * 3) % 10] ?? ''}`, `${PAD}${String(n)}`],
};

const BYTES: SourceTable = {
  columns: { id: 'varbinary(20)', v: 'varchar(80)' },
  keys: 'primary key (id)',
  rows: ROWS,
  row: (n) => [String.fromCharCode(n % 97, n % 31) + String(n), `${PAD}${String(n)}`],
};

/** A third of the rows are a split of their own: those with NULL. */
const NULLABLE: SourceTable = {
  columns: { id: 'int', k: 'int', v: 'varchar(80)' },
  keys: 'primary key (id), key (k)',
  rows: ROWS,
  row: (n) => [String(n), n % 3 === 0 ? null : String((n % 200) - 100), `${PAD}${String(n)}`],
};

/** With the option `zeroDate: null` other values are delivered than those that rows are ordered by. */
const ZERO_DATES: SourceTable = {
  columns: { at: 'datetime', n: 'int', v: 'varchar(80)' },
  keys: 'primary key (at, n)',
  rows: ROWS,
  row: (n) => [
    n % 3 === 0 ? '0000-00-00 00:00:00' : `2024-01-01 00:00:${two(n % 50)}`,
    String(n),
    `${PAD}${String(n)}`,
  ],
};

interface Reading {
  readonly table: SourceTable;
  readonly reader?: Json;
  /** Default: lanes into a table. */
  readonly files?: true;
  /** In place of the table. */
  readonly query?: string;
  /** What is delivered, in SQL; default: the columns. */
  readonly delivers?: readonly string[];
  /** Default 2. */
  readonly channel?: number;
  /** Of each start. */
  readonly channels?: readonly number[];
}

const CASES: Readonly<Record<string, Reading>> = {
  'an integer key': { table: INTEGER },
  'an integer key, into files': { table: INTEGER, files: true },
  'an integer key, one lane, into files': { table: INTEGER, files: true, channel: 1 },
  'an integer key, walked': { table: INTEGER, reader: { splitStrategy: 'keyset' } },
  'an integer key, another number of lanes at each start': { table: INTEGER, channels: [2, 4, 1, 3, 2, 1, 4] },
  'no key': { table: KEYLESS },
  'no key, into files': { table: KEYLESS, files: true },
  'a query': { table: INTEGER, query: 'select s.* from s, (select 1) one order by s.id' },
  'a composite key': { table: COMPOSITE },
  'a key of text': { table: TEXT },
  'a key of bytes': { table: BYTES },
  'a key that is not among the columns': { table: COMPOSITE, reader: { column: ['v'] } },
  'zero dates in the key, as NULL': {
    table: ZERO_DATES,
    reader: { zeroDate: 'null' },
    channel: 1,
    delivers: ["nullif(at, '0000-00-00 00:00:00')", 'n', 'v'],
  },
  'NULLs in the split column': { table: NULLABLE, reader: { splitPk: 'k' } },
  'NULLs in the split column, walked': { table: NULLABLE, reader: { splitPk: 'k', splitStrategy: 'keyset' } },
  'NULLs in the split column, no key': { table: { ...NULLABLE, keys: 'key (k)' }, reader: { splitPk: 'k' } },
};

/** In the middle of reading, each: in an epoch, around its checkpoint and its commits. */
const KILLS: readonly (readonly string[])[] = [
  ['write.after#3', 'ckpt.after#3', 'commit.data#3', 'outcome.before#2'],
  ['ckpt.before#4', 'commit.before#3', 'lanes.opened', 'write.before#5', 'barrier.passed#3'],
];

async function assertResumes(server: TestServer, c: Reading, kills: readonly string[]): Promise<void> {
  await using db = await ownDatabase(server.url);
  using ws = new Workspace();
  const { table, channel = 2 } = c;
  await makeSource(db, table);
  const column = (c.reader?.['column'] ?? Object.keys(table.columns)) as readonly string[];
  await makeTarget(db, { ...table, columns: Object.fromEntries(column.map((n) => [n, table.columns[n] ?? ''])) });
  const fromTable = mysqlReader(db, 's', { splitSize: SPLIT, ...c.reader });
  const fromQuery = mysqlReader(db, 's', { connection: [{ jdbcUrl: [jdbcUrl(db)], querySql: [c.query] }] });
  let inside = 0;
  const r = await runKilled({
    ws,
    job: {
      reader: c.query === undefined ? fromTable : fromQuery,
      writer: c.files ? csvWriter({ fieldDelimiter: '|', rollOnCheckpoint: true }) : mysqlWriter(db, 't'),
      setting: slow(channel, BATCH),
    },
    kills,
    ...(c.channels ? { channels: c.channels } : {}),
    between: () => {
      if (isInsideSplit(ws)) inside++;
      return Promise.resolve();
    },
  });
  assertDone(r, [table.rows, table.rows]);
  assert.equal(r.summary?.delivery, 'exactly-once');
  assert.ok(inside > 0, 'no kill was inside of a split');
  const want = await rowsOf(db, 's', c.delivers ?? column);
  assert.deepEqual(c.files ? outLines(ws) : await rowsOf(db, 't', column), want);
}

serverTest(
  MYSQL_SERVERS,
  'killed in the middle of reading: each row once, whatever the key',
  async (server, t) => {
    const cases = Object.entries(CASES).map(([what, c], i) => ({ what, c, i }));
    await atOnce(AT_ONCE, cases, async ({ what, c, i }) => {
      // Each case on each server, with one sequence here and the other one there.
      const kills = KILLS[(i + MYSQL_SERVERS.indexOf(server.kind)) % KILLS.length] ?? [];
      await t.test(`${what}: ${kills.join(', ')}`, () => assertResumes(server, c, kills));
    });
  },
  AT_ONCE,
);
