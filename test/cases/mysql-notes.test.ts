/** What a run says of its target before it writes, and whose commit table it takes. */
import assert from 'node:assert/strict';
import { ownDatabase } from '../support/databases.js';
import {
  assertDone,
  jobFile,
  mysqlReader,
  mysqlWriter,
  outLines,
  csvWriter,
  runJob,
  valueOf,
} from '../support/mysql-job.js';
import { MYSQL_SERVERS, serverTest } from '../support/services.js';
import { sync } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

serverTest(MYSQL_SERVERS, 'triggers of the target are named by the plan and at the start', async (server) => {
  await using db = await ownDatabase(server.url);
  await db.query('create table s (id int primary key)');
  await db.query('insert into s values (1)');
  await db.query('create table t (id int primary key)');
  using ws = new Workspace();
  const parts = { reader: mysqlReader(db, 's'), writer: mysqlWriter(db, 't') };
  const plain = await runJob(ws, parts, { name: 'plain.json' });
  assertDone(plain, [1, 1]);
  assert.doesNotMatch(plain.stderr, /trigger/);
  await db.query('delete from t');
  await db.query('create trigger more before insert on t for each row set new.id = new.id + 1');
  const plan = await sync(['plan', jobFile(ws, parts)], { cwd: ws.dir });
  assert.equal(plan.code, 0, plan.stdout);
  assert.match(plan.stdout.replaceAll(/\s+/g, ' '), /\.t has triggers, .* BEFORE INSERT more/);
  const r = await runJob(ws, parts);
  assertDone(r, [1, 1]);
  assert.match(r.stderr, /\.t has triggers, .* BEFORE INSERT more/);
});

serverTest(
  MYSQL_SERVERS,
  'the commit table says its format; a later one is refused, one without it is the first',
  async (server) => {
    await using db = await ownDatabase(server.url);
    await db.query('create table s (id int primary key)');
    await db.query('insert into s values (1)');
    await db.query('create table t (id int primary key)');
    const parts = { reader: mysqlReader(db, 's'), writer: mysqlWriter(db, 't') };
    using ws = new Workspace();
    const comment =
      "select table_comment from information_schema.tables where table_schema = database() and table_name = 'syncx_commits'";
    assertDone(await runJob(ws, parts), [1, 1]);
    assert.equal(await valueOf(db, comment), 'syncx commit table, format 1');
    await db.query("alter table syncx_commits comment 'syncx commit table, format 2'");
    await db.query('delete from t');
    const r = await runJob(ws, parts);
    assert.equal(r.code, 4, r.stderr);
    assert.equal(r.summary?.error?.code, 'STATE_MISFIT');
    assert.match(r.summary.error.message, /syncx_commits is of format 2, and this version knows 1/);
    assert.equal(await valueOf(db, 'select count(*) from t'), '0');
    await db.query("alter table syncx_commits comment ''");
    assertDone(await runJob(ws, parts), [1, 1]);
  },
);

serverTest(MYSQL_SERVERS, 'a condition and a query may end in a semicolon', async (server) => {
  await using db = await ownDatabase(server.url);
  await db.query('create table s (id int primary key, a varchar(9))');
  await db.query("insert into s values (1, 'x'), (2, 'y;'), (3, ';')");
  for (const [more, ids] of [
    [{ where: 'id > 1;' }, ['2,y;', '3,;']],
    [{ where: "a like '%;' ; \n" }, ['2,y;', '3,;']],
    [{ where: "a = ';'" }, ['3,;']],
    [{ where: ';' }, ['1,x', '2,y;', '3,;']],
    [{ customSql: 'select * from s where id > 2;' }, ['3,;']],
  ] as const) {
    using ws = new Workspace();
    const reader = mysqlReader(db, 's', more);
    const plan = await sync(['plan', jobFile(ws, { reader, writer: csvWriter() }, 'plan.json')], { cwd: ws.dir });
    assert.equal(plan.code, 0, plan.stdout + plan.stderr);
    assertDone(await runJob(ws, { reader, writer: csvWriter() }));
    assert.deepEqual(outLines(ws), ids, JSON.stringify(more));
  }
});

serverTest(
  'mariadb',
  'a JSON null comes back from CSV as it was, from JSON lines as NULL; the README says so',
  async (server) => {
    await using db = await ownDatabase(server.url);
    await db.query('create table s (id int primary key, j json)');
    await db.query(`insert into s values (1, 'null'), (2, null), (3, '{"a": null}')`);
    await db.query('create table t like s');
    const column = [{ name: 'id', type: 'int' }, { name: 'j', type: 'json' }]; // prettier-ignore
    for (const [fileType, one] of [
      ['csv', 'null'],
      ['json', null],
    ] as const) {
      // prettier-ignore
      using ws = new Workspace();
      assertDone(await runJob(ws, { reader: mysqlReader(db, 's'), writer: csvWriter({ fileType }) }), [3, 3]);
      const columns = fileType === 'csv' ? column.map((c, index) => ({ ...c, index })) : column;
      const reader = { name: 'filereader', parameter: { path: 'out', fileType, column: columns, ...(fileType === 'csv' ? { nullFormat: '\\N' } : {}) } }; // prettier-ignore
      await db.query('truncate t');
      assertDone(await runJob(ws, { reader, writer: mysqlWriter(db, 't') }, { name: 'back.json' }), [3, 3]);
      const rows = (await db.query('select id, j from t order by id')).map(([id, j]) => [id, typeof j === 'string' ? j.replaceAll(' ', '') : j]); // prettier-ignore
      assert.deepEqual(rows, [['1', one], ['2', null], ['3', '{"a":null}']], fileType); // prettier-ignore
    }
  },
);

serverTest(
  MYSQL_SERVERS,
  'a byte that no character has is a dirty row of a table, and a question mark of a query; the README says so',
  async (server) => {
    await using db = await ownDatabase(server.url);
    await db.query('create table s (id int primary key, a varchar(9) character set ascii)');
    await db.query("insert into s values (1, 'a')");
    await db.query("insert into s values (2, 'b')");
    await db.query("update s set a = x'62ff' where id = 2");
    assert.equal(await valueOf(db, 'select hex(a) from s where id = 2'), '62FF');
    using ws = new Workspace();
    const setting = { errorLimit: { record: 1 } };
    assertDone(await runJob(ws, { reader: mysqlReader(db, 's'), writer: csvWriter(), setting }), [2, 1, 1]);
    using other = new Workspace();
    const reader = mysqlReader(db, 's', { customSql: 'select id, a from s' });
    assertDone(await runJob(other, { reader, writer: csvWriter() }), [2, 2]);
    assert.deepEqual(outLines(other), ['1,a', '2,b?']);
  },
);
