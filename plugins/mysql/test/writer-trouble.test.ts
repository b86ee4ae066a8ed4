/** C18: deadlocks, lock waits, connections that are closed or killed; each row arrives once. */
import assert from 'node:assert/strict';
import { isSyncError } from 'syncx/plugin-api';
import { plainBatch } from 'syncx/plugin-testkit';
import { onServers, SERVERS, type TestDatabase } from './servers.js';
import {
  connectionOf,
  drive,
  epoch,
  idsIn,
  isThere,
  kill,
  network,
  never,
  until,
  writeIds,
  type Cut,
  type DrivenWriter,
} from './writer-drive.js';

const KEYLESS = 'create table t (id bigint, text varchar(100)) engine=InnoDB';
const KEYED = 'create table t (id bigint primary key, text varchar(100)) engine=InnoDB';
const SHORT_WAITS = { properties: { sessionVariables: 'innodb_lock_wait_timeout=1' } };
const TEN = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/** Rows with id 7 need a lock that `hold` takes. */
async function withLock(db: TestDatabase): Promise<void> {
  await db.run(
    KEYLESS,
    'create table l (x int) engine=InnoDB',
    'insert into l values (1)',
    'create trigger tr before insert on t for each row update l set x = x + 1 where new.id = 7',
  );
}

onServers(SERVERS, 'C18b: a lock wait undoes one statement, and no row is doubled', async (db) => {
  await withLock(db);
  const w = await drive(db, { ...SHORT_WAITS, batchSize: 5 });
  await using lane = await w.lane();
  await using holder = await db.open('sink');
  await holder.run('start transaction', '');
  await holder.run('update l set x = x', '');
  const written = writeIds(lane, TEN);
  await until('the writer has waited in vain', () => Promise.resolve(w.warnings.some((m) => m.includes('1205'))));
  await holder.run('rollback', '');
  await written;
  await lane.prepare(1);
  await lane.commit(1);
  assert.deepEqual(await idsIn(db), TEN);
  assert.ok(w.warnings.length <= 4, w.warnings.join('\n'));
});

onServers(['mariadb'], 'C18b: tries are bounded, and the error has the number of the server', async (db) => {
  await withLock(db);
  const w = await drive(db, SHORT_WAITS);
  await using lane = await w.lane();
  await using holder = await db.open('sink');
  await holder.run('start transaction', '');
  await holder.run('update l set x = x', '');
  await assert.rejects(writeIds(lane, TEN), (e) => {
    assert.ok(isSyncError(e));
    assert.match(e.message, /1205 .*tried 5 times/);
    assert.deepEqual([e.code, e.retry], ['SINK_IO', 'retry']);
    return true;
  });
  assert.equal(w.warnings.length, 4, 'one line a try, but for the last');
  await lane.abort(1);
  assert.deepEqual(await idsIn(db), []);
});

onServers(SERVERS, 'an abort does not wait for a statement that waits for a lock', async (db) => {
  await withLock(db);
  const w = await drive(db);
  await using lane = await w.lane();
  await using holder = await db.open('sink');
  await holder.run('start transaction', '');
  await holder.run('update l set x = x', '');
  await lane.write(plainBatch([1]), never);
  await lane.write(plainBatch([7]), never);
  await until('the writer waits', async () => {
    const waits = `select 1 from information_schema.processlist where db = '${db.name}' and info like 'update l %'`;
    return (await db.rows(waits)).length > 0;
  });
  await lane.abort(1);
  await holder.run('rollback', '');
  await until('the server has undone it', async () => (await db.rows('select * from t for update')).length === 0);
  assert.deepEqual(await db.rows('select x from l'), [['1']]);
});

onServers(SERVERS, 'C18a: a deadlock undoes the whole transaction, which is sent again', async (db) => {
  await db.run(KEYED);
  const w = await drive(db, { writeMode: 'update', semantic: 'exactly-once' });
  const [a, b] = [await w.lane(0, 2), await w.lane(1, 2)];
  await writeIds(a, [1]);
  await writeIds(b, [2]);
  const end = async (lane: typeof a, ids: readonly number[]): Promise<void> => {
    await writeIds(lane, ids);
    await lane.prepare(1);
    await lane.commit(1);
  };
  await Promise.all([end(a, [2, 3]), end(b, [1, 4])]);
  assert.deepEqual(await idsIn(db), [1, 2, 3, 4]);
  assert.ok(
    w.warnings.some((m) => m.includes('1213')),
    w.warnings.join('\n'),
  );
  await a[Symbol.asyncDispose]();
  await b[Symbol.asyncDispose]();
});

