/** kill -9 while whole databases are read, while the server ends the reader's connections, and with a source that changes. */
import assert from 'node:assert/strict';
import { assertKilled, atOnce } from '../support/crash.js';
import { ownDatabase, type OwnDatabase } from '../support/databases.js';
import {
  assertDone,
  dirtyRows,
  jobFile,
  mysqlReader,
  mysqlWriter,
  numberOf,
  runJob,
  type JobParts,
} from '../support/mysql-job.js';
import {
  insertRows,
  isInsideSplit,
  makeSource,
  makeTarget,
  rowsOf,
  runKilled,
  slow,
  type SourceTable,
} from '../support/mysql-source.js';
import { MYSQL_SERVERS, serverTest } from '../support/services.js';
import { startSync, until, type SyncProcess } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const PAD = '.'.repeat(60);
const AT_ONCE = 4;

const KEYED: SourceTable = {
  columns: { id: 'int', v: 'varchar(80)' },
  keys: 'primary key (id)',
  rows: 500,
  row: (n) => [String(n * 10), n % 9 === 0 ? null : `${PAD}${String(n)}`],
};
const KEYLESS: SourceTable = {
  columns: { x: 'int', y: 'varchar(80)' },
  rows: 300,
  row: (n) => [String(n % 13), `${PAD}${String(n % 5)}`],
};
const COMPOSITE: SourceTable = {
  columns: { a: 'varchar(20)', b: 'date', v: 'varchar(80)' },
  keys: 'primary key (a, b)',
  rows: 400,
  row: (n) => [`a${String(n % 40)}`, `20${String(10 + Math.floor(n / 40))}-02-28`, `${PAD}${String(n)}`],
};
const EMPTY: SourceTable = { ...KEYED, rows: 0 };

const DATABASE: Readonly<Record<string, SourceTable>> = {
  a_keyed: KEYED,
  b_keyless: KEYLESS,
  c_empty: EMPTY,
  '`d.composite-1`': COMPOSITE,
  e_one: { ...KEYED, rows: 1 },
};

const columnsOf = (t: SourceTable): readonly string[] => Object.keys(t.columns);
const started = (ws: Workspace, job: JobParts): SyncProcess =>
  startSync(['run', jobFile(ws, job), '--output', 'json'], { cwd: ws.dir });
const ended = (p: SyncProcess): boolean => p.child.exitCode !== null || p.child.signalCode !== null;

serverTest(
  MYSQL_SERVERS,
  'a whole database into another one, killed over and over: each row of each table once',
  async (server, t) => {
    const cases = [
      { channel: 1, kills: ['ckpt.after#6', 'write.after#7', 'commit.data#6', 'complete.before'] },
      { channel: 3, kills: ['ckpt.after#4', 'write.after#5', 'commit.data#7', 'outcome.before#3', 'prepare.after#4'] },
    ];
    await atOnce(AT_ONCE, cases, async ({ channel, kills }) => {
      await t.test(`${String(channel)} lanes: ${kills.join(', ')}`, async () => {
        await using source = await ownDatabase(server.url);
        await using target = await ownDatabase(server.url);
        using ws = new Workspace();
        for (const [name, table] of Object.entries(DATABASE)) {
          await makeSource(source, table, name);
          await makeTarget(target, table, name);
        }
        const r = await runKilled({
          ws,
          job: {
            reader: mysqlReader(source, '*', { splitSize: 12_000 }),
            writer: mysqlWriter(target, '*'),
            setting: slow(channel, 60),
          },
          kills,
          // A table that comes meanwhile is none of the run.
          between: async (i) => {
            await source.query(`create table a_new${String(i)} (id int primary key)`);
          },
        });
        assertDone(r, [1201, 1201]);
        assert.equal(r.summary?.delivery, 'exactly-once');
        for (const [name, table] of Object.entries(DATABASE)) {
          const columns = columnsOf(table);
          assert.deepEqual(await rowsOf(target, name, columns), await rowsOf(source, name, columns), name);
        }
      });
    });
  },
  AT_ONCE,
);

/** Of sessions that stream rows of the table to a job. */
async function readersOf(db: OwnDatabase): Promise<readonly string[]> {
  const rows = await db.query(
    `select id from information_schema.processlist where db = '${db.name}' and id <> connection_id() and info like 'select%from%s\`%' and info not like '%limit%'`,
  );
  return rows.map(([id]) => String(id));
}

