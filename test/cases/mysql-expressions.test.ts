/** Entries of the reader's `column` that are SQL, as jobs of DataX have them: read, written by position, resumed. */
import assert from 'node:assert/strict';
import { assertKilled } from '../support/crash.js';
import { ownDatabase } from '../support/databases.js';
import { assertDone, csvWriter, jobFile, mysqlReader, mysqlWriter, outLines, runJob } from '../support/mysql-job.js';
import { MYSQL_SERVERS, serverTest } from '../support/services.js';
import { sync } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const COLUMN = ['id', '`table`', '1', "'bazhen.csy'", 'null', 'concat(a + 1)', '2.3', 'true', 'null'];

serverTest(
  MYSQL_SERVERS,
  "the list of DataX' documentation goes to a file and by position to a table",
  async (server) => {
    await using db = await ownDatabase(server.url);
    await db.query('create table s (id int primary key, `table` varchar(9), a int)');
    await db.query("insert into s values (1,'x',5), (2,null,null)");
    await db.query(
      'create table t (k int primary key, t varchar(9), one int, name varchar(20), nothing int, a varchar(9), d decimal(5,2), yes tinyint, none int)',
    );
    using ws = new Workspace();
    const reader = mysqlReader(db, 's', { column: COLUMN });
    assertDone(await runJob(ws, { reader, writer: csvWriter() }), [2, 2]);
    assert.deepEqual([...outLines(ws)].sort(), [
      String.raw`1,x,1,bazhen.csy,\N,6,2.3,1,\N`,
      String.raw`2,\N,1,bazhen.csy,\N,\N,2.3,1,\N`,
    ]);
    const column = ['k', 't', 'one', 'name', 'nothing', 'a', 'd', 'yes', 'none'];
    const job = { reader, writer: mysqlWriter(db, 't', { column }) };
    using to = new Workspace();
    const plan = await sync(['plan', jobFile(to, job)], { cwd: to.dir });
    assert.equal(plan.code, 0, plan.stdout + plan.stderr);
    assert.match(plan.stdout, /select `id`, `table`, 1, 'bazhen\.csy', null, concat\(a \+ 1\), 2\.3, true, null from/);
    assertDone(await runJob(to, job), [2, 2]);
    assert.deepEqual(await db.query('select * from t order by k'), [
      ['1', 'x', '1', 'bazhen.csy', null, '6', '2.30', '1', null],
      ['2', null, '1', 'bazhen.csy', null, null, '2.30', '1', null],
    ]);
  },
);

for (const key of ['primary key', 'not null']) {
  serverTest(MYSQL_SERVERS, `a killed run goes on with expressions: id int ${key}`, async (server) => {
    await using db = await ownDatabase(server.url);
    await db.query(`create table s (id int ${key}, a int)`);
    await db.query(
      `insert into s values ${Array.from({ length: 3000 }, (_, i) => `(${String(i)},${String(i)})`).join(',')}`,
    );
    await db.query('create table t (name varchar(20), twice int)');
    using ws = new Workspace();
    const job = {
      reader: mysqlReader(db, 's', { column: ["concat('n', id)", 'a * 2 as twice'], splitPk: 'id' }),
      writer: mysqlWriter(db, 't', { column: ['name', 'twice'] }),
      setting: { speed: { record: 2000 }, checkpoint: { interval: 20 } },
    };
    assertKilled(await runJob(ws, job, { failpoint: 'outcome.after#2' }), 'outcome.after#2');
    assertDone(await runJob(ws, job));
    const rows = await db.query('select name, twice from t order by twice');
    assert.deepEqual(
      rows,
      Array.from({ length: 3000 }, (_, i) => [`n${String(i)}`, String(i * 2)]),
    );
  });
}
