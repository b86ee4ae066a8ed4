/** `sync plan` of reads that lock, or wait for others: it does neither. */
import assert from 'node:assert/strict';
import { openSession, ownDatabase } from '../support/databases.js';
import { csvWriter, jobFile, mysqlReader } from '../support/mysql-job.js';
import { MYSQL_SERVERS, serverTest } from '../support/services.js';
import { sync } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

serverTest(
  MYSQL_SERVERS,
  'a plan does not wait for a transaction that stays open, nor lock its table',
  async (server) => {
    await using db = await ownDatabase(server.url);
    await db.query('create table t (id int primary key) engine=InnoDB');
    await db.query('insert into t values (1),(2)');
    await using late = await openSession(db.url);
    await late.query('begin');
    await late.query('insert into t values (3)');
    for (const more of [{ increColumn: 'id', increWait: 600_000 }, { consistent: true }]) {
      using ws = new Workspace();
      const job = jobFile(ws, { reader: mysqlReader(db, 't', more), writer: csvWriter() });
      const r = await sync(['plan', job], { cwd: ws.dir });
      assert.equal(r.code, 0, r.stdout + r.stderr);
      assert.doesNotMatch(r.stdout + r.stderr, /open transactions|binlog|lock/i);
    }
  },
);
