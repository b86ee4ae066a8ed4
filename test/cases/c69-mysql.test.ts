/** C69 with databases: column counts before preSql, and state from a job that has changed. */
import assert from 'node:assert/strict';
import { assertKilled } from '../support/crash.js';
import { ownDatabase, type OwnDatabase } from '../support/databases.js';
import {
  assertDone,
  mysqlReader,
  mysqlWriter,
  numberOf,
  runJob,
  type JobParts,
  type Json,
} from '../support/mysql-job.js';
import { MYSQL_SERVERS, serverTest, type TestServer } from '../support/services.js';
import { Workspace } from '../support/workspace.js';

serverTest(MYSQL_SERVERS, 'C69 (a) 3 columns against 4 are a config error, before preSql', async (server) => {
  await using db = await ownDatabase(server.url);
  await db.query('create table s (a int primary key, b int, c int)');
  await db.query('create table t (a int primary key, b int, c int, d int)');
  await db.query('insert into s values (1,2,3)');
  await db.query('insert into t values (9,9,9,9)');
  for (const [from, to] of [
    [
      ['a', 'b', 'c'],
      ['a', 'b', 'c', 'd'],
    ],
    [['*'], ['a', 'b', 'c', 'd']],
    [
      ['a', 'b', 'c', { name: 'x', type: 'int', value: '7' }],
      ['a', 'b', 'd'],
    ],
  ] as const) {
    using ws = new Workspace();
    const writer = mysqlWriter(db, 't', { column: to, preSql: ['truncate table t'] });
    const r = await runJob(ws, { reader: mysqlReader(db, 's', { column: from }), writer });
    assert.equal(r.code, 2, r.stderr);
    assert.match(r.stderr, /\b3\b/);
    assert.match(r.stderr, /\b4\b/);
    assert.deepEqual(await db.query('select * from t'), [['9', '9', '9', '9']]);
  }
});

const TRUNCATE = { preSql: ['truncate table t'] };
const MISFITS: readonly (readonly [what: string, reader: Json, writer: Json, transform: readonly Json[], said: readonly RegExp[]])[] = [
  ['a query', { customSql: 'select a, b, c as x from s' }, { column: ['a', 'b', 'c', 'd'] }, [], [/\b3\b/, /\b4\b/]],
  ['a step that adds', {}, { column: ['a', 'b'] }, [{ op: 'drop', columns: ['b'] }, { op: 'constant', column: 'y', type: 'int32', value: 1 }, { op: 'constant', column: 'z', type: 'int32', value: 1 }], [/\b2\b/, /\b4\b/]],
  ['a name that the target lacks', { column: ['*', { name: 'x', type: 'int', value: '7' }] }, {}, [], [/no column `x`/]],
  ['an empty source', { where: 'false' }, { column: ['a', 'b'] , preSql: ['delete from t']}, [{ op: 'rename', columns: { b: 'q' } }], [/\b2\b/, /\b3\b/]],
]; // prettier-ignore

for (const [what, reader, writer, transform, said] of MISFITS) {
  serverTest(MYSQL_SERVERS, `C69 (a) what only the source tells is compared before preSql: ${what}`, async (server) => {
    await using db = await ownDatabase(server.url);
    await db.query('create table s (a int primary key, b int, c int)');
    await db.query('create table t (a int primary key, b int, c int, d int)');
    await db.query('insert into s values (1,2,3)');
    await db.query('insert into t values (9,9,9,9)');
    using ws = new Workspace();
    const more = 'customSql' in reader ? {} : { column: ['*'] };
    const r = await runJob(ws, {
      reader: mysqlReader(db, 's', { ...more, ...reader }),
      writer: mysqlWriter(db, 't', { ...TRUNCATE, ...writer }),
      transform,
    });
    assert.equal(r.code, 2, r.stderr);
    for (const s of said) assert.match(r.stderr, s);
    assert.deepEqual(await db.query('select * from t'), [['9', '9', '9', '9']]);
  });
}

