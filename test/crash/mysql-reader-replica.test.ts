/** A `consistent` job that reads from a replica is killed: its server's binlog need not have what comes from the primary. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertKilled } from '../support/crash.js';
import { openSession, type Session } from '../support/databases.js';
import { assertDone, csvWriter, mysqlReader, numberOf, outLines, runJob, valueOf } from '../support/mysql-job.js';
import { ownServer, type OwnServer } from '../support/own-server.js';
import { isInsideSplit, makeSource, rowsOf, slow, type SourceTable } from '../support/mysql-source.js';
import { MYSQL_SERVERS, serverTest, testServer } from '../support/services.js';
import { until } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const TABLE: SourceTable = {
  columns: { id: 'int', v: 'varchar(80)' },
  keys: 'primary key (id)',
  rows: 300,
  row: (n) => [String(n), `${'.'.repeat(60)}${String(n)}`],
};

/** From where the primary is now. */
async function follow(replica: Session, primary: OwnServer): Promise<void> {
  await using on = await openSession(primary.url);
  const [status] = await on.query('show master status');
  const { hostname, port, username, password } = new URL(primary.url);
  await replica.query(
    `change master to master_host = '${hostname}', master_port = ${port}, master_user = '${username}', master_password = '${password}',
     master_log_file = '${String(status?.[0])}', master_log_pos = ${String(status?.[1])}`,
  );
  await replica.query('start slave');
}

for (const kind of MYSQL_SERVERS) {
  // Where the shared one cannot be started, these cannot either.
  if (testServer(kind) === null) {
    serverTest(kind, 'a replica', () => undefined);
    continue;
  }
  test(`consistent, from a replica that does not log what it replicates: killed, it can only begin again [${kind}]`, async () => {
    await using primary = await ownServer(kind);
    await using server = await ownServer(kind);
    await using source = await openSession(primary.url);
    await using replica = await openSession(server.url);
    assert.equal(await valueOf(replica, 'select @@log_slave_updates'), '0');
    await follow(replica, primary);
    await source.query('create database shop character set utf8mb4');
    await source.query('use shop');
    await makeSource(source, TABLE);
    const count = (where: string): Promise<number> =>
      numberOf(replica, `select count(*) from information_schema.tables where table_schema = 'shop' and ${where}`);
    await until('the replica has the table', async () => (await count("table_name = 's'")) === 1);
    await replica.query('use shop');
    await until(
      'the replica has its rows',
      async () => (await numberOf(replica, 'select count(*) from s')) === TABLE.rows,
    );

    using ws = new Workspace();
    const at = { url: new URL('/shop', server.url).href };
    const job = {
      reader: mysqlReader(at, 's', { consistent: true }),
      writer: csvWriter({ fieldDelimiter: '|', rollOnCheckpoint: true, writeMode: 'overwrite' }),
      setting: slow(1, 20),
    };
    const killed = await runJob(ws, job, { failpoint: 'ckpt.after#3' });
    assertKilled(killed, 'ckpt.after#3');
    assert.match(killed.stderr, /tells no binlog position/);
    assert.ok(isInsideSplit(ws));
    await source.query("update s set v = 'changed'");
    const changed = "select count(*) from s where v = 'changed'";
    await until('the replica has the change', async () => (await numberOf(replica, changed)) === TABLE.rows);
    const r = await runJob(ws, job);
    assert.equal(r.code, 4, r.stderr);
    assert.equal(r.summary?.error?.code, 'SOURCE_CHANGED');
    assertDone(await runJob(ws, { ...job, setting: {} }, { args: ['--fresh'] }));
    assert.deepEqual(outLines(ws), await rowsOf(replica, 's', ['id', 'v']));
    await replica.query('stop slave');
  });
}
