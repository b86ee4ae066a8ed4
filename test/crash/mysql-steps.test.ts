/** What the MySQL writer does once in a run, killed in the middle of it. */
import assert from 'node:assert/strict';
import { assertKilled, atOnce, run } from '../support/crash.js';
import { ownDatabase } from '../support/databases.js';
import { roundsOf } from '../support/lane-job.js';
import { assertMysqlExact, KEYLESS, mysqlJob } from '../support/mysql-jobs.js';
import { MYSQL_SERVERS, serverTest } from '../support/services.js';
import { Workspace } from '../support/workspace.js';

const SPLITS = roundsOf(3, 2, 20);

serverTest(MYSQL_SERVERS, 'preSql and postSql of plain statements run once over kills', async (server, t) => {
  const points = [
    'mysql.preSql',
    'begin.after',
    'begun.after',
    'ckpt.after',
    'complete.before',
    'mysql.postSql',
    'complete.after',
  ];
  await atOnce(2, points, async (point) => {
    await t.test(point, async () => {
      using ws = new Workspace();
      await using db = await ownDatabase(server.url);
      await db.query(KEYLESS);
      await db.query('create table log (what varchar(10)) engine=InnoDB');
      await db.query("insert into t values ('old', 's', 1, null)");
      const writer = {
        preSql: ["delete from t; insert into log values ('pre;')"],
        postSql: ["insert into log values ('post')"],
      };
      const j = mysqlJob(ws, db, { splits: SPLITS, writer });
      assertKilled(await run(ws, j, point), point);
      await assertMysqlExact(j, await run(ws, j), point);
      assert.deepEqual(await db.query('select what from log order by what'), [['post'], ['pre;']]);
    });
  });
});

serverTest(
  MYSQL_SERVERS,
  'swap: killed anywhere, the old table stays whole until the new one is',
  async (server, t) => {
    const points = [
      'begin.after',
      'begun.after',
      'prepare.after#2',
      'ckpt.after',
      'mysql.committed',
      'mysql.swap',
      'mysql.swapped',
      'complete.after',
    ];
    await atOnce(2, points, async (point) => {
      await t.test(point, async () => {
        using ws = new Workspace();
        await using db = await ownDatabase(server.url);
        await db.query(KEYLESS);
        await db.query("insert into t values ('old', 's', 1, null)");
        const j = mysqlJob(ws, db, { splits: SPLITS, writer: { writeStrategy: 'swap' } });
        assertKilled(await run(ws, j, point), point);
        const swapped = ['mysql.swapped', 'complete.after'].includes(point);
        const [count] = await db.query('select count(*) from t');
        assert.deepEqual(count, [swapped ? '120' : '1']);
        await assertMysqlExact(j, await run(ws, j), point);
        assert.deepEqual((await db.query('show tables')).flat(), ['syncx_commits', 't']);
      });
    });
  },
);

serverTest(MYSQL_SERVERS, 'createTable: auto, two lanes at once, killed and resumed', async (server) => {
  using ws = new Workspace();
  await using db = await ownDatabase(server.url);
  const j = mysqlJob(ws, db, { splits: SPLITS, writer: { createTable: 'auto' } });
  assertKilled(await run(ws, j, 'mysql.marker'), 'mysql.marker');
  assertKilled(await run(ws, j, 'ckpt.after#2'), 'ckpt.after#2');
  await assertMysqlExact(j, await run(ws, j), 'createTable');
});

serverTest('mariadb', 'C69a: columns that do not fit are told before preSql empties the table', async (server) => {
  using ws = new Workspace();
  await using db = await ownDatabase(server.url);
  await db.query(KEYLESS);
  await db.query("insert into t values ('old', 's', 1, null)");
  const preSql = ['delete from t'];
  const unknown = mysqlJob(ws, db, { splits: SPLITS, writer: { preSql, column: ['id', 'split', 'n', 'nope'] } });
  const r = await run(ws, unknown);
  assert.equal(r.code, 2, r.stderr);
  assert.equal(r.summary?.error?.code, 'COLUMN_MISMATCH');
  assert.match(r.summary.error.message, /has no column `nope`/);
  assert.deepEqual(await db.query('select count(*) from t'), [['1']]);
});
