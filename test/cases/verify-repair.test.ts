/** sync verify --repair: what differs is put right by the job's own writer, and nothing else is touched. */
import assert from 'node:assert/strict';
import { ownDatabase, type OwnDatabase } from '../support/databases.js';
import { MYSQL_SERVERS, serverTest } from '../support/services.js';
import { isStopped, startSync, sync, until } from '../support/sync.js';
import { assertEqual, tableJob, tableReader, tableWriter, verified } from '../support/verify-jobs.js';
import { Workspace } from '../support/workspace.js';

const TABLE =
  '(id int primary key, name varchar(20), amount decimal(10,2), f float, bin varbinary(9), at datetime) engine=InnoDB';

async function statements(db: OwnDatabase, ...list: readonly string[]): Promise<void> {
  for (const s of list) await db.query(s);
}

async function tables(db: OwnDatabase): Promise<void> {
  const row = (i: number): string =>
    `(${String(i)}, ${i % 4 === 0 ? 'null' : `'é ${String(i)}'`}, ${String(i)}.50, 0.1, 0x00ff, '2024-01-01 00:00:00')`;
  const rows = Array.from({ length: 200 }, (_, i) => row(i)).join(', ');
  await statements(db, `create table s ${TABLE}`, `create table t ${TABLE}`, `insert into s values ${rows}`);
  await statements(db, 'insert into t select * from s');
}

/** Five keys. */
async function spoil(db: OwnDatabase): Promise<void> {
  await statements(
    db,
    "update t set name = 'x', f = 0.2 where id in (3, 4)",
    'delete from t where id in (0, 199)',
    "insert into t (id, name) values (777, 'extra')",
  );
}

const TOLD = ['different 3: name,f', 'different 4: name,f', 'extra 777', 'missing 0', 'missing 199'];

async function assertSame(db: OwnDatabase): Promise<void> {
  const all = (t: string) => db.query(`select id, name, amount, f + 0e0, hex(bin), at from ${t} order by id`);
  assert.deepEqual(await all('t'), await all('s'));
}

serverTest(
  MYSQL_SERVERS,
  'missing, extra and different rows are put right, whichever way they were compared',
  async (server) => {
    await using db = await ownDatabase(server.url);
    using ws = new Workspace();
    await tables(db);
    for (const [by, parts] of [
      ['digest', {}],
      ['rows', { transform: [{ op: 'filter', where: 'id >= 0' }] }],
    ] as const) {
      const job = tableJob(ws, { source: db, ...parts });
      await spoil(db);
      const v = await verified(ws, job, '--repair');
      assert.deepEqual([v.equal, v.by, v.differences], [true, by, TOLD], v.result.stderr);
      assert.deepEqual([v.repaired?.written, v.repaired?.deleted], [4, 1]);
      await assertSame(db);
      const again = await verified(ws, job, '--repair');
      assertEqual(again, by);
      assert.equal(again.repaired, null, 'nothing to do');
    }
  },
);

serverTest(
  MYSQL_SERVERS,
  'a repair runs no SQL of the job, swaps nothing, and leaves columns that are not written',
  async (server) => {
    await using db = await ownDatabase(server.url);
    using ws = new Workspace();
    await tables(db);
    await statements(
      db,
      'alter table t add own varchar(9)',
      "update t set own = 'kept'",
      'create table log (what varchar(9))',
    );
    await spoil(db);
    for (const writer of [
      { preSql: ['delete from t'], postSql: ["insert into log values ('post')"], semantic: 'at-least-once' },
      { writeStrategy: 'swap', semantic: 'at-least-once' },
    ]) {
      const v = await verified(ws, tableJob(ws, { source: db, writer }), '--repair');
      assert.equal(v.equal, true, v.result.stderr);
      assert.deepEqual(await db.query('select count(*) from log'), [['0']]);
      const own = await db.query('select count(*) from t where own is null');
      assert.deepEqual(own, [['2']], 'but for the two that were missing');
      await statements(db, "update t set name = 'y' where id = 10");
    }
  },
);

