/** C18: deadlock, lock-wait timeout and idle disconnect of the writer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { LineServer, send } from '../../plugins/socket/test/support.js';
import { openSession, ownDatabase, type OwnDatabase, type Session } from '../support/databases.js';
import {
  assertDone,
  jobFile,
  mysqlReader,
  mysqlWriter,
  numberOf,
  ownServerSuite,
  runJob,
  type JobParts,
  type Json,
} from '../support/mysql-job.js';
import { MYSQL_SERVERS, serverTest } from '../support/services.js';
import { startSync, until, type SyncProcess } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const start = (ws: Workspace, job: JobParts): SyncProcess =>
  startSync(['run', jobFile(ws, job), '--output', 'json'], { cwd: ws.dir });

/** `seq` in one direction, `id` in the other: two tables that touch the same keys in opposite orders. */
async function opposite(db: OwnDatabase, rows: number): Promise<void> {
  for (const t of ['up', 'down']) {
    await db.query(`create table ${t} (seq int primary key, id int, v varchar(200))`);
    const values = Array.from({ length: rows }, (_, i) => {
      const id = t === 'up' ? i + 1 : rows - i;
      return `(${String(i)}, ${String(id)}, repeat('v${String(id)}', 20))`;
    });
    await db.query(`insert into ${t} values ${values.join(',')}`);
  }
  await db.query('create table t (id int primary key, v varchar(200))');
  await db.query(`insert into t select id, 'old' from up`);
}

/** A transaction that touches so many rows that the server makes every other one the victim of a deadlock. */
async function heavy(db: OwnDatabase): Promise<Session> {
  await db.query('create table weight (id int auto_increment primary key, n int)');
  await db.query(`insert into weight (n) values ${Array(2000).fill('(0)').join(',')}`);
  const session = await openSession(db.url);
  await session.query('begin');
  await session.query('update weight set n = n + 1');
  return session;
}

/** InnoDB's list is refreshed only where nobody has asked for 0.1 s. */
async function waitingForLock(db: Session, name: string): Promise<boolean> {
  await sleep(150);
  const waiting = `select count(*) from information_schema.innodb_trx x join information_schema.processlist p
    on p.id = x.trx_mysql_thread_id where x.trx_state = 'LOCK WAIT' and p.db = '${name}'`;
  return (await numberOf(db, waiting)) > 0;
}

const UPSERT: readonly Json[] = [{ writeMode: 'update' }, { writeMode: 'replace' }];

for (const way of UPSERT) {
  serverTest(
    MYSQL_SERVERS,
    `C18 (a) a deadlock that hits the writer: every row and value is there; ${JSON.stringify(way)}`,
    async (server) => {
      await using db = await ownDatabase(server.url);
      using ws = new Workspace();
      await opposite(db, 500);
      await using other = await heavy(db);
      await other.query('update t set v = v where id = 400');
      const reader = mysqlReader(db, 'up', { column: ['id', 'v'] });
      const running = start(ws, { reader, writer: mysqlWriter(db, 't', { ...way, batchSize: 100 }) });
      await until('the writer waits for the other session', () => waitingForLock(db, db.name));
      // The writer holds 1 to 300; the other one is heavier, so that the writer is the victim.
      await other.query('update t set v = v where id = 1');
      await other.query('rollback');
      const r = await running.done;
      assertDone(r, [500, 500]);
      assert.match(r.stderr, /1213/, 'the deadlock is logged');
      assert.equal(r.stderr.split('\n').filter((l) => l.includes('1213')).length, 1, 'once');
      assert.deepEqual(
        await db.query('select id, v from t order by id'),
        await db.query('select id, v from up order by id'),
      );
    },
  );

  serverTest(
    MYSQL_SERVERS,
    `C18 (a) two channels over the same keys in opposite orders; ${JSON.stringify(way)}`,
    async (server) => {
      await using db = await ownDatabase(server.url);
      await opposite(db, 500);
      let deadlocks = 0;
      for (let i = 0; i < 10 && deadlocks === 0; i++) {
        using ws = new Workspace();
        await db.query("update t set v = 'old'");
        const reader = mysqlReader(db, ['up', 'down'], { column: ['id', 'v'] });
        const writer = mysqlWriter(db, 't', { ...way, batchSize: 20 });
        const r = await runJob(ws, { reader, writer, setting: { speed: { channel: 2 } } });
        assertDone(r, [1000, 1000]);
        deadlocks += r.stderr.match(/1213/g)?.length ?? 0;
        assert.deepEqual(
          await db.query('select id, v from t order by id'),
          await db.query('select id, v from up order by id'),
        );
      }
      assert.ok(deadlocks > 0, 'a deadlock was seen');
    },
  );
}

