/** C09: split keys with NULL, negative and huge values, one row, no row, and more channels than rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSession, ownDatabase, type OwnDatabase } from '../support/databases.js';
import {
  assertDone,
  csvWriter,
  mysqlReader,
  numberOf,
  outLines,
  ownServerSuite,
  runJob,
  type Json,
} from '../support/mysql-job.js';
import { MYSQL_SERVERS, serverTest } from '../support/services.js';
import { Workspace } from '../support/workspace.js';

const STRATEGIES = [undefined, 'range', 'mod', 'even', 'sampled', 'keyset'] as const;

/** The values of column `k`, as CSV, each once; with every plan, whatever FlinkX calls it. */
async function assertDelivers(
  db: OwnDatabase,
  table: string,
  values: readonly string[],
  channel = 3,
  more: Json = {},
  strategies: readonly (string | undefined)[] = STRATEGIES,
): Promise<void> {
  for (const splitStrategy of strategies) {
    using ws = new Workspace();
    const reader = mysqlReader(db, table, {
      splitPk: 'k',
      column: ['k'],
      ...(splitStrategy ? { splitStrategy } : {}),
      ...more,
    });
    const r = await runJob(ws, { reader, writer: csvWriter(), setting: { speed: { channel } } });
    assertDone(r, [values.length, values.length]);
    assert.deepEqual(outLines(ws), [...values].sort(), `${table} ${String(splitStrategy)}`);
  }
}

/** `(1),(2)` */
const list = (values: readonly (string | number)[]): string => values.map((v) => `(${String(v)})`).join(',');

serverTest(MYSQL_SERVERS, 'C09 (a) to (e), (g): every row once', async (server) => {
  await using db = await ownDatabase(server.url);
  const a = ['-4', '-3', '-1', '0', '5', '\\N', '\\N'];
  await db.query('create table a (k int null)');
  await db.query(`insert into a values ${list(a.map((v) => (v === '\\N' ? 'null' : v)))}`);
  await assertDelivers(db, 'a', a);
  const b = ['1', '9223372036854775807', '9223372036854775808', '18446744073709551615'];
  await db.query('create table b (k bigint unsigned primary key)');
  await db.query(`insert into b values ${list(b)}`);
  await assertDelivers(db, 'b', b);
  await db.query('create table c (k int primary key)');
  await assertDelivers(db, 'c', []);
  await db.query('create table d (k int primary key)');
  await db.query('insert into d values (7)');
  await assertDelivers(db, 'd', ['7']);
  await db.query('create table e (k int primary key)');
  await db.query('insert into e values (1),(2)');
  await assertDelivers(db, 'e', ['1', '2'], 8);
  await db.query('create table g (k int)');
  await db.query(`insert into g values ${list(Array<number>(1000).fill(5))}`);
  await assertDelivers(db, 'g', Array<string>(1000).fill('5'));
});

serverTest(MYSQL_SERVERS, 'C09 relatives: the same edges for other types of keys', async (server) => {
  await using db = await ownDatabase(server.url);
  const cases: Readonly<Record<string, readonly [type: string, values: readonly string[]]>> = {
    s: ['bigint', ['-9223372036854775808', '-1', '0', '9223372036854775807']],
    t: ['tinyint', ['-128', '-1', '0', '127', 'null']],
    d: [
      'decimal(30,10)',
      ['-99999999999999999999.9999999999', '-0.0000000001', '0.0000000000', '99999999999999999999.9999999999', 'null'],
    ],
    y: ['year', ['0000', '1901', '2155', 'null']],
    dt: ['date', ["'1000-01-01'", "'9999-12-31'", "'2024-02-29'", 'null']],
    ts: ['datetime', ["'1000-01-01 00:00:00'", "'9999-12-31 23:59:59'", "'2024-03-10 02:30:00'", 'null']],
    ti: ['time', ["'-838:59:59'", "'-00:00:01'", "'00:00:00'", "'838:59:59'", 'null']],
    z: ['date', ["'0000-00-00'", "'2024-00-00'", "'2024-02-31'", "'2024-03-01'"]],
  };
  await db.query("set session sql_mode = 'ALLOW_INVALID_DATES'");
  for (const [name, [type, values]] of Object.entries(cases)) {
    await db.query(`create table ${name} (k ${type} null, key (k))`);
    await db.query(`insert into ${name} values ${list(values)}`);
    const wanted = values.map((v) => (v === 'null' ? '\\N' : v.replaceAll("'", '')));
    await assertDelivers(db, name, wanted, 3, { splitSize: 1 }, [undefined, 'even', 'keyset']);
  }
});

