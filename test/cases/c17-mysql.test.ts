/** C17: one bad row inside a batch, in a table without a key: neighbours are neither lost nor doubled. */
import assert from 'node:assert/strict';
import { ownDatabase } from '../support/databases.js';
import {
  assertDone,
  dirtyRows,
  mysqlReader,
  mysqlWriter,
  runJob,
  type Json,
  type PluginPart,
} from '../support/mysql-job.js';
import { MYSQL_SERVERS, serverTest } from '../support/services.js';
import { Workspace } from '../support/workspace.js';

const WAYS: readonly Json[] = [
  {},
  { loadData: 'never' },
  { semantic: 'at-least-once' },
  { loadData: 'never', semantic: 'at-least-once' },
];

const setting = (record: number): Json => ({ errorLimit: { record }, dirty: { path: 'dirty' } });

function fromCsv(ws: Workspace, lines: readonly string[], name = 'a'): PluginPart {
  ws.write('in.csv', `${lines.join('\n')}\n`);
  const column = name.split(',').map((n, index) => ({ name: n, index, type: 'string' }));
  return { name: 'filereader', parameter: { path: 'in.csv', fileType: 'csv', column, nullFormat: '\\N' } };
}

for (const engine of ['InnoDB', 'MyISAM']) {
  serverTest(MYSQL_SERVERS, `C17 '1','2','x','4' into an int without a key, ${engine}`, async (server) => {
    for (const way of WAYS) {
      await using db = await ownDatabase(server.url);
      using ws = new Workspace();
      await db.query(`create table t (a int) engine=${engine}`);
      const reader = fromCsv(ws, ['1', '2', 'x', '4']);
      const writer = mysqlWriter(db, 't', { writeMode: 'insert', batchSize: 1024, ...way });
      const r = await runJob(ws, { reader, writer, setting: setting(1) });
      const held = (await db.query('select a from t')).map(([a]) => a).sort();
      const refused = engine === 'MyISAM' && r.code !== 0;
      if (refused) {
        assert.match(r.summary?.error?.message ?? r.stderr, /MyISAM|transaction/i);
        assert.deepEqual(held, []);
        continue;
      }
      assertDone(r, [4, 3, 1]);
      assert.deepEqual(held, ['1', '2', '4'], JSON.stringify(way));
      const [dirty, ...others] = dirtyRows(ws);
      assert.deepEqual(others, []);
      assert.deepEqual(dirty?.row, { a: 'x' });
      assert.match(dirty.reason, /Incorrect integer value: '?x'?|1366/);
    }
  });
}

serverTest(
  MYSQL_SERVERS,
  'C17 from a text column of MySQL, first, last, every second and all rows bad',
  async (server) => {
    await using db = await ownDatabase(server.url);
    const patterns: readonly (readonly [name: string, bad: (i: number) => boolean])[] = [
      ['first', (i) => i === 0],
      ['last', (i) => i === 899],
      ['every second', (i) => i % 2 === 1],
      ['two beside each other', (i) => i === 400 || i === 401],
      ['all', () => true],
    ];
    for (const [name, bad] of patterns) {
      for (const way of [{}, { loadData: 'never' }]) {
        using ws = new Workspace();
        await db.query('drop table if exists s, t');
        await db.query('create table s (id int primary key, a varchar(20))');
        await db.query('create table t (id int, a int)');
        const rows = Array.from({ length: 900 }, (_, i) => [i, bad(i) ? `bad ${String(i)}` : String(i)] as const);
        await db.query(`insert into s values ${rows.map(() => '(?,?)').join(',')}`, rows.flat());
        const job = { reader: mysqlReader(db, 's'), writer: mysqlWriter(db, 't', way), setting: setting(900) };
        const wrong = rows.filter(([i]) => bad(i));
        assertDone(await runJob(ws, job), [900, 900 - wrong.length, wrong.length]);
        const held = await db.query('select id, a from t order by id');
        assert.deepEqual(held, rows.filter(([i]) => !bad(i)).map(([i]) => [String(i), String(i)]), name); // prettier-ignore
        const dirty = dirtyRows(ws).map((d) => d.row['a']);
        assert.deepEqual([...dirty].sort(), wrong.map(([, a]) => a).sort());
      }
    }
  },
);

