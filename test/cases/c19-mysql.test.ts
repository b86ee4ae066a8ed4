/**
 * C19: kill -9 around the two commits of the MySQL writer, as its end state. Every other point is in test/crash.
 * 10,000 rows into a table without a key, exactly-once, a checkpoint every 500 rows or so, two channels.
 */
import assert from 'node:assert/strict';
import { openSession, ownDatabase, type OwnDatabase } from '../support/databases.js';
import { assertKilled } from '../support/crash.js';
import { assertDone, mysqlReader, mysqlWriter, numberOf, runJob, type JobParts } from '../support/mysql-job.js';
import { MYSQL_SERVERS, serverTest, type TestServer } from '../support/services.js';
import { Workspace } from '../support/workspace.js';

const ROWS = 10_000;

async function setUp(server: TestServer): Promise<OwnDatabase> {
  const db = await ownDatabase(server.url);
  await db.query('create table s (id int primary key, v varchar(40))');
  const values = Array.from({ length: ROWS }, (_, i) => `(${String(i)}, repeat('v${String(i)}', 3))`);
  await db.query(`insert into s values ${values.join(',')}`);
  await db.query('create table t (id int, v varchar(40))');
  return db;
}

const job = (db: OwnDatabase, commitProtocol: string): JobParts => ({
  reader: mysqlReader(db, 's', { splitPk: 'id', splitSize: 65_536 }),
  writer: mysqlWriter(db, 't', { writeMode: 'insert', semantic: 'exactly-once', commitProtocol }),
  setting: { speed: { channel: 2, record: 5000 }, checkpoint: { interval: 100 } },
});

async function assertEndState(db: OwnDatabase, server: TestServer, runId: string): Promise<void> {
  const counts = await db.query('select count(*), count(distinct id), sum(v = repeat(concat("v", id), 3)) from t');
  assert.deepEqual(counts, [[String(ROWS), String(ROWS), String(ROWS)]]);
  await using admin = await openSession(server.url);
  // Their ids begin with that of the run: other tests have branches of their own at the same time.
  const prepared = (await admin.query('xa recover')).filter((row) => String(row[3]).includes(runId));
  const others = await admin.query('select count(*) from information_schema.innodb_trx x join information_schema.processlist p on p.id = x.trx_mysql_thread_id where p.db = ?', [db.name]); // prettier-ignore
  assert.deepEqual(others, [['0']], 'no transaction is open');
  // No lock is left: neither of a row nor of the table.
  await db.query('set session innodb_lock_wait_timeout = 1, lock_wait_timeout = 1');
  await db.query("update t set v = 'locked?'");
  await db.query('alter table t add column more int');
  return assert.deepEqual(prepared, [], 'nothing is prepared');
}

/** Kills of the first starts, one after the other; the last start has none. */
const SEQUENCES: Readonly<Record<string, readonly string[]>> = {
  'no kill at all': [],
  '(a) after prepare, before the checkpoint is durable': ['ckpt.before#5'],
  '(b) after it is durable, before COMMIT': ['commit.before#5'],
  '(c) after COMMIT, before that is noted': ['commit.after#5'],
  '(d) in the recovery of (b)': ['commit.before#5', 'recover.after'],
  '(e) twice in a row at (b)': ['commit.before#5', 'commit.before#3'],
};

for (const protocol of ['marker', 'xa']) {
  for (const [name, kills] of Object.entries(SEQUENCES)) {
    serverTest(protocol === 'xa' ? 'mariadb' : MYSQL_SERVERS, `C19 ${name}: ${protocol}`, async (server) => {
      await using db = await setUp(server);
      using ws = new Workspace();
      for (const failpoint of kills) assertKilled(await runJob(ws, job(db, protocol), { failpoint }), failpoint);
      const r = await runJob(ws, job(db, protocol));
      assertDone(r, [ROWS, ROWS]);
      assert.equal(r.summary?.delivery, 'exactly-once');
      assert.match(String(r.summary?.['runId']), /^\w{8,}$/);
      await assertEndState(db, server, String(r.summary?.['runId']));
    });
  }
}

serverTest('mysql55', 'C19 xa is refused where prepared branches do not outlive their connection', async (server) => {
  await using db = await setUp(server);
  using ws = new Workspace();
  const r = await runJob(ws, job(db, 'xa'));
  assert.notEqual(r.code, 0);
  assert.match(r.summary?.error?.message ?? '', /rolls back prepared transactions/);
  assert.deepEqual(await db.query('select count(*) from t'), [['0']]);
  assert.equal(await numberOf(db, 'select count(*) from s'), ROWS);
});