serverTest(
  MYSQL_SERVERS,
  'C18 (b) a lock-wait timeout: ids 1 to 10 once each, with a key and without',
  async (server) => {
    for (const key of ['primary key', '']) {
      for (const way of [{}, { loadData: 'never' }, { semantic: 'at-least-once' }]) {
        await using db = await ownDatabase(server.url);
        using ws = new Workspace();
        await db.query('create table s (id int primary key)');
        await db.query('insert into s values (1),(2),(3),(4),(5),(6),(7),(8),(9),(10)');
        await db.query(`create table t (id int ${key})`);
        await using other = await openSession(db.url);
        await other.query('begin');
        // Without a key there is no row to hold: the gap at the end of the table is held.
        await other.query(key === '' ? 'select * from t for update' : 'insert into t values (5)');
        const writer = mysqlWriter(db, 't', { batchSize: 5, ...way }, 'sessionVariables=innodb_lock_wait_timeout=1');
        const running = start(ws, { reader: mysqlReader(db, 's'), writer });
        let told = '';
        running.child.stderr?.on('data', (b: Buffer | string) => (told += String(b)));
        running.child.once('exit', () => (told += '1205 it has ended'));
        await until('two waits have run out', () => (told.match(/1205/g) ?? []).length >= 2 || told.includes('ended'));
        await other.query('rollback');
        const r = await running.done;
        assertDone(r, [10, 10]);
        assert.deepEqual((await db.query('select id from t order by id')).map(([id]) => Number(id)), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]); // prettier-ignore
      }
    }
  },
);

serverTest(
  'mariadb',
  'C18 (b) when the retries run out it is loud, with the code of the server, and nothing is half written',
  async (server) => {
    await using db = await ownDatabase(server.url);
    using ws = new Workspace();
    await db.query('create table s (id int primary key)');
    await db.query('insert into s values (1),(2),(3)');
    await db.query('create table t (id int primary key)');
    await using other = await openSession(db.url);
    await other.query('begin');
    await other.query('insert into t values (2)');
    const writer = mysqlWriter(db, 't', { batchSize: 1 }, 'sessionVariables=innodb_lock_wait_timeout=1');
    const r = await runJob(ws, { reader: mysqlReader(db, 's'), writer });
    assert.equal(r.code, 1, r.stderr);
    assert.match(r.summary?.error?.message ?? '', /1205/);
    await other.query('rollback');
    assert.deepEqual(await db.query('select * from t'), []);
    assertDone(await runJob(ws, { reader: mysqlReader(db, 's'), writer }));
    assert.deepEqual(await db.query('select * from t order by id'), [['1'], ['2'], ['3']]);
  },
);