for (const [what, keys] of [
  ['by its key', 'primary key (id)'],
  ['by count', null],
] as const) {
  serverTest(
    MYSQL_SERVERS,
    `the server ends the reader's connection, and later the job is killed; ${what}`,
    async (server) => {
      await using db = await ownDatabase(server.url);
      using ws = new Workspace();
      // More than the sockets between them hold: the server is still sending.
      const wide: SourceTable = {
        columns: { id: 'int', v: 'mediumtext' },
        ...(keys === null ? {} : { keys }),
        rows: 400,
        row: (n) => [String(n), `${'w'.repeat(100_000)}${String(n)}`],
      };
      await makeSource(db, { ...wide, rows: 0 });
      for (let n = 1; n <= wide.rows; n += 8) {
        const rows = Array.from({ length: 8 }, (_, i) => wide.row(n + i));
        await insertRows(db, 's', rows);
      }
      await makeTarget(db, wide);
      const job: JobParts = { reader: mysqlReader(db, 's'), writer: mysqlWriter(db, 't'), setting: slow(1, 20) };
      const rowsThere = (): Promise<number> => numberOf(db, 'select count(*) from t');
      let inside = 0;
      let ends = 0;
      for (let kill = 0; kill < 2; kill++) {
        const run = started(ws, job);
        const more = async (): Promise<void> => {
          const before = await rowsThere();
          await until('it has read more', async () => ended(run) || (await rowsThere()) > before + 10);
        };
        await more();
        const victims = await readersOf(db);
        for (const id of victims) await db.query(`kill ${id}`);
        ends += victims.length;
        const again = async (): Promise<boolean> => (await readersOf(db)).some((id) => !victims.includes(id));
        await until('it reads by another connection', async () => ended(run) || (await again()));
        await more();
        run.child.kill('SIGKILL');
        assertKilled(await run.done, `kill ${String(kill)}`);
        if (isInsideSplit(ws)) inside++;
      }
      assert.deepEqual([ends, inside], [2, 2], 'connections that were ended, kills inside of the split');
      const r = await runJob(ws, { ...job, setting: { speed: { channel: 1 } } });
      assertDone(r, [wide.rows, wide.rows]);
      const sums = ['id', 'length(v)', 'md5(v)'];
      assert.deepEqual(await rowsOf(db, 't', sums), await rowsOf(db, 's', sums));
    },
  );
}

serverTest(
  MYSQL_SERVERS,
  'rows come, go and change while the job is dead: what stays is delivered once, nothing twice',
  async (server) => {
    await using db = await ownDatabase(server.url);
    using ws = new Workspace();
    await makeSource(db, KEYED);
    await makeTarget(db, KEYED);
    const seen = new Set(await rowsOf(db, 's', ['id', 'v']));
    const r = await runKilled({
      ws,
      job: {
        reader: mysqlReader(db, 's', { splitSize: 12_000 }),
        writer: mysqlWriter(db, 't'),
        setting: slow(2, 30),
      },
      kills: ['ckpt.after#3', 'write.after#4', 'commit.data#3'],
      between: async (i) => {
        // Anywhere: below the first key and above the last one too.
        await db.query(`insert into s select id + ${String(i + 1)}, 'new' from s where id % 70 = 0`);
        await db.query(`insert into s values (${String(-i)}, 'first'), (${String(100_000 + i)}, 'last')`);
        await db.query(`delete from s where id % 110 = ${String(i * 10)}`);
        await db.query(`update s set v = 'changed ${String(i)}' where id % 130 = 0`);
        for (const line of await rowsOf(db, 's', ['id', 'v'])) seen.add(line);
      },
    });
    assertDone(r);
    const got = await rowsOf(db, 't', ['id', 'v']);
    assert.equal(new Set(got.map((l) => l.split('|')[0])).size, got.length, 'a row is there twice');
    assert.deepEqual(
      got.filter((l) => !seen.has(l)),
      [],
      'a row that never was',
    );
    const delivered = new Set(got.map((l) => l.split('|')[0]));
    // Those that were there all the time.
    const stayed = await db.query(`select id from s where v is null or v not in ('new', 'first', 'last') order by id`);
    assert.deepEqual(
      stayed.map(([id]) => String(id)).filter((id) => !delivered.has(id)),
      [],
      'a row was lost',
    );
  },
);

