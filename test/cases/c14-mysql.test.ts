/** C14: incremental read at the cursor boundary. */
import assert from 'node:assert/strict';
import { ownDatabase, openSession, type OwnDatabase } from '../support/databases.js';
import { assertDone, jobFile, mysqlReader, mysqlWriter, runJob, type Json } from '../support/mysql-job.js';
import { MYSQL_SERVERS, serverTest, type TestServer } from '../support/services.js';
import { startSync, sync, until, type SyncResult } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

class Incremental {
  constructor(
    readonly ws: Workspace,
    readonly db: OwnDatabase,
    readonly reader: Json = {},
    readonly setting: Json = {},
  ) {}

  get parts() {
    return {
      reader: mysqlReader(this.db, 't', { increColumn: 'up', ...this.reader }),
      writer: mysqlWriter(this.db, 'copy', { writeMode: 'update' }),
      setting: this.setting,
    };
  }

  run(): Promise<SyncResult> {
    return runJob(this.ws, this.parts);
  }

  async mustRead(rows: number): Promise<void> {
    const r = await this.run();
    assertDone(r, [rows, rows]);
  }

  async ids(): Promise<readonly number[]> {
    return (await this.db.query('select id from copy order by id')).map(([id]) => Number(id));
  }

  async cursor(): Promise<string> {
    const job = jobFile(this.ws, this.parts);
    const r = await sync(['state', 'show', job, '--cursor', '--output', 'json'], { cwd: this.ws.dir });
    assert.equal(r.code, 0, r.stderr);
    return JSON.stringify((JSON.parse(r.stdout) as { readonly cursor: unknown }).cursor);
  }
}

/** The types of the case, and their relatives: [type, value of the n-th second or step]. */
const KINDS: Readonly<Record<string, readonly [type: string, mariadbOnly: boolean, at: (n: number) => string]>> = {
  timestamp: ['timestamp null', false, (n) => `2024-05-01 10:00:0${String(n)}`],
  'datetime(6) in one millisecond': ['datetime(6)', true, (n) => `2024-05-01 10:00:00.12345${String(6 + n)}`],
  'timestamp(3)': ['timestamp(3) null', true, (n) => `2024-05-01 10:00:00.00${String(n)}`],
  datetime: ['datetime', false, (n) => `2024-05-01 10:00:0${String(n)}`],
  date: ['date', false, (n) => `2024-05-0${String(n + 1)}`],
  'bigint above 2^53': ['bigint', false, (n) => `900719925474099${String(3 + n)}`],
  'bigint unsigned, its top half': ['bigint unsigned', false, (n) => `1844674407370955160${String(n)}`],
  'decimal(30,10)': ['decimal(30,10)', false, (n) => `12345678901234567890.000000000${String(n)}`],
  int: ['int', false, (n) => String(n - 1)],
};

async function setUp(server: TestServer, type: string): Promise<OwnDatabase> {
  const db = await ownDatabase(server.url);
  for (const t of ['t', 'copy']) await db.query(`create table ${t} (id int primary key, up ${type}, key (up))`);
  return db;
}

async function insert(db: OwnDatabase, rows: readonly (readonly [number, string | null])[]): Promise<void> {
  await db.query(`insert into t values ${rows.map(() => '(?,?)').join(',')}`, rows.flat());
}

for (const [what, [type, mariadbOnly, at]] of Object.entries(KINDS)) {
  serverTest(mariadbOnly ? 'mariadb' : MYSQL_SERVERS, `C14 ties at the end of a run: ${what}`, async (server) => {
    await using db = await setUp(server, type);
    using ws = new Workspace();
    const job = new Incremental(ws, db);
    await insert(db, [[1, at(0)], [2, at(0)], [3, at(1)]]); // prettier-ignore
    await job.mustRead(3);
    await insert(db, [[4, at(1)], [5, at(2)]]); // prettier-ignore
    const second = await job.run();
    assertDone(second);
    assert.deepEqual(await job.ids(), [1, 2, 3, 4, 5]);
    await job.mustRead(0);
    assert.deepEqual(await job.ids(), [1, 2, 3, 4, 5]);
    assert.deepEqual(await db.query('select * from copy order by id'), await db.query('select * from t order by id'));
    assert.ok((await job.cursor()).includes(`"${at(2)}`), await job.cursor());
  });
}