/** What the server would cut, round or make something else of, were it not told to be strict. */
const FAULTS: readonly (readonly [type: string, good: string, bad: string])[] = [
  ['tinyint', '127', '300'],
  ['tinyint unsigned', '255', '-1'],
  ['bigint', '9223372036854775807', '9223372036854775808'],
  ['varchar(3) character set utf8mb4', 'äöü', 'äöüß'],
  ['varbinary(3)', 'abc', 'abcd'],
  ['int not null', '1', '\\N'],
  ['date', '2024-02-29', '2024-13-01'],
  ['datetime', '2024-02-29 10:00:00', 'yesterday'],
  ['time', '-838:59:59', '839:00:00'],
  ['decimal(5,2)', '999.99', '1000.00'],
  ['decimal(5,2)', '1.50', '1.505'],
  ['int', '12', '12abc'],
  ["enum('a','b')", 'b', 'c'],
  ["set('a','b')", 'a,b', 'a,c'],
  ['double', '1e308', '1e400'],
  ['varchar(20) character set latin1', 'é', '漢'],
  ['year', '2155', '2156'],
  ['bit(3)', '7', '8'],
];

for (const engine of ['InnoDB', 'MyISAM']) {
  serverTest(
    MYSQL_SERVERS,
    `C17 relatives: what a server would cut or round is dirty, and nothing else, ${engine}`,
    async (server) => {
      await using db = await ownDatabase(server.url);
      for (const way of [{}, { loadData: 'never' }]) {
        for (const [type, good, bad] of FAULTS) {
          using ws = new Workspace();
          await db.query('drop table if exists t');
          await db.query(`create table t (n int, a ${type}) engine=${engine}`);
          const reader = fromCsv(ws, [`1,"${good}"`, bad === '\\N' ? '2,\\N' : `2,"${bad}"`, `3,"${good}"`], 'n,a');
          const r = await runJob(ws, { reader, writer: mysqlWriter(db, 't', way), setting: setting(1) });
          if (engine === 'MyISAM' && r.code !== 0 && /MyISAM|transaction/i.test(r.stderr)) return;
          const what = `${type} ${bad} ${JSON.stringify(way)}`;
          assert.equal(r.code, 0, `${what}\n${r.stderr}`);
          assert.deepEqual(
            (await db.query('select n from t order by n')).map(([n]) => n),
            ['1', '3'],
            what,
          );
          const dirty = dirtyRows(ws);
          assert.equal(dirty.length, 1, what);
          assert.equal(dirty[0]?.row['n'], '2', what);
          assert.match(dirty[0].reason, /`a`|column '?a'?/i, what);
          assert.equal(dirty[0].row['a'], bad === '\\N' ? null : bad);
        }
      }
    },
  );
}

serverTest(
  MYSQL_SERVERS,
  'C17 relatives: a key that is there already is dirty for insert only; foreign keys and checks too',
  async (server) => {
    await using db = await ownDatabase(server.url);
    await db.query('create table s (id int primary key, k int, p int)');
    await db.query('insert into s values (1,1,1),(2,2,1),(3,2,1),(4,4,9),(5,5,1)');
    await db.query('create table parent (id int primary key)');
    await db.query('insert into parent values (1)');
    for (const way of [{}, { loadData: 'never' }]) {
      using ws = new Workspace();
      await db.query('drop table if exists t');
      await db.query('create table t (id int, k int, p int, unique key (k), foreign key (p) references parent (id))');
      await db.query('insert into t values (50, 5, 1)');
      const r = await runJob(ws, {
        reader: mysqlReader(db, 's'),
        writer: mysqlWriter(db, 't', way),
        setting: setting(9),
      });
      assertDone(r, [5, 2, 3]);
      assert.deepEqual(await db.query('select id, k from t order by id'), [['1', '1'], ['2', '2'], ['50', '5']]); // prettier-ignore
      const reasons = Object.fromEntries(dirtyRows(ws).map((d) => [String(d.row['id']), d.reason]));
      assert.match(reasons['3'] ?? '', /Duplicate entry/);
      assert.match(reasons['4'] ?? '', /foreign key/i);
      assert.match(reasons['5'] ?? '', /Duplicate entry/);
    }
  },
);

serverTest(
  MYSQL_SERVERS,
  'C17 one bad row more than allowed: exit 3, and nothing of its epoch stays',
  async (server) => {
    await using db = await ownDatabase(server.url);
    using ws = new Workspace();
    await db.query('create table t (a int)');
    const writer = mysqlWriter(db, 't', {});
    const r = await runJob(ws, { reader: fromCsv(ws, ['1', 'x', '3']), writer, setting: setting(0) });
    assert.equal(r.code, 3, r.stderr);
    assert.equal(r.summary?.error?.code, 'DIRTY_LIMIT');
    assert.match(r.summary.error.message, /Incorrect integer value/);
    assert.deepEqual(await db.query('select * from t'), []);
  },
);