serverTest(
  MYSQL_SERVERS,
  'values that stand in each other’s way: a unique column that two rows exchanged with a row too many',
  async (server) => {
    await using db = await ownDatabase(server.url);
    using ws = new Workspace();
    const table = '(id int primary key, code varchar(9) unique) engine=InnoDB';
    await statements(db, `create table s ${table}`, `create table t ${table}`);
    await statements(db, "insert into s values (1, 'a'), (2, 'b')", "insert into t values (2, 'b'), (9, 'a')");
    const v = await verified(ws, tableJob(ws, { source: db }), '--repair');
    assert.deepEqual([v.equal, v.differences], [true, ['extra 9', 'missing 1']], v.result.stderr);
    assert.deepEqual(await db.query('select id, code from t order by id'), [
      ['1', 'a'],
      ['2', 'b'],
    ]);
  },
);

serverTest(MYSQL_SERVERS, 'a key that differs in letter case only', async (server) => {
  await using db = await ownDatabase(server.url);
  using ws = new Workspace();
  const table = '(id varchar(9) collate utf8mb4_unicode_ci primary key, v int) engine=InnoDB';
  await statements(db, `create table s ${table}`, `create table t ${table}`);
  await statements(db, "insert into s values ('Ada', 1), ('bob', 2)", "insert into t values ('ADA', 1), ('bob', 2)");
  const v = await verified(ws, tableJob(ws, { source: db }), '--repair');
  assert.deepEqual([v.equal, v.differences], [true, ['extra ADA', 'missing Ada']], v.result.stderr);
  assert.deepEqual(await db.query('select id, v from t order by v'), [
    ['Ada', '1'],
    ['bob', '2'],
  ]);
});

serverTest(
  'mariadb',
  'a row that the target refuses: nothing of the repair is written, and it says why',
  async (server) => {
    await using db = await ownDatabase(server.url);
    using ws = new Workspace();
    await tables(db);
    await spoil(db);
    await statements(db, 'alter table t modify name varchar(3)', "update s set name = 'too long' where id = 0");
    const before = await db.query('select * from t order by id');
    const v = await verified(ws, tableJob(ws, { source: db }), '--repair');
    assert.deepEqual([v.equal, v.error?.code], [null, 'ROW_INVALID'], v.result.stderr);
    assert.match(v.error?.message ?? '', /^the target refuses a row of the source \(column `name`\)/);
    assert.deepEqual(await db.query('select * from t order by id'), before);
  },
);

serverTest(
  MYSQL_SERVERS,
  'killed in a repair: all of it is there or nothing, and the next one ends it',
  async (server) => {
    await using db = await ownDatabase(server.url);
    using ws = new Workspace();
    await tables(db);
    const job = tableJob(ws, { source: db });
    for (const [step, left] of [
      ['repair.written', TOLD],
      ['repair.prepared', TOLD],
      ['repair.committed', []],
    ] as const) {
      await spoil(db);
      const r = await sync(['verify', job, '--repair'], { cwd: ws.dir, failpoint: step });
      assert.equal(r.signal, 'SIGKILL', `${step}: ${r.stderr}`);
      await until('the server has rolled back', async () => {
        const held = await db.query(
          'select count(*) from information_schema.innodb_trx x join information_schema.processlist p on p.id = x.trx_mysql_thread_id where p.db = database() and p.id <> connection_id()',
        );
        return held[0]?.[0] === '0';
      });
      assert.deepEqual((await verified(ws, job)).differences, left, step);
      const again = await verified(ws, job, '--repair');
      assert.equal(again.equal, true, again.result.stderr);
      await assertSame(db);
    }
  },
);

serverTest(
  'mariadb',
  'killed in a repair of an at-least-once job: what is left is found, and put right',
  async (server) => {
    await using db = await ownDatabase(server.url);
    using ws = new Workspace();
    await tables(db);
    const job = tableJob(ws, { source: db, writer: { semantic: 'at-least-once' } });
    await spoil(db);
    const r = await sync(['verify', job, '--repair'], { cwd: ws.dir, failpoint: 'repair.batch#1' });
    assert.equal(r.signal, 'SIGKILL', r.stderr);
    // The row too many was a batch of its own.
    assert.deepEqual(
      (await verified(ws, job)).differences,
      TOLD.filter((t) => t !== 'extra 777'),
    );
    assert.equal((await verified(ws, job, '--repair')).equal, true);
    await assertSame(db);
    assert.deepEqual(await db.query("show tables like 'syncx%'"), [], 'no table of ours');
  },
);

