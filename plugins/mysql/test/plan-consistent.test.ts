import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LaneReader, Reader } from 'syncx/plugin-api';
import { testContext, testLane, testRun } from 'syncx/plugin-testkit';
import { SourceSessions } from '../read/plan/source-sessions.js';
import { TableLock, checkUnwritten } from '../read/plan/table-lock.js';
import { drain, never, openReader, snapshotOf } from './plan-support.js';
import { SERVERS, onServers, type TestDatabase } from './servers.js';

/** Whether a write gets through at once. 5.5 cannot wait for less than 1 s. */
async function canWrite(db: TestDatabase): Promise<boolean> {
  await using writer = await db.open('sink');
  await writer.run('set session lock_wait_timeout = 1', 'set up');
  try {
    await writer.run('insert into t values (null)', 'insert');
    return true;
  } catch {
    return false;
  }
}

function begin(reader: Reader, lane: number, lanes: number): Promise<LaneReader> {
  return reader.openLane(testLane(testRun(), lane, lanes), reader.shared?.() ?? null);
}

/** A user of its own, so that the global lock is out of reach and other tests are not held up. */
async function withUser(db: TestDatabase, rights: string, body: (user: string) => Promise<void>): Promise<void> {
  const user = `u_${db.name.slice(2, 10)}`;
  await db.run(`create user ${user}@'%' identified by 'secret'`, `grant ${rights} on ${db.name}.* to ${user}@'%'`);
  try {
    await body(user);
  } finally {
    await db.run(`drop user ${user}@'%'`);
  }
}

onServers(SERVERS, 'consistent: tables are locked until every lane has begun', async (db) => {
  await db.run('create table t (id int auto_increment primary key) engine=InnoDB', 'insert into t values (1),(2)');
  await withUser(db, 'select, lock tables', async (username) => {
    await using r = await openReader(db, 't', { username, password: 'secret', consistent: true });
    const planner = await r.reader.planner(null, 3);
    assert.equal(await canWrite(db), false);
    await using first = await begin(r.reader, 0, 2);
    const next = planner.next(never);
    assert.equal(await canWrite(db), false); // one lane of two
    await using second = await begin(r.reader, 1, 2);
    const split = await next;
    assert.ok(split !== 'end');
    assert.equal(await canWrite(db), true);
    for (const lane of [first, second]) {
      lane.assign(split, null);
      let rows = 0;
      for await (const item of lane.read(never)) {
        if (item.is === 'batch') rows += item.rows;
        if (item.is === 'splitEnd') break;
      }
      assert.equal(rows, 2); // and not the one that was written since
    }
    assert.match(r.logged.map((l) => l.message).join(' '), /no binlog position/);
  });
});

onServers(['mariadb'], 'consistent: the lock goes with the first split where no lane opens', async (db) => {
  await db.run('create table t (id int auto_increment primary key)', 'insert into t values (1),(2)');
  await using r = await openReader(db, 't', { consistent: true });
  // No lane opens, as in `sync plan`: the lock goes with the first split.
  const planner = await r.reader.planner(null, 1);
  assert.equal((await drain(planner)).length, 1);
  assert.equal(await canWrite(db), true);
});

onServers(SERVERS, 'consistent: a run whose lock shows no position cannot go on', async (db) => {
  await db.run('create table t (id int auto_increment primary key)', 'insert into t values (1),(2)');
  await withUser(db, 'select, lock tables', async (username) => {
    const options = { username, password: 'secret', consistent: true };
    await using r = await openReader(db, 't', options);
    const planner = await r.reader.planner(null, 1);
    await drain(planner);
    await using again = await openReader(db, 't', options);
    await assert.rejects(again.reader.planner(snapshotOf(planner), 1), { code: 'SOURCE_CHANGED', hint: /--fresh/ });
    assert.equal(await canWrite(db), true);
  });
});

