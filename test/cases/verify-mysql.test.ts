/** sync verify between tables of real servers: by sums inside the servers where they can be, else by reading. */
import assert from 'node:assert/strict';
import { ownDatabase, type OwnDatabase } from '../support/databases.js';
import { MYSQL_SERVERS, serverTest, testServer } from '../support/services.js';
import { sync } from '../support/sync.js';
import { assertEqual, tableJob, tableReader, tableWriter, verified, type TableJob } from '../support/verify-jobs.js';
import { Workspace } from '../support/workspace.js';

const PEOPLE = '(id int primary key, name varchar(20), note varchar(20) null, n int) engine=InnoDB';

async function statements(db: OwnDatabase, ...list: readonly string[]): Promise<void> {
  for (const s of list) await db.query(s);
}

async function people(db: OwnDatabase): Promise<void> {
  const rows = Array.from(
    { length: 40 },
    (_, i) => `(${String(i)}, 'name ${String(i)}', ${i % 3 === 0 ? 'null' : `'note'`}, ${String(i)})`,
  );
  await statements(
    db,
    `create table s ${PEOPLE}`,
    `create table t ${PEOPLE}`,
    `insert into s values ${rows.join(', ')}`,
    'insert into t select * from s',
  );
}

/** What is done to the target, and what is told of it. */
const CHANGES: readonly (readonly [what: string, sql: readonly string[], told: readonly string[]])[] = [
  ['one cell', ["update t set name = 'x' where id = 7"], ['different 7: name']],
  ['a letter case', ["update t set name = 'NAME 7' where id = 7"], ['different 7: name']],
  ['a space at the end', ["update t set name = 'name 7 ' where id = 7"], ['different 7: name']],
  [
    'two values changed places',
    ["update t set name = 'name 8' where id = 7", "update t set name = 'name 7' where id = 8"],
    ['different 7: name', 'different 8: name'],
  ],
  [
    'the same change made twice',
    ["update t set note = 'm' where id in (7, 8)"],
    ['different 7: note', 'different 8: note'],
  ],
  ['a row that is missing', ['delete from t where id = 7'], ['missing 7']],
  ['a row too many', ["insert into t values (-1, 'new', null, null)"], ['extra -1']],
  ['one for another', ['update t set id = 99 where id = 39'], ['extra 99', 'missing 39']],
  ['an empty text for NULL', ["update t set note = '' where id = 3"], ['different 3: note']],
  ['NULL for a text', ['update t set note = null where id = 4'], ['different 4: note']],
  ['NULL for a number', ['update t set n = null where id = 0'], ['different 0: n']],
  ['texts whose border moved', ["update t set name = 'name 7#4', note = 'note' where id = 7"], ['different 7: name']],
];

serverTest(MYSQL_SERVERS, 'every change of a table is found, by sums and by reading', async (server) => {
  await using db = await ownDatabase(server.url);
  using ws = new Workspace();
  await people(db);
  const bySums = tableJob(ws, { source: db });
  assertEqual(await verified(ws, bySums), 'digest');
  for (const [what, sql, told] of CHANGES) {
    await statements(db, ...sql);
    const v = await verified(ws, bySums);
    assert.deepEqual([v.equal, v.by, v.key, v.differences], [false, 'digest', ['id'], told], what);
    await statements(db, 'delete from t', 'insert into t select * from s');
  }
  const byReading = tableJob(ws, { source: db, transform: [{ op: 'filter', where: 'id >= -5' }] });
  assertEqual(await verified(ws, byReading), 'rows');
  for (const [what, sql, told] of CHANGES) {
    await statements(db, ...sql);
    const v = await verified(ws, byReading);
    assert.deepEqual([v.equal, v.by, v.differences], [false, 'rows', told], what);
    await statements(db, 'delete from t', 'insert into t select * from s');
  }
});

serverTest(MYSQL_SERVERS, 'cells that no border of texts tells apart are not mixed up in sums', async (server) => {
  await using db = await ownDatabase(server.url);
  using ws = new Workspace();
  const table = '(id int primary key, a varchar(20), b varchar(20), c varbinary(20)) engine=InnoDB';
  const pairs = [
    [`'a#1#b', 'c', 'd'`, `'a', '1#b#c', 'd'`],
    [`'1', '', null`, `'1', null, ''`],
    [`null, 'x', 'y'`, `'x', null, 'y'`],
    [`'', '', ''`, `null, null, null`],
    [`'x', '#0#', ''`, `'x', '', '#0#'`],
    [`'x', 'y', 0x00`, `'x', 'y', ''`],
  ];
  await statements(db, `create table s ${table}`, `create table t ${table}`);
  for (const [i, [a = '', b = '']] of pairs.entries()) {
    await statements(db, `insert into s values (${String(i)}, ${a})`, `insert into t values (${String(i)}, ${b})`);
  }
  const v = await verified(ws, tableJob(ws, { source: db }));
  assert.equal(v.by, 'digest');
  assert.deepEqual(v.counts, [0, 0, pairs.length]);
});

