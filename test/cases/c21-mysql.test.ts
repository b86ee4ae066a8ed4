/** C21: generated, invisible and unlisted target columns; replace versus update. */
import assert from 'node:assert/strict';
import { ownDatabase, type OwnDatabase } from '../support/databases.js';
import {
  assertDone,
  csvWriter,
  jobFile,
  mysqlReader,
  mysqlWriter,
  outLines,
  runJob,
  type Json,
} from '../support/mysql-job.js';
import { MYSQL_SERVERS, serverTest } from '../support/services.js';
import { sync } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const DDL =
  "(id int primary key, a int, g int as (a*2) stored, v int as (a+1) virtual, h int invisible default 7, k varchar(5) default 'keep')";

async function setUp(server: { readonly url: string }): Promise<OwnDatabase> {
  const db = await ownDatabase(server.url);
  for (const t of ['gi', 'target']) await db.query(`create table ${t} ${DDL}`);
  await db.query('insert into gi (id, a) values (1,10),(2,20)');
  await db.query('update gi set h = 99 where id = 2');
  return db;
}

async function run(db: OwnDatabase, column: readonly string[], writer: Json): Promise<unknown> {
  using ws = new Workspace();
  await db.query('truncate table target');
  await db.query("insert into target (id, a, h, k) values (1, 1, 5, 'old')");
  const job = { reader: mysqlReader(db, 'gi', { column }), writer: mysqlWriter(db, 'target', { column, ...writer }) };
  const r = await runJob(ws, job);
  assertDone(r, [2, 2]);
  return db.query('select id, a, g, v, h, k from target order by id');
}

serverTest(
  'mariadb',
  'C21 `*` copies the invisible column and leaves the generated ones to the server',
  async (server) => {
    await using db = await setUp(server);
    for (const way of [{ writeMode: 'update' }, { writeMode: 'replace' }, { writeMode: 'update', loadData: 'never' }]) {
      assert.deepEqual(await run(db, ['*'], way), [
        ['1', '10', '20', '11', '7', 'keep'],
        ['2', '20', '40', '21', '99', 'keep'],
      ]);
    }
    await db.query('drop table target');
    await db.query(`create table target ${DDL}`);
    using ws = new Workspace();
    for (const way of [{}, { loadData: 'never' }]) {
      await db.query('truncate table target');
      const job = { reader: mysqlReader(db, 'gi'), writer: mysqlWriter(db, 'target', way) };
      assertDone(await runJob(ws, job, { args: ['--fresh'] }), [2, 2]);
      assert.deepEqual(
        await db.query('select id, a, g, v, h, k from target order by id'),
        await db.query('select id, a, g, v, h, k from gi order by id'),
      );
    }
  },
);

serverTest(
  'mariadb',
  'C21 to a file `*` has the generated and the invisible columns, and names of any case',
  async (server) => {
    await using db = await setUp(server);
    using ws = new Workspace();
    assertDone(await runJob(ws, { reader: mysqlReader(db, 'gi'), writer: csvWriter() }));
    assert.deepEqual(outLines(ws), ['1,10,20,11,7,keep', '2,20,40,21,99,keep']);
    using other = new Workspace();
    assertDone(
      await runJob(other, { reader: mysqlReader(db, 'gi', { column: ['H', 'V', 'Id'] }), writer: csvWriter() }),
    );
    assert.deepEqual(outLines(other), ['7,11,1', '99,21,2']);
  },
);

serverTest(
  'mariadb',
  'C21 listed columns in another case: update keeps the others, replace gives them their defaults',
  async (server) => {
    await using db = await setUp(server);
    assert.deepEqual(await run(db, ['ID', 'A'], { writeMode: 'update' }), [
      ['1', '10', '20', '11', '5', 'old'],
      ['2', '20', '40', '21', '7', 'keep'],
    ]);
    assert.deepEqual(await run(db, ['ID', 'A'], { writeMode: 'replace' }), [
      ['1', '10', '20', '11', '7', 'keep'],
      ['2', '20', '40', '21', '7', 'keep'],
    ]);
    assert.deepEqual(await run(db, ['ID', 'A'], { writeMode: 'insert-ignore' }), [
      ['1', '1', '2', '2', '5', 'old'],
      ['2', '20', '40', '21', '7', 'keep'],
    ]);
  },
);

