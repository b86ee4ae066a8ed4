/** Rows in, rows out: modes, columns, bad rows, large rows. */
import assert from 'node:assert/strict';
import { isSyncError } from 'syncx/plugin-api';
import { batchOf, column, table, writeAll } from './rows-support.js';
import { SERVERS, onServers } from './servers.js';

const ID = column('id', 'int');

onServers(SERVERS, 'C17: one bad row is found among good ones that have no key', async (db) => {
  await db.run('create table t (a int) engine=InnoDB', 'create table m (a int) engine=MyISAM');
  const batch = () => batchOf([column('a', 'string')], [['1'], ['2'], ['x'], ['4']]);
  for (const [name, load] of [
    ['t', 'never'],
    ['t', 'auto'],
    ['m', 'auto'],
  ] as const) {
    await db.run(`delete from ${name}`);
    const { rejected } = await writeAll(db, name, [batch()], { load });
    assert.deepEqual(await table(db, `select a from ${name} order by a`), ['1', '2', '4'], `${name} ${load}`);
    assert.equal(rejected.length, 1);
    assert.match(rejected[0] ?? '', /^a: 1366 Incorrect integer value: 'x' for column/, `${name} ${load}`);
  }
});

onServers(SERVERS, 'a duplicate key, of which the server names no row, is found among many', async (db) => {
  await db.run('create table t (id int primary key, v varchar(10)) engine=InnoDB', `insert into t values (300,'old')`);
  for (const load of ['never', 'auto'] as const) {
    await db.run('delete from t where id <> 300');
    const rows = Array.from({ length: 1000 }, (_, i) => [String(i), `v${String(i)}`]);
    const { rejected } = await writeAll(db, 't', [batchOf([ID, column('v', 'string')], rows)], { load });
    assert.equal(rejected.length, 1);
    assert.match(rejected[0] ?? '', /^-: 1062 Duplicate entry '300' for key/);
    assert.deepEqual(await table(db, 'select count(*), sum(id), min(v), max(v) from t'), ['1000|499500|old|v999']);
  }
});

onServers(
  SERVERS,
  'C15: rows are cut into statements below max_allowed_packet, and a larger row is told',
  async (db) => {
    await db.run('create table t (id int primary key, b longblob) engine=InnoDB');
    const rows = [1, 2, 3, 4, 5, 6].map((id) => [String(id), Buffer.alloc(id === 6 ? 2_000_000 : 300_000, id)]);
    for (const load of ['never', 'auto'] as const) {
      await db.run('delete from t');
      const { to, rejected } = await writeAll(db, 't', [batchOf([ID, column('b', 'binary')], rows)], { load }, (s) => {
        // As a server with a lower limit says it: the session's own cannot be set.
        Object.assign(s.session.server, { maxAllowedPacket: 1_048_576 });
      });
      assert.deepEqual(
        await table(db, 'select id, length(b) from t order by id'),
        [1, 2, 3, 4, 5].map((i) => `${String(i)}|300000`),
      );
      assert.equal(rejected.length, 1);
      assert.match(
        rejected[0] ?? '',
        /^-: the row takes 20000\d\d bytes as a statement, and max_allowed_packet of the server is 1048576/,
      );
      assert.ok(to.sent.every((s) => s.length <= 1_048_576));
    }
  },
);

onServers(SERVERS, 'C21: generated columns, names in another case, columns that are not written', async (db) => {
  const hidden = db.kind === 'mariadb' ? 'h int invisible default 7' : 'h int default 7';
  const computed = db.kind === 'mariadb' ? 'g int as (a*2) stored, v int as (a+1) virtual,' : '';
  await db.run(
    `create table t (id int primary key, a int, ${computed} ${hidden}, k varchar(5) default 'keep') engine=InnoDB`,
  );
  const reset = () => db.run('delete from t', `insert into t (id,a,h,k) values (1,1,5,'old')`);
  const rows = [
    ['1', '10'],
    ['2', '20'],
  ];
  const two = () => batchOf([ID, column('a', 'int')], rows);
  const select = `select id, a, h, k ${db.kind === 'mariadb' ? ', g, v' : ''} from t order by id`;
  const also = (a: number) => (db.kind === 'mariadb' ? `|${String(a * 2)}|${String(a + 1)}` : '');

  if (db.kind === 'mariadb') {
    await reset();
    const warnings: string[] = [];
    const log = { debug() {}, info() {}, warn: (_: object, m: string) => void warnings.push(m), error() {} };
    const wide = [ID, column('a', 'int'), column('g', 'int'), column('v', 'int'), column('h', 'int')];
    const full = batchOf(wide, [
      ['1', '10', '20', '11', '5'],
      ['2', '20', '40', '21', '99'],
    ]);
    await writeAll(db, 't', [full], { writeMode: 'update', log });
    assert.deepEqual(await table(db, select), ['1|10|5|old|20|11', '2|20|99|keep|40|21']);
    assert.deepEqual(
      warnings.map((w) => w.slice(0, 14)),
      ['the column `g`', 'the column `v`'],
    );
    const named = batchOf(wide.slice(0, 3), [['1', '10', '20']]);
    await assert.rejects(
      writeAll(db, 't', [named], { columns: ['id', 'a', 'g'] }),
      (e) =>
        isSyncError(e) && e.code === 'COLUMN_MISMATCH' && e.message.includes('`g`') && e.message.includes('computed'),
    );
  }
  await reset();
  await writeAll(db, 't', [two()], { writeMode: 'update', columns: ['ID', 'A'] });
  assert.deepEqual(await table(db, select), [`1|10|5|old${also(10)}`, `2|20|7|keep${also(20)}`]);
  await reset();
  await writeAll(db, 't', [two()], { writeMode: 'replace', columns: ['ID', 'A'] });
  assert.deepEqual(await table(db, select), [`1|10|7|keep${also(10)}`, `2|20|7|keep${also(20)}`]);
});