serverTest(
  MYSQL_SERVERS,
  'equal values in columns of other types, character sets and collations are equal',
  async (server) => {
    await using db = await ownDatabase(server.url);
    using ws = new Workspace();
    await statements(
      db,
      `create table s (id int primary key, amount decimal(10,2), k tinyint(1), big bigint unsigned, name varchar(40) character set latin1,
       wide varchar(40) collate utf8mb4_bin, han varchar(20) character set gbk, size enum('s','l'), f float, d double, bin varbinary(9), at datetime, z int(6) zerofill)`,
      `create table t (id bigint primary key, amount decimal(14,5), k int, big decimal(20,0), name varchar(40) character set utf8mb4,
       wide varchar(40) character set utf8mb4 collate utf8mb4_unicode_ci, han text, size varchar(3), f float, d double, bin blob, at timestamp null, z int)`,
      `insert into s values (1, 1.50, 1, 18446744073709551615, 'é ü', '😀 x', '中文', 'l', 0.1, 0.1, 0x00ff27, '2024-02-29 01:02:03', 42),
       (2, -0.01, 0, 0, '', ' ', '', 's', 16777216, 1e300, '', '1999-12-31 23:59:59', 0),
       (3, null, null, null, null, null, null, null, null, null, null, null, null), (4, 100, 10, 10, '10', '100', '0', 's', 100, 1000, '0', '2000-10-10 10:00:00', 1000)`,
      'insert into t select * from s',
    );
    const job = tableJob(ws, { source: db });
    assertEqual(await verified(ws, job), 'digest');
    // The neighbour of a float, which prints alike in six digits.
    await statements(db, 'update t set f = 16777218 where id = 2');
    assert.deepEqual((await verified(ws, job)).differences, ['different 2: f']);
    await statements(db, 'update t set f = 16777216, amount = -0.011 where id = 2');
    assert.deepEqual((await verified(ws, job)).differences, ['different 2: amount']);
    await statements(db, "update t set amount = -0.01, name = 'e u' where id in (1, 2)");
    assert.deepEqual((await verified(ws, job)).differences, ['different 1: amount,name', 'different 2: name']);
  },
);

serverTest('mysql55', 'two servers of two makers', async (server) => {
  const mariadb = testServer('mariadb');
  assert.ok(mariadb, 'both servers are needed');
  await using one = await ownDatabase(mariadb.url);
  await using other = await ownDatabase(server.url);
  using ws = new Workspace();
  const table = `(id int primary key, name varchar(40), amount decimal(12,3), f float, d double, at datetime, day date, bin varbinary(20))`;
  await statements(
    one,
    `create table s ${table}`,
    `insert into s values (1, 'é 😀', 1.500, 0.1, 0.1, '2024-01-01 00:00:00', '2024-02-29', 0xff00), (2, '', 0, 1e-30, 1e-300, '0000-00-00 00:00:00', '0000-00-00', ''),
      (3, null, null, null, null, null, null, null), (4, 'x', -99.999, 3.4e38, 1.7976931348623157e308, '9999-12-31 23:59:59', '1000-01-01', 'bytes')`,
  );
  await other.query(`create table t ${table}`);
  const job = tableJob(ws, { source: one, target: other });
  const r = await sync(['run', job], { cwd: ws.dir });
  assert.equal(r.code, 0, r.stderr);
  assertEqual(await verified(ws, job), 'digest');
  // Minus zero, which MariaDB does not have.
  await other.query('update t set d = -0e0, f = -0e0 where id = 3');
  await one.query('update s set d = 0, f = 0 where id = 3');
  assertEqual(await verified(ws, job), 'digest');
  await other.query('update t set d = 0.10000000000000002 where id = 1');
  assert.deepEqual((await verified(ws, job)).differences, ['different 1: d']);
});