serverTest(MYSQL_SERVERS, 'C69 (a) names in another case fit, and so do columns that preSql adds', async (server) => {
  await using db = await ownDatabase(server.url);
  await db.query('create table s (A int primary key, B int, C int)');
  await db.query('create table t (a int primary key, b int)');
  await db.query('insert into s values (1,2,3)');
  const reader = mysqlReader(db, 's', { column: ['*'] });
  using ws = new Workspace();
  assertDone(await runJob(ws, { reader, writer: mysqlWriter(db, 't', { column: ['b', 'a'], ...TRUNCATE }) }), [1, 1]);
  assert.deepEqual(await db.query('select a, b from t'), [['1', '2']]);
  using other = new Workspace();
  const preSql = ['truncate table t', 'alter table t add c int'];
  assertDone(await runJob(other, { reader, writer: mysqlWriter(db, 't', { column: ['*'], preSql }) }), [1, 1]);
  assert.deepEqual(await db.query('select a, b, c from t'), [['1', '2', '3']]);
});

const ROWS = 400;

async function setUp(server: TestServer): Promise<OwnDatabase> {
  const db = await ownDatabase(server.url);
  for (const [t, at] of [
    ['a', 0],
    ['b', 10_000],
  ] as const) {
    await db.query(`create table ${t} (id int primary key, other int, key (other))`);
    await db.query(
      `insert into ${t} values ${Array.from({ length: ROWS }, (_, i) => `(${String(at + i)}, ${String(i % 50)})`).join(',')}`,
    );
  }
  await db.query('create table t (id int, other int)');
  await db.query('create table t2 (id int, other int)');
  return db;
}

interface Edit {
  readonly table?: string;
  readonly target?: string;
  readonly reader?: Json;
  readonly writer?: Json;
  readonly channel?: number;
}

const job = (db: OwnDatabase, e: Edit = {}): JobParts => ({
  reader: mysqlReader(db, e.table ?? 'a', { splitPk: 'id', splitSize: 4096, ...e.reader }),
  writer: mysqlWriter(db, e.target ?? 't', e.writer),
  setting: { speed: { channel: e.channel ?? 2, record: 1000 }, checkpoint: { interval: 20 } },
});

for (const [what, edit, named] of [
  ['another table', { table: 'b' }, /reader\.parameter\.connection/],
  ['another condition', { reader: { where: 'id >= 100' } }, /reader\.parameter\.where/],
  ['another split column', { reader: { splitPk: 'other' } }, /reader\.parameter\.splitPk/],
  ['other columns', { reader: { column: ['other', 'id'] } }, /reader\.parameter\.column/],
  ['another target', { target: 't2' }, /writer\.parameter\.connection/],
  ['another write mode', { writer: { writeMode: 'replace' } }, /writer\.parameter\.writeMode/],
] as const) {
  serverTest(
    MYSQL_SERVERS,
    `C69 (b) state of a job that now has ${what} is refused, naming it; --fresh starts anew`,
    async (server) => {
      await using db = await setUp(server);
      using ws = new Workspace();
      assertKilled(await runJob(ws, job(db), { failpoint: 'outcome.after' }), 'outcome.after');
      const before = await numberOf(db, 'select count(*) from t');
      assert.ok(before > 0 && before < ROWS, String(before));
      const r = await runJob(ws, job(db, edit));
      assert.equal(r.code, 4, r.stderr);
      assert.equal(r.summary?.error?.code, 'STATE_MISFIT');
      assert.match(r.summary.error.message, named);
      assert.equal(await numberOf(db, 'select count(*) from t'), before);
      for (const t of ['t', 't2']) await db.query(`truncate table ${t}`);
      assertDone(await runJob(ws, job(db, edit), { args: ['--fresh'] }));
      const where = JSON.stringify(edit).includes('where') ? ROWS - 100 : ROWS;
      const target = 'target' in edit ? edit.target : 't';
      assert.deepEqual(await db.query(`select count(*), count(distinct id, other) from ${target}`), [
        [String(where), String(where)],
      ]);
    },
  );
}