onServers(SERVERS, 'consistent: the right REPLICATION CLIENT is enough to see the position', async (db) => {
  await db.run('create table t (id int auto_increment primary key)', 'insert into t values (1),(2)');
  await withUser(db, 'select, lock tables', async (username) => {
    await db.run(`grant replication client on *.* to ${username}@'%'`);
    await using r = await openReader(db, 't', { username, password: 'secret', consistent: true });
    const planner = await r.reader.planner(null, 1);
    const { locked } = snapshotOf(planner) as { readonly locked: { readonly positions: readonly unknown[] } };
    assert.match(String(locked.positions[0]), /^binlog\.\d+:\d+/);
    assert.deepEqual(r.logged, []);
  });
});

onServers(SERVERS, 'consistent: without the right to lock the job says which', async (db) => {
  await db.run('create table t (id int auto_increment primary key)');
  await withUser(db, 'select', async (username) => {
    await using r = await openReader(db, 't', { username, password: 'secret', consistent: true });
    await assert.rejects(r.reader.planner(null, 1), { code: 'SOURCE_IO', retry: 'never', message: /lock the tables/ });
  });
});

onServers(SERVERS, 'a plan locks nothing and waits for nobody', async (db) => {
  await db.run('create table t (id int auto_increment primary key) engine=InnoDB', 'insert into t values (1),(2)');
  const plansOnly = { plansOnly: true };
  await withUser(db, 'select', async (username) => {
    // It could not lock if it tried.
    await using r = await openReader(db, 't', { username, password: 'secret', consistent: true }, plansOnly);
    const planner = await r.reader.planner(null, 3);
    assert.equal(await canWrite(db), true);
    assert.equal((await drain(planner)).length, 1);
    const saved = { ...(snapshotOf(planner) as object), locked: { positions: ['gone:1'] } };
    await assert.rejects(r.reader.planner(saved, 3), { code: 'SOURCE_CHANGED' });
  });
  await using late = await db.open('sink');
  await late.run('start transaction', 'begin');
  await late.run('insert into t values (100)', 'insert');
  await using r = await openReader(db, 't', { increColumn: 'id', increWait: 600_000 }, plansOnly);
  const bounds = await r.reader.bounds?.(null);
  assert.equal((bounds?.upper as Record<string, { readonly value: string }>)[`${db.name}.t`]?.value, '3');
  assert.deepEqual(r.logged, []);
});

onServers(['mariadb'], 'a snapshot of a table that is emptied behind its back is SOURCE_CHANGED', async (db) => {
  await db.run('create table t (id int) engine=InnoDB', 'insert into t values (1)');
  await using reading = await db.open('source');
  await reading.run('start transaction with consistent snapshot', 'begin');
  await db.run('truncate t');
  await assert.rejects(reading.query('select * from t', 'read t'), { code: 'SOURCE_CHANGED', retry: 'never' });
});

onServers(SERVERS, 'consistent: a lock of the whole server that its own writer waits for is given back', async (db) => {
  await db.run('create table t (id int primary key) engine=InnoDB');
  await using sessions = new SourceSessions([db.endpoints], never);
  const shape = { connection: 0, database: null, table: null, query: 'select 1 as a', columns: [], orderKey: [], primaryKey: [] }; // prettier-ignore
  const { log } = testContext();
  await using lock = await TableLock.take(sessions, [shape], 1, log, never, 300);
  await using writing = await db.open('sink');
  await writing.run('insert into t values (1)', 'write as the job does'); // waits until it is given back
  lock.watch();
  await assert.rejects(lock.release(), {
    code: 'SOURCE_IO',
    retry: 'never',
    hint: /A target on the same server waits for it/,
  });
});

test('consistent: a run goes on where every server stands where it stood', () => {
  checkUnwritten({ positions: ['b.1:4 0-1-7', 'b.9:4'] }, { positions: ['b.1:4 0-1-7', 'b.9:4'] });
  const code = 'SOURCE_CHANGED';
  assert.throws(() => checkUnwritten({ positions: ['b.1:4'] }, { positions: ['b.1:5'] }), {
    code,
    message: /is not the case$/,
  });
  assert.throws(() => checkUnwritten({ positions: [null] }, { positions: [null] }), {
    code,
    message: /cannot be told$/,
  });
});