serverTest(
  MYSQL_SERVERS,
  'C14 ties with lower keys, in a table without a key, and with several channels',
  async (server) => {
    const at = '2024-05-01 10:00:00';
    await using db = await setUp(server, 'datetime');
    using ws = new Workspace();
    const job = new Incremental(ws, db, {}, { speed: { channel: 3 } });
    await insert(
      db,
      Array.from({ length: 300 }, (_, i) => [i * 2, at] as const),
    );
    await job.mustRead(300);
    // The same moment, keys below, between and above those that were read.
    await insert(
      db,
      Array.from({ length: 300 }, (_, i) => [i * 2 + 1, at] as const),
    );
    await insert(db, [[-5, at], [9999, at]]); // prettier-ignore
    assertDone(await job.run());
    assert.equal((await job.ids()).length, 602);
    await job.mustRead(0);

    await db.query('create table n (id int, up datetime)');
    await db.query(`insert into n values (1,'${at}'),(2,'${at}')`);
    using other = new Workspace();
    await db.query('truncate table copy');
    const keyless = {
      reader: mysqlReader(db, 'n', { increColumn: 'up' }),
      writer: mysqlWriter(db, 'copy', { writeMode: 'update' }),
    };
    assertDone(await runJob(other, keyless));
    await db.query(`insert into n values (3,'${at}'),(4,'2024-05-01 10:00:01')`);
    assertDone(await runJob(other, keyless));
    assert.deepEqual(
      (await db.query('select id from copy order by id')).map(([id]) => id),
      ['1', '2', '3', '4'],
    );
  },
);

serverTest(
  MYSQL_SERVERS,
  'C14 a transaction that is open when a run begins, and commits below its end, is not lost',
  async (server) => {
    await using db = await setUp(server, 'timestamp null');
    using ws = new Workspace();
    const job = new Incremental(ws, db);
    await insert(db, [[1, '2024-05-01 10:00:00'], [2, '2024-05-01 10:00:05']]); // prettier-ignore
    await using late = await openSession(db.url);
    await late.query('begin');
    await late.query(`insert into t values (3,'2024-05-01 10:00:03'), (4,'2024-05-01 10:00:05')`);
    const running = startSync(['run', jobFile(ws, job.parts), '--output', 'json'], { cwd: ws.dir });
    let told = '';
    running.child.stderr?.on('data', (b: Buffer | string) => (told += String(b)));
    running.child.once('exit', () => (told += 'transaction'));
    await until('it waits for the transaction, or has ended', () => /transaction/i.test(told));
    await late.query('commit');
    assertDone(await running.done);
    await insert(db, [[5, '2024-05-01 10:00:06']]);
    assertDone(await job.run());
    assert.deepEqual(await job.ids(), [1, 2, 3, 4, 5]);
  },
);

serverTest(
  MYSQL_SERVERS,
  'C14 rows that are committed during a run, at and below its end, come with it or the next',
  async (server) => {
    await using db = await setUp(server, 'timestamp null');
    using ws = new Workspace();
    const job = new Incremental(ws, db, {}, { speed: { record: 400 }, checkpoint: { interval: 50 } });
    const at = (s: number): string =>
      `2024-05-01 10:${String(Math.floor(s / 60)).padStart(2, '0')}:${String(s % 60).padStart(2, '0')}`;
    await insert(
      db,
      Array.from({ length: 600 }, (_, i) => [i, at(i)] as const),
    );
    const running = startSync(['run', jobFile(ws, job.parts), '--output', 'json'], { cwd: ws.dir });
    await until('some rows have arrived', async () => (await job.ids()).length > 100);
    // Below all, in the middle, and exactly at the captured end; of transactions that began after it.
    await insert(db, [[1000, at(599)], [1001, at(300)], [1002, at(590)], [1003, at(0)]]); // prettier-ignore
    assertDone(await running.done);
    await insert(db, [[1004, at(600)]]);
    assertDone(await job.run());
    const ids = await job.ids();
    assert.deepEqual(
      ids.filter((id) => id >= 1000),
      [1000, 1001, 1002, 1003, 1004],
    );
    assert.equal(ids.length, 605);
  },
);

serverTest(
  MYSQL_SERVERS,
  'C14 startLocation, NULL in the column, and a cursor that a failed run does not move',
  async (server) => {
    await using db = await setUp(server, 'datetime');
    using ws = new Workspace();
    const job = new Incremental(ws, db, { startLocation: '2024-05-01 10:00:00' });
    await insert(db, [[1, '2024-05-01 10:00:00'], [2, '2024-05-01 10:00:01'], [3, null], [4, '2024-05-01 09:00:00']]); // prettier-ignore
    await job.mustRead(1);
    assert.deepEqual(await job.ids(), [2], 'above the start, as in FlinkX; NULL is no position');
    await insert(db, [[5, '2024-05-01 10:00:09']]);
    await db.query('rename table copy to away');
    const failed = await job.run();
    assert.notEqual(failed.code, 0);
    await db.query('rename table away to copy');
    assertDone(await job.run());
    assert.deepEqual(await job.ids(), [2, 5]);
    await job.mustRead(0);
  },
);