serverTest(MYSQL_SERVERS, 'C09 relatives: FLOAT as split key is refused, or read in one split', async (server) => {
  await using db = await ownDatabase(server.url);
  await db.query('create table f (k float, key (k))');
  await db.query('insert into f values (0.1),(-0.1),(16777217),(null)');
  using ws = new Workspace();
  const reader = mysqlReader(db, 'f', { splitPk: 'k' });
  const r = await runJob(ws, { reader, writer: csvWriter(), setting: { speed: { channel: 3 } } });
  if (r.code === 0) assert.deepEqual(outLines(ws), ['-0.1', '0.1', '16777216', '\\N'].sort());
  else assert.match(r.stderr, /`k`.*float/i);
});

serverTest(MYSQL_SERVERS, 'C09 relatives: composite keys, other case, where, and no key at all', async (server) => {
  await using db = await ownDatabase(server.url);
  await db.query('create table p (a int, B varchar(10) character set utf8mb4, k int, primary key (a, B))');
  const rows = Array.from({ length: 600 }, (_, i) => [Math.floor(i / 100) - 3, `v${String(i % 100)}`, i] as const);
  await db.query(`insert into p values ${rows.map(() => '(?,?,?)').join(',')}`, rows.flat());
  await db.query('create table nokey (k int null, s varchar(5))');
  await db.query(`insert into nokey values ${rows.map(([a]) => `(${a === 0 ? 'null' : String(a)}, 'x')`).join(',')}`);
  for (const splitPk of [undefined, 'A', 'b', 'K']) {
    using ws = new Workspace();
    const more = { column: ['k'], splitSize: 1000, where: 'k % 2 = 0 or k = 1', ...(splitPk ? { splitPk } : {}) };
    const r = await runJob(ws, {
      reader: mysqlReader(db, 'p', more),
      writer: csvWriter(),
      setting: { speed: { channel: 4 } },
    });
    assertDone(r, [301, 301]);
    assert.deepEqual(outLines(ws).map(Number).sort((x, y) => x - y), rows.map((x) => x[2]).filter((k) => k % 2 === 0 || k === 1)); // prettier-ignore
  }
  await assertDelivers(
    db,
    'nokey',
    rows.map(([a]) => (a === 0 ? '\\N' : String(a))),
    3,
    { splitSize: 1000 },
  );
});

ownServerSuite(MYSQL_SERVERS, 'C09 (f)', (server) => {
  test('a skewed key: 11 rows in 10 s, by 100 range queries at most', async () => {
    const db = await ownDatabase(server().url);
    await using _ = db;
    await db.query('create table f (k bigint primary key)');
    await db.query(`insert into f values ${list([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])}, (9000000000000000001)`);
    await using admin = await openSession(server().url);
    await admin.query("set global log_output = 'TABLE', global general_log = 1");
    for (const splitStrategy of STRATEGIES) {
      await admin.query('truncate table mysql.general_log');
      using ws = new Workspace();
      const reader = mysqlReader(db, 'f', { splitPk: 'k', splitSize: 1, ...(splitStrategy ? { splitStrategy } : {}) });
      const r = await runJob(ws, { reader, writer: csvWriter(), setting: { speed: { channel: 3 } } });
      assertDone(r, [11, 11]);
      assert.ok(r.ms < 10_000, String(r.ms));
      assert.deepEqual(outLines(ws), ['1', '10', '2', '3', '4', '5', '6', '7', '8', '9', '9000000000000000001']);
      const asked = await numberOf(
        admin,
        "select count(*) from mysql.general_log where argument like '%select%from%`f`%' and argument not like '%general_log%'",
      );
      assert.ok(asked >= 1 && asked <= 100, `${String(splitStrategy)}: ${String(asked)} queries`);
    }
    await admin.query('set global general_log = 0');
  });
});