onServers(SERVERS, 'columns that do not fit are named before any row', async (db) => {
  await db.run(
    'create table t (id int primary key, must int not null, g point, ts timestamp not null default current_timestamp)',
  );
  const refuses = async (columns: Parameters<typeof batchOf>[0], word: RegExp, options = {}): Promise<void> => {
    const row = columns.map(() => '1');
    await assert.rejects(
      writeAll(db, 't', [batchOf(columns, [row])], options),
      (e) => isSyncError(e) && e.code === 'COLUMN_MISMATCH' && word.test(`${e.message} ${e.hint ?? ''}`),
    );
  };
  await refuses([ID, column('nope', 'int')], /no column `nope`.*`id`, `must`, `g`, `ts`/);
  await refuses([ID], /needs a value for `must`/);
  await refuses(
    [ID, column('must', 'int'), column('g', 'string')],
    /`g` \(string\) cannot be written to `g` \(point\)/,
  );
  await refuses([ID, column('must', 'int'), column('MUST', 'int')], /`must`.*twice/);
  await refuses([ID, column('must', 'int')], /`uniqueKey` names `zz`/, { uniqueKey: ['zz'] });
  assert.deepEqual(await table(db, 'select count(*) from t'), ['0']);
});

onServers(SERVERS, 'update keeps or overwrites by allReplace; insert-ignore keeps and counts', async (db) => {
  await db.run('create table t (a int, b varchar(5), v int, w int, primary key (a,b)) engine=InnoDB');
  const reset = () => db.run('delete from t', `insert into t values (1,'x',10,11),(2,'y',20,21)`);
  const columns = [column('a', 'int'), column('b', 'string'), column('v', 'int'), column('w', 'int')];
  const batch = () =>
    batchOf(columns, [
      ['1', 'x', null, '5'],
      ['2', 'Y', '7', null],
      ['3', 'z', null, '9'],
    ]);
  const select = 'select * from t order by a';
  await reset();
  await writeAll(db, 't', [batch()], { writeMode: 'update' });
  // The key is the same by the column's collation; its text is the row's.
  assert.deepEqual(await table(db, select), ['1|x|∅|5', '2|Y|7|∅', '3|z|∅|9']);
  await reset();
  await writeAll(db, 't', [batch()], { writeMode: 'update', allReplace: false });
  assert.deepEqual(await table(db, select), ['1|x|10|5', '2|Y|7|21', '3|z|∅|9']);
  await reset();
  const { writer, rejected } = await writeAll(db, 't', [batch()], { writeMode: 'insert-ignore' });
  assert.deepEqual(await table(db, select), ['1|x|10|11', '2|y|20|21', '3|z|∅|9']);
  assert.deepEqual([writer.ignored, rejected], [2, []]);
  // One row a statement is told otherwise by the server.
  const again = await writeAll(db, 't', [batch()], { writeMode: 'insert-ignore', batchSize: 1 });
  assert.deepEqual([again.writer.ignored, again.rejected], [3, []]);
  // Other complaints are none to ignore.
  const bad = await writeAll(db, 't', [batchOf(columns, [['9', 'toolong', null, null]])], {
    writeMode: 'insert-ignore',
  });
  assert.match(bad.rejected[0] ?? '', /^b: 1406 /);
  assert.equal(bad.writer.ignored, 0);
});

onServers(SERVERS, 'a server that takes no files gets the rows by INSERT', async (db) => {
  await db.run('create table t (id int primary key) engine=InnoDB');
  const lines: string[] = [];
  const log = { debug() {}, info: (_: object, m: string) => void lines.push(m), warn() {}, error() {} };
  const rows = Array.from({ length: 5000 }, (_, i) => [String(i)]);
  const refuse = Object.assign(new Error('The used command is not allowed'), { errno: 1148, sqlState: '42000' });
  const { mysqlError } = await import('../connect/mysql-errors.js');
  const { writer, to } = await writeAll(db, 't', [batchOf([ID], rows)], { load: 'auto', batchSize: 1000, log }, (s) => {
    s.loadError = mysqlError(refuse, { side: 'sink', doing: 'load', place: 't' });
  });
  assert.deepEqual(await table(db, 'select count(*), sum(id) from t'), ['5000|12497500']);
  assert.equal(writer.path, 'INSERT');
  assert.equal(lines.length, 1);
  assert.equal(to.sent.filter((s) => s.startsWith('load')).length, 1);
});

onServers(SERVERS, 'small batches share a statement, and keep their rows while they wait', async (db) => {
  await db.run('create table t (id int primary key, v varchar(20)) engine=InnoDB');
  const columns = [ID, column('v', 'string')];
  const batches = Array.from({ length: 100 }, (_, i) =>
    batchOf(columns, [
      [String(i), `row ${String(i)}`],
      [String(i + 1000), i === 50 ? 'x'.repeat(21) : ''],
    ]),
  );
  const { to, rejected } = await writeAll(db, 't', batches);
  assert.deepEqual(await table(db, `select count(*), sum(v = concat('row ', id)), sum(v = '') from t`), ['199|100|99']);
  assert.match(rejected.join(), /^v: 1406 /);
  assert.ok(to.sent.length < 10, `${String(to.sent.length)} statements`);
});