onServers(SERVERS, 'C18c: the server closes idle connections, between epochs and within one', async (db) => {
  await db.run(KEYLESS);
  const w = await drive(db, { properties: { sessionVariables: 'wait_timeout=1' } });
  await using lane = await w.lane();
  const idle = async (): Promise<void> => {
    const connection = await connectionOf(db);
    await until('the server closes the connection', async () => !(await isThere(db, connection)));
  };
  for (const n of [1, 2, 3]) {
    await epoch(lane, n, [n]);
    await idle();
  }
  assert.deepEqual(w.warnings, [], 'nothing was under way');
  await writeIds(lane, [4]);
  await idle();
  await writeIds(lane, [5]);
  await idle();
  await lane.prepare(4);
  await idle();
  await lane.commit(4);
  assert.deepEqual(await idsIn(db), [1, 2, 3, 4, 5]);
});

onServers(SERVERS, 'C18d: killed between batches, after prepare, and in the middle of a statement', async (db) => {
  await db.run(KEYLESS, 'create trigger tr before insert on t for each row set @x = if(new.id = 9, sleep(0.5), 0)');
  const w = await drive(db);
  await using lane = await w.lane();
  const killNow = async (): Promise<void> => kill(db, await connectionOf(db));
  await writeIds(lane, [1, 2]);
  await killNow();
  await writeIds(lane, [3]);
  await killNow();
  await lane.prepare(1);
  await killNow();
  await lane.commit(1);
  assert.deepEqual(await idsIn(db), [1, 2, 3]);
  await writeIds(lane, [4]);
  const slow = (async () => {
    await writeIds(lane, [9, 10]);
    await lane.prepare(2);
  })();
  const connection = await connectionOf(db);
  const inTrigger = `select 1 from information_schema.processlist where id = ${connection} and state = 'User sleep'`;
  await until('the statement is under way', async () => (await db.rows(inTrigger)).length > 0);
  await kill(db, connection);
  await slow;
  await lane.commit(2);
  assert.deepEqual(await idsIn(db), [1, 2, 3, 4, 9, 10]);
});

for (const how of ['lost', 'answer-lost'] as const satisfies readonly Cut[]) {
  onServers(SERVERS, `the connection breaks in COMMIT: ${how}`, async (db) => {
    await db.run(KEYLESS);
    await using net = await network(db);
    const w = await drive(db, { host: net.host });
    await using lane = await w.lane();
    await epoch(lane, 1, [1]);
    await writeIds(lane, [2, 3]);
    await lane.prepare(2);
    net.cut('commit', how);
    await lane.commit(2);
    assert.equal(net.cuts, 1);
    assert.deepEqual(await idsIn(db), [1, 2, 3]);
    await epoch(lane, 3, [4]);
    assert.deepEqual(await idsIn(db), [1, 2, 3, 4]);
    assert.equal(await w.writer.committer?.highWater(w.run.runId), 3);
  });
}

onServers(SERVERS, 'fenced: a lane that reconnects after a newer start has taken over says so', async (db) => {
  await db.run(KEYLESS);
  const w = await drive(db);
  await using lane = await w.lane();
  await epoch(lane, 1, [1]);
  await writeIds(lane, [2]);
  const connection = await connectionOf(db);
  const next: DrivenWriter = await drive(db, {}, { ...w.run, attempt: 2 });
  const record = { runId: w.run.runId, attempts: [1, 2], lanes: 1, givenUp: false };
  assert.deepEqual(await next.writer.committer?.sweep([record]), { removed: 1 });
  assert.equal(await isThere(db, connection), false, 'the connection of the earlier start is ended');
  const fenced = (e: unknown): boolean => isSyncError(e) && e.code === 'FENCED';
  await assert.rejects(writeIds(lane, [3]), fenced);
  await assert.rejects(lane.prepare(2), fenced);
  await using second = await next.lane();
  await epoch(second, 2, [2, 3]);
  assert.deepEqual(await idsIn(db), [1, 2, 3]);
});