ownServerSuite(MYSQL_SERVERS, 'C18 (c)', (server) => {
  for (const [what, params] of [
    ['the server gives up on idle connections after 1 s', ''],
    ['it does so with ours, where the URL asks for it', 'sessionVariables=wait_timeout=1'],
  ] as const) {
    test(`a row every 2 s while ${what}: 3 rows`, async () => {
      await using db = await ownDatabase(server().url);
      using ws = new Workspace();
      await using admin = await openSession(server().url);
      // Sessions of the test itself would be cut off too.
      await admin.query('set global wait_timeout = 1');
      await admin.query('set session wait_timeout = 1000');
      await db.query('set session wait_timeout = 1000');
      await db.query('create table t (id int, name varchar(20))');
      const idle = async (): Promise<boolean> => {
        const rows = await admin.query(
          "select time from information_schema.processlist where db = ? and command = 'Sleep' and id <> ?",
          [db.name, (await db.query('select connection_id()'))[0]?.[0]],
        );
        return rows.length === 0 || rows.some(([t]) => Number(t) >= 2);
      };
      await using lines = await LineServer.listen([
        async (s) => {
          try {
            for (let i = 1; i <= 3; i++) {
              await send(s, `{"id":${String(i)},"name":"n${String(i)}"}\n`);
              await until('the row has arrived', async () => (await numberOf(db, 'select count(*) from t')) === i);
              await until('the writer has been idle for 2 s, or is cut off', idle);
            }
          } finally {
            s.end();
          }
        },
      ]);
      const reader = {
        name: 'socketreader',
        parameter: {
          address: `127.0.0.1:${String(lines.port)}`,
          parse: 'json',
          reconnect: false,
          column: [{ name: 'id', type: 'int' }, { name: 'name' }],
        },
      };
      const writer = mysqlWriter(db, 't', { semantic: 'at-least-once' }, params);
      const r = await runJob(ws, { reader, writer, setting: { checkpoint: { interval: 50 } } });
      assertDone(r, [3, 3]);
      assert.deepEqual(await db.query('select id, name from t order by id'), [['1', 'n1'], ['2', 'n2'], ['3', 'n3']]); // prettier-ignore
    });
  }
});

const KILL_WAYS: readonly Json[] = [
  {},
  { loadData: 'never' },
  { commitProtocol: 'xa' },
  { semantic: 'at-least-once' },
  { writeMode: 'update' },
];

for (const way of KILL_WAYS) {
  serverTest(
    way['commitProtocol'] === 'xa' ? 'mariadb' : MYSQL_SERVERS,
    `C18 (d) the writer's connection is killed between batches: every row once; ${JSON.stringify(way)}`,
    async (server) => {
      await using source = await ownDatabase(server.url);
      await using db = await ownDatabase(server.url);
      using ws = new Workspace();
      const rows = 3000;
      await source.query('create table s (id int primary key, v varchar(20))');
      await source.query(
        `insert into s values ${Array.from({ length: rows }, (_, i) => `(${String(i)}, 'v${String(i)}')`).join(',')}`,
      );
      await db.query(`create table t (id int ${way['writeMode'] === 'update' ? 'primary key' : ''}, v varchar(20))`);
      const [mine] = await db.query('select connection_id()');
      const running = start(ws, {
        reader: mysqlReader(source, 's', { splitSize: 8192 }),
        writer: mysqlWriter(db, 't', { batchSize: 50, ...way }),
        setting: { speed: { record: 1500 }, checkpoint: { interval: 100 } },
      });
      let killed = 0;
      for (const from of [300, 1200, 2000]) {
        await until(
          `${String(from)} rows are there`,
          async () => (await numberOf(db, 'select count(*) from t')) > from || running.child.exitCode !== null,
        );
        const others = await source.query('select id from information_schema.processlist where db = ? and id <> ?', [
          db.name,
          mine?.[0],
        ]);
        for (const [id] of others)
          await source.query(`kill ${String(id)}`).then(
            () => killed++,
            () => undefined,
          );
      }
      const r = await running.done;
      assertDone(r);
      assert.ok(killed > 0);
      assert.equal(r.summary?.written, rows);
      assert.deepEqual(await db.query('select count(*), count(distinct id), sum(v = concat("v", id)) from t'), [
        [String(rows), String(rows), String(rows)],
      ]);
      assert.match(r.stderr, /connection|killed|reconnect/i, 'it is said');
    },
  );
}