serverTest(MYSQL_SERVERS, 'rows that are too long to be summed up are read', async (server) => {
  await using db = await ownDatabase(server.url);
  using ws = new Workspace();
  const [limit] = await db.query('select @@max_allowed_packet');
  const half = Math.ceil(Number(limit?.[0]) * 0.6);
  const table = '(id int primary key, a longtext, b longtext) engine=InnoDB';
  await statements(db, `create table s ${table}`, `create table t ${table}`);
  for (const t of ['s', 't']) {
    await statements(
      db,
      `insert into ${t} values (1, 'short', ''), (2, repeat('x', ${String(half)}), null), (3, '', '')`,
    );
    await statements(db, `update ${t} set b = repeat('y', ${String(half)}) where id = 2`);
  }
  const job = tableJob(ws, { source: db });
  assertEqual(await verified(ws, job), 'digest');
  await statements(db, `update t set b = concat(left(b, ${String(half - 1)}), 'z') where id = 2`);
  assert.deepEqual((await verified(ws, job)).differences, ['different 2: b']);
});

serverTest(MYSQL_SERVERS, 'tables without a key: whole rows, as often as they are there', async (server) => {
  await using db = await ownDatabase(server.url);
  using ws = new Workspace();
  const table = '(a int, b varchar(9)) engine=InnoDB';
  await statements(db, `create table s ${table}`, `create table t ${table}`);
  await statements(db, "insert into s values (1, 'x'), (1, 'x'), (2, null), (2, '')", 'insert into t select * from s');
  const job = tableJob(ws, { source: db });
  assertEqual(await verified(ws, job), 'rows');
  await statements(db, "update t set b = 'y' where a = 1 limit 1", 'update t set b = null where a = 2');
  const v = await verified(ws, job);
  assert.deepEqual([v.key, v.differences], [[], ['extra 1|y', 'extra 2|NULL', 'missing 1|x', 'missing 2|']]);
  const repair = await verified(ws, job, '--repair');
  assert.match(repair.error?.message ?? '', /^nothing was repaired: the target has no key/);
  assert.equal((await db.query('select count(*) from t'))[0]?.[0], '4');
});

serverTest(MYSQL_SERVERS, 'keys of several columns, and of texts', async (server) => {
  await using db = await ownDatabase(server.url);
  using ws = new Workspace();
  const rows = Array.from(
    { length: 5000 },
    (_, i) => `('${String(i % 50).padStart(2, 'k')}', ${String(i)}, '${String(i)}')`,
  ).join(', ');
  for (const [ofSource, ofTarget, by] of [
    ['utf8mb4_bin', 'utf8mb4_bin', 'digest'],
    ['utf8mb4_unicode_ci', 'utf8mb4_unicode_ci', 'digest'],
    ['utf8mb4_unicode_ci', 'utf8mb4_bin', 'rows'], // ranges of the one are not ranges of the other
  ] as const) {
    const table = (collation: string): string =>
      `(k varchar(10) collate ${collation}, n int, v varchar(9), primary key (k, n)) engine=InnoDB`;
    await statements(
      db,
      'drop table if exists s, t',
      `create table s ${table(ofSource)}`,
      `create table t ${table(ofTarget)}`,
    );
    await statements(db, `insert into s values ${rows}`, 'insert into t select * from s');
    const job = tableJob(ws, { source: db });
    assertEqual(await verified(ws, job), by);
    await statements(
      db,
      "update t set v = 'x' where n in (11, 4321)",
      'delete from t where n = 77',
      "insert into t values ('zz', 1, '')",
    );
    const v = await verified(ws, job);
    assert.deepEqual(
      [v.by, v.differences],
      [by, ['different 21|4321: v', 'different 11|11: v', 'extra zz|1', 'missing 27|77'].sort()],
    );
  }
});

serverTest(
  'mariadb',
  'stretches that differ are cut small: keys far apart, rows missing at both ends and in the middle',
  async (server) => {
    await using db = await ownDatabase(server.url, { multipleStatements: true });
    using ws = new Workspace();
    const table = '(id bigint primary key, v int) engine=InnoDB';
    await statements(db, `create table s ${table}; create table t ${table}; create table d (i int primary key)`);
    await statements(db, 'insert into d values (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)');
    const number = 'a.i + 10 * b.i + 100 * c.i + 1000 * e.i + 10000 * f.i';
    const from = 'd a, d b, d c, d e, d f';
    for (const id of [number, `(${number}) * 1000003`, `(${number}) * (${number}) - 4000000000`]) {
      await statements(
        db,
        `delete from s; delete from t; insert into s select ${id}, ${number} from ${from}; analyze table s`,
      );
      await statements(db, 'insert into t select * from s; analyze table t');
      const job = tableJob(ws, { source: db });
      assertEqual(await verified(ws, job), 'digest');
      await statements(
        db,
        'delete from t where v in (0, 99999); update t set v = -1 where v = 55555; insert into t values (-5000000000, 0), (5, 5), (999999999999, 0) on duplicate key update v = -7',
      );
      const v = await verified(ws, job);
      const there = Number((await db.query('select count(*) from s where id = 5'))[0]?.[0]);
      assert.deepEqual([v.by, v.counts], ['digest', [2, 3 - there, 1 + there]], id);
      await statements(db, 'delete from t');
      const none = await verified(ws, job);
      assert.equal(none.equal, false);
      await statements(db, 'insert into t select * from s; delete from s');
      assert.equal((await verified(ws, job)).equal, false);
    }
  },
);