serverTest('mariadb', 'no run beside a repair, and no repair beside a run', async (server) => {
  await using db = await ownDatabase(server.url);
  using ws = new Workspace();
  await tables(db);
  await spoil(db);
  const job = tableJob(ws, { source: db });
  const repair = startSync(['verify', job, '--repair'], { cwd: ws.dir, failpoint: 'repair.written=stop' });
  const pid = repair.child.pid ?? 0;
  try {
    await until('the repair stops', () => isStopped(pid) || repair.child.exitCode !== null);
    for (const args of [
      ['run', job],
      ['verify', job],
      ['verify', job, '--repair'],
    ]) {
      const r = await sync(args, { cwd: ws.dir });
      assert.equal(r.code, 4, args.join(' '));
      assert.match(r.stderr, /^sync: STATE_LOCKED: the job is already running/m);
    }
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  const done = await repair.done;
  assert.equal(done.code, 0, done.stderr);
  await assertSame(db);
});

serverTest(
  MYSQL_SERVERS,
  'tables and files: copied both ways, equal; a cell, a row and a NULL are found; a table is repaired',
  async (server) => {
    await using db = await ownDatabase(server.url);
    using ws = new Workspace();
    await tables(db);
    const { username, password } = new URL(db.url);
    assert.ok(username !== '' && password !== '');
    for (const layout of [
      { fileType: 'csv', isFirstLineHeader: true },
      { fileType: 'csv', nullFormat: '' },
      { fileType: 'json' },
    ]) {
      const folder = `out-${String(layout.fileType)}-${String('nullFormat' in layout)}`;
      const out = { name: 'filewriter', parameter: { path: folder, ...layout } };
      const toFile = ws.job({ job: { content: [{ reader: tableReader(db), writer: out }] } }, 'to-file.json');
      const r = await sync(['run', toFile], { cwd: ws.dir });
      assert.equal(r.code, 0, r.stderr);
      assertEqual(await verified(ws, toFile), 'rows');
      await statements(db, 'update s set name = null where id = 7', "update s set name = '' where id = 8");
      await statements(db, 'delete from s where id = 9', 'update s set f = 0.10000001 where id = 10');
      const v = await verified(ws, toFile);
      assert.deepEqual(v.key, ['id'], 'the key of the table');
      assert.deepEqual(v.differences, ['different 7: name', 'different 8: name', 'extra 9', 'different 10: f'].sort());
      await statements(db, 'delete from s', 'insert into s select * from t');

      const { fileType } = layout;
      const types = { id: 'int', name: 'string', amount: 'decimal(10,2)', f: 'float', bin: 'binary', at: 'datetime' };
      const column = Object.entries(types).map(([name, type], index) =>
        fileType === 'json' || 'isFirstLineHeader' in layout ? { name, type } : { index, name, type },
      );
      const reader = { name: 'filereader', parameter: { path: folder, ...layout, column } };
      await statements(db, 'drop table if exists u', `create table u ${TABLE}`);
      const toTable = ws.job({ job: { content: [{ reader, writer: tableWriter(db, 'u') }] } }, 'to-table.json');
      const back = await sync(['run', toTable], { cwd: ws.dir });
      assert.equal(back.code, 0, back.stderr);
      assertEqual(await verified(ws, toTable), 'rows');
      await statements(db, "update u set name = 'x' where id = 7", 'delete from u where id = 8');
      const spoilt = await verified(ws, toTable, '--repair');
      assert.deepEqual(
        [spoilt.equal, spoilt.differences],
        [true, ['different 7: name', 'missing 8']],
        spoilt.result.stderr,
      );
    }
  },
);