serverTest(
  'mariadb',
  'C21 a generated column that is listed by name is refused before anything is written, naming it',
  async (server) => {
    await using db = await setUp(server);
    using ws = new Workspace();
    const writer = mysqlWriter(db, 'target', { column: ['id', 'g'], preSql: ['insert into target (id) values (77)'] });
    const r = await runJob(ws, { reader: mysqlReader(db, 'gi', { column: ['id', 'g'] }), writer });
    assert.notEqual(r.code, 0);
    assert.match(r.summary?.error?.message ?? r.stderr, /`g`.*computed by the server/s);
    assert.deepEqual(await db.query('select * from target'), []);
  },
);

serverTest(
  MYSQL_SERVERS,
  'C21 relatives on every server: unlisted columns, NULL over values, allReplace, two unique keys',
  async (server) => {
    await using db = await ownDatabase(server.url);
    await db.query('create table s (id int primary key, a int null)');
    await db.query('insert into s values (1, null), (2, 20)');
    const run = async (more: Json): Promise<unknown> => {
      using ws = new Workspace();
      await db.query('drop table if exists t');
      await db.query("create table t (ID int primary key, A int null, k varchar(5) default 'keep', n timestamp null)");
      await db.query("insert into t values (1, 1, 'old', '2024-01-01 00:00:00')");
      assertDone(await runJob(ws, { reader: mysqlReader(db, 's'), writer: mysqlWriter(db, 't', more) }), [2, 2]);
      return db.query('select * from t order by id');
    };
    const second = ['2', '20', 'keep', null];
    assert.deepEqual(await run({ writeMode: 'update' }), [['1', null, 'old', '2024-01-01 00:00:00'], second]);
    assert.deepEqual(await run({ writeMode: 'update', allReplace: true }), [['1', null, 'old', '2024-01-01 00:00:00'], second]); // prettier-ignore
    assert.deepEqual(await run({ writeMode: 'update', allReplace: false }), [['1', '1', 'old', '2024-01-01 00:00:00'], second]); // prettier-ignore
    assert.deepEqual(await run({ writeMode: 'replace' }), [['1', null, 'keep', null], second]);
    // DataX's and ChunJun's words for the same.
    assert.deepEqual(await run({ mode: 'UPDATE' }), [['1', null, 'old', '2024-01-01 00:00:00'], second]);
    assert.deepEqual(await run({ writeMode: 'REPLACE' }), [['1', null, 'keep', null], second]);
  },
);

serverTest(
  MYSQL_SERVERS,
  'C21 relatives: a target column without a default that nobody fills, and one that is missing, are told of',
  async (server) => {
    await using db = await ownDatabase(server.url);
    await db.query('create table s (id int primary key, extra int)');
    await db.query('insert into s values (1, 2)');
    await db.query('create table t (id int primary key, must int not null)');
    using ws = new Workspace();
    const job = { reader: mysqlReader(db, 's', { column: ['id'] }), writer: mysqlWriter(db, 't', { column: ['id'] }) };
    const r = await runJob(ws, job);
    assert.notEqual(r.code, 0, 'strict mode refuses the row, and it is better said before');
    assert.match(r.stderr, /must/);
    assert.deepEqual(await db.query('select * from t'), []);
    await db.query('alter table t modify must int null');
    const wide = { reader: mysqlReader(db, 's'), writer: mysqlWriter(db, 't') };
    const missing = await runJob(ws, wide, { name: 'wide.json' });
    assert.equal(missing.code, 2, missing.stderr);
    assert.match(missing.stderr, /extra/);
    const plan = await sync(['plan', jobFile(ws, wide, 'wide.json')], { cwd: ws.dir });
    assert.match(plan.stdout + plan.stderr, /extra/);
  },
);