serverTest(
  MYSQL_SERVERS,
  'what the job reads is compared: where, a query, several tables, constants, other names',
  async (server) => {
    await using db = await ownDatabase(server.url);
    using ws = new Workspace();
    await people(db);
    await statements(db, 'delete from t where n >= 20');
    assertEqual(await verified(ws, tableJob(ws, { source: db, reader: { where: 'n < 20 -- a comment' } })), 'digest');
    const { parameter } = tableReader(db);
    const connection = parameter.connection.map(({ jdbcUrl }) => ({
      jdbcUrl,
      querySql: ['select * from s where n < 20'],
    }));
    assertEqual(await verified(ws, tableJob(ws, { source: db, reader: { connection } })), 'rows');
    const few = { reader: { where: 'n < 20', column: ['n', 'ID'] }, writer: { column: ['n', 'id'] } };
    assertEqual(await verified(ws, tableJob(ws, { source: db, ...few })), 'digest');

    await statements(db, 'create table s2 like s', 'insert into s2 select id + 100, name, note, n from s where n < 5');
    await statements(db, 'insert into t select * from s2');
    const both: TableJob = { source: db, reader: { ...tableReader(db, ['s', 's2']).parameter, where: 'n < 20' } };
    assertEqual(await verified(ws, tableJob(ws, both)), 'rows');
    await statements(db, "update t set name = 'x' where id = 101");
    assert.deepEqual((await verified(ws, tableJob(ws, both))).differences, ['different 101: name']);

    await statements(db, 'create table u (nr int primary key, who varchar(20), origin varchar(9))');
    await statements(db, "insert into u select id, name, 'here' from s");
    const writer = { ...tableWriter(db, 'u').parameter, column: ['nr', 'who', 'origin'] };
    const column = ['id', 'name', { name: 'origin', type: 'string', value: 'here' }];
    const renamed = tableJob(ws, { source: db, reader: { column }, writer });
    assertEqual(await verified(ws, renamed), 'rows');
    await statements(db, "update u set origin = 'there' where nr = 3");
    assert.deepEqual((await verified(ws, renamed)).differences, ['different 3: origin']);
  },
);

serverTest(MYSQL_SERVERS, 'setting.verify of a job between tables', async (server) => {
  await using db = await ownDatabase(server.url);
  using ws = new Workspace();
  await people(db);
  await statements(db, 'delete from t');
  const job = tableJob(ws, { source: db, setting: { verify: true } });
  const good = await sync(['run', job, '--output', 'json'], { cwd: ws.dir });
  assert.equal(good.code, 0, good.stderr);
  assert.equal((good.summary?.['verify'] as { equal: boolean }).equal, true);
  await statements(db, 'delete from t', "create trigger spoil before insert on t for each row set new.name = 'x'");
  const bad = await sync(['run', job, '--output', 'json'], { cwd: ws.dir });
  assert.deepEqual([bad.code, bad.summary?.error?.code, bad.summary?.written], [1, 'TARGET_DIFFERS', 40]);
});

serverTest('mariadb', 'an incremental job: compared is what its runs have read', async (server) => {
  await using db = await ownDatabase(server.url);
  using ws = new Workspace();
  await people(db);
  await statements(db, 'delete from t');
  const job = tableJob(ws, { source: db, reader: { increColumn: 'id', increWait: 0 } });
  assert.equal((await sync(['run', job], { cwd: ws.dir })).code, 0);
  await statements(db, "insert into s values (1000, 'later', null, 0)");
  const v = await verified(ws, job);
  assertEqual(v, 'rows');
  assert.match(v.notes.join(), /^Compared is what the runs so far have read/);
  await statements(db, 'delete from t where id = 5');
  assert.deepEqual((await verified(ws, job)).differences, ['missing 5']);
  assert.match(
    (await verified(ws, job, '--repair')).error?.message ?? '',
    /^nothing was repaired: in a job with a cursor/,
  );
});
