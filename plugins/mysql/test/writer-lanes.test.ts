/** Lanes that write changes of one table, each in its transaction: none waits for a row that the other one does not have. */
import assert from 'node:assert/strict';
import type { RowBatch, RowOp } from 'syncx/plugin-api';
import { batchOf, column, table } from './rows-support.js';
import { SERVERS, onServers } from './servers.js';
import { drive, never } from './writer-drive.js';

const INSERT: RowOp = 0;
const DELETE: RowOp = 3;

const changes = (op: RowOp, ...ids: readonly string[]): RowBatch =>
  batchOf(
    [column('id', 'int')],
    ids.map((id) => [id]),
    ids.map(() => op),
  );

onServers(SERVERS, 'rows that are gone already do not hold up the rows of other lanes beside them', async (db) => {
  await db.run('create table t (id int primary key) engine=InnoDB', 'insert into t values (1), (100)');
  const url = `${db.jdbcUrl}?sessionVariables=innodb_lock_wait_timeout%3D1`;
  const d = await drive(db, { connection: [{ jdbcUrl: url, table: ['t'] }] });
  await using first = await d.lane(0, 2);
  await using second = await d.lane(1, 2);
  // A replayed delete finds nothing, and would lock the place where its row would be.
  await first.write(changes(DELETE, '50', '200'), never);
  await second.write(changes(INSERT, '40', '60', '300'), never);
  await first.write(changes(INSERT, '51', '201'), never);
  for (const lane of [second, first]) assert.equal((await lane.prepare(1)).rejected, null);
  for (const lane of [first, second]) await lane.commit(1);
  assert.deepEqual(await table(db, 'select id from t order by id'), ['1', '40', '51', '60', '100', '201', '300']);
  assert.deepEqual(d.warnings, []);
});

onServers(SERVERS, 'where the binary log has statements, the server’s own isolation is kept', async (db) => {
  await db.run('create table t (id int primary key) engine=InnoDB');
  const d = await drive(db, {
    connection: [{ jdbcUrl: `${db.jdbcUrl}?sessionVariables=binlog_format%3DSTATEMENT`, table: ['t'] }],
  });
  await using lane = await d.lane();
  await lane.write(changes(INSERT, '1'), never);
  await lane.prepare(1);
  await lane.commit(1);
  assert.deepEqual(await table(db, 'select id from t'), ['1']);
});