for (const [from, to] of [
  [2, 4],
  [4, 1],
  [1, 3],
] as const) {
  serverTest(
    MYSQL_SERVERS,
    `C69 (b) ${String(from)} to ${String(to)} channels go on: no row is lost or doubled`,
    async (server) => {
      await using db = await setUp(server);
      using ws = new Workspace();
      assertKilled(await runJob(ws, job(db, { channel: from }), { failpoint: 'outcome.after' }), 'outcome.after');
      const r = await runJob(ws, job(db, { channel: to }));
      assertDone(r, [ROWS, ROWS]);
      assert.equal(r.summary?.['resumed'], true);
      assert.deepEqual(await db.query('select count(*), count(distinct id) from t'), [[String(ROWS), String(ROWS)]]);
    },
  );
}

serverTest(MYSQL_SERVERS, 'C69 (b) options that only tune may change, and so may user and password', async (server) => {
  await using db = await setUp(server);
  using ws = new Workspace();
  assertKilled(await runJob(ws, job(db), { failpoint: 'outcome.after' }), 'outcome.after');
  const edit = { reader: { splitSize: 10_000, fetchSize: 7 }, writer: { batchSize: 10, loadData: 'never' } };
  assertDone(await runJob(ws, job(db, edit)), [ROWS, ROWS]);
  assert.deepEqual(await db.query('select count(*), count(distinct id) from t'), [[String(ROWS), String(ROWS)]]);
});

serverTest(MYSQL_SERVERS, 'C69 (c) endLocation holds in a run, after a kill, and in later runs', async (server) => {
  await using db = await setUp(server);
  using ws = new Workspace();
  const more = { increColumn: 'id', startLocation: '100', endLocation: '300' };
  const incremental = job(db, { reader: more, channel: 1 });
  assertKilled(await runJob(ws, incremental, { failpoint: 'prepare.after' }), 'prepare.after');
  // What comes now lies behind the end, or before the start.
  await db.query('insert into a values (50000, 1), (-1, 1)');
  const held = () => db.query('select count(*), count(distinct id), min(id), max(id) from t');
  for (const read of [199, 0]) {
    assertDone(await runJob(ws, incremental), [read, read]);
    assert.deepEqual(await held(), [['199', '199', '101', '299']]);
  }
  await db.query('delete from a where id = 299');
  await db.query('insert into a values (299, 2)');
  assertDone(await runJob(ws, incremental), [0, 0]);
  for (const [reader, named] of [
    [{ endLocation: '300' }, /endLocation: needs increColumn/],
    [{ ...more, polling: true }, /endLocation: a polling job has no end/],
  ] as const) {
    const r = await runJob(ws, job(db, { reader }), { name: 'bad.json' });
    assert.equal(r.code, 2, r.stderr);
    assert.match(r.stderr, named);
  }
});

for (const startLocation of ['100', '350']) {
  serverTest(
    MYSQL_SERVERS,
    `C69 (c) the saved position wins over startLocation ${startLocation}, in a run and after it`,
    async (server) => {
      await using db = await setUp(server);
      using ws = new Workspace();
      const incremental = job(db, { reader: { increColumn: 'id', startLocation: '100' }, channel: 1 });
      assertKilled(await runJob(ws, incremental, { failpoint: 'outcome.after' }), 'outcome.after');
      const before = await numberOf(db, 'select count(*) from t');
      assert.ok(before > 0 && before < ROWS - 101, String(before));
      assertDone(await runJob(ws, incremental));
      const all = [[String(ROWS - 101), String(ROWS - 101), '101']];
      const held = () => db.query('select count(*), count(distinct id), min(id) from t');
      assert.deepEqual(await held(), all);
      // A start with another value, be it before the saved position or behind it.
      await db.query(`insert into a values (${String(ROWS)}, 1), (${String(ROWS + 1)}, 1)`);
      const edited = job(db, {
        reader: { increColumn: 'id', startLocation: startLocation === '350' ? '401' : '100' },
        channel: 1,
      });
      assertDone(await runJob(ws, edited), [2, 2]);
      assert.deepEqual(await db.query('select count(*), count(distinct id) from t'), [
        [String(ROWS - 99), String(ROWS - 99)],
      ]);
    },
  );
}