serverTest(MYSQL_SERVERS, 'no key: rows behind those that were read come too', async (server) => {
  await using db = await ownDatabase(server.url);
  using ws = new Workspace();
  await makeSource(db, KEYLESS);
  await makeTarget(db, KEYLESS);
  const r = await runKilled({
    ws,
    job: { reader: mysqlReader(db, 's'), writer: mysqlWriter(db, 't'), setting: slow(1, 30) },
    kills: ['ckpt.after#3', 'write.after#3', 'commit.data#3'],
    between: async (i) => {
      await insertRows(db, 's', [KEYLESS.row(1), ['777', `new ${String(i)}`]]);
    },
  });
  assertDone(r, [306, 306]);
  assert.deepEqual(await rowsOf(db, 't', ['x', 'y']), await rowsOf(db, 's', ['x', 'y']));
});

serverTest(MYSQL_SERVERS, 'rows that the reader refuses are on file once, the others in the target', async (server) => {
  await using db = await ownDatabase(server.url);
  using ws = new Workspace();
  const dated: SourceTable = {
    columns: { id: 'int', d: 'date', v: 'varchar(80)' },
    keys: 'primary key (id)',
    rows: 500,
    // Alone, and several in a row.
    row: (n) => [String(n), n % 17 === 0 || n % 100 < 4 ? '0000-00-00' : '2024-02-29', `${PAD}${String(n)}`],
  };
  await makeSource(db, dated);
  await makeTarget(db, dated);
  const setting = { ...slow(2, 30), errorLimit: { record: 500 }, dirty: { path: 'dirty' } };
  const reader = mysqlReader(db, 's', { splitSize: 12_000, zeroDate: 'error' });
  const kills = ['ckpt.after#3', 'write.after#4', 'commit.data#3', 'outcome.before#3', 'prepare.after#3'];
  const r = await runKilled({ ws, job: { reader, writer: mysqlWriter(db, 't'), setting }, kills });
  const refused = await db.query("select id from s where d = '0000-00-00' order by id");
  assertDone(r, [dated.rows, dated.rows - refused.length, refused.length]);
  const onFile = dirtyRows(ws).map((d) => Number(d.row['id']));
  assert.deepEqual(
    onFile.sort((a, b) => a - b),
    refused.map(([id]) => Number(id)),
  );
  const fine = "(select * from s where d <> '0000-00-00') x";
  assert.deepEqual(await rowsOf(db, 't', columnsOf(dated)), await rowsOf(db, fine, columnsOf(dated)));
});

const CHANGES: Readonly<Record<string, readonly [table: SourceTable, sql: string, message: RegExp]>> = {
  'no key, a row that was read is gone': [
    KEYLESS,
    'delete from s limit 1',
    /the first \d+ rows of \S+\.s are not those/,
  ],
  'no key, a row that was read is another one': [
    KEYLESS,
    "update s set y = 'other' limit 1",
    /the first \d+ rows of \S+\.s are not those/,
  ],
  'no key, fewer rows than were read': [KEYLESS, 'truncate table s', /the first \d+ rows of \S+\.s are not those/],
  'a column of another type': [KEYED, 'alter table s modify v varchar(90)', /`v` of \S+\.s was varchar\(80\)/],
  'a column that is gone': [KEYED, 'alter table s drop v', /`v` of \S+\.s is gone/],
  'the table is gone': [KEYED, 'drop table s', /the table \S+\.s is gone/],
};

serverTest(
  MYSQL_SERVERS,
  'killed, and then the source is not what it was: it stops and says so, and the target stays as it is',
  async (server, t) => {
    await atOnce(AT_ONCE, Object.entries(CHANGES), async ([what, [table, sql, message]]) => {
      await t.test(what, async () => {
        await using db = await ownDatabase(server.url);
        using ws = new Workspace();
        await makeSource(db, table);
        await makeTarget(db, table);
        const reader = mysqlReader(db, 's', { splitSize: 30_000 });
        const job: JobParts = { reader, writer: mysqlWriter(db, 't'), setting: slow(2, 20) };
        assertKilled(await runJob(ws, job, { failpoint: 'committed.after#3' }), what);
        assert.ok(isInsideSplit(ws));
        await db.query(sql);
        const before = await rowsOf(db, 't', columnsOf(table));
        assert.ok(before.length > 0);
        const r = await runJob(ws, job);
        assert.equal(r.code, 4, r.stderr);
        assert.equal(r.summary?.error?.code, 'SOURCE_CHANGED');
        assert.match(r.summary.error.message, message);
        assert.deepEqual(await rowsOf(db, 't', columnsOf(table)), before);
      });
    });
  },
  AT_ONCE,
);
