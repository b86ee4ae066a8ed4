import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Finding, JsonObject } from 'syncx/plugin-api';
import { fillOptions } from 'syncx/plugin-testkit';
import { typeOf } from '../catalog/columns.js';
import { reader as definition } from '../reader.js';
import { describeQuery } from '../read/plan/query-columns.js';
import { drain, openReader, rowsOf, snapshotOf } from './plan-support.js';
import { SERVERS, onServers, type TestDatabase } from './servers.js';

const namesOf = (shape: { readonly columns: readonly { readonly name: string }[] } | undefined): readonly string[] =>
  shape?.columns.map((c) => c.name) ?? [];

onServers(SERVERS, 'C11 names that need quoting, under the spelling of the job', async (db) => {
  const odd = ['order', 'a b', 'a.b', 'a`b', '"q"', '中文', 'id', "x'y"];
  const ddl = odd.map(
    (n) => `\`${(n === 'id' ? 'Id' : n).replaceAll('`', '``')}\` int${n === 'id' ? ' primary key' : ''}`,
  );
  await db.run(
    `create table \`my.table-1\` (${ddl.join(', ')})`,
    'insert into `my.table-1` values (1,2,3,4,5,6,7,8), (1,2,3,4,5,6,8,8)',
  );
  await using r = await openReader(db, 'my.table-1', { column: odd, splitPk: 'id', where: '1=1', splitSize: 1 });
  const splits = await drain(await r.reader.planner(null, 2));
  const [shape] = r.shapes();
  assert.deepEqual(namesOf(shape), odd);
  assert.deepEqual(
    shape?.orderKey.map((c) => c.name),
    ['Id'],
  );
  assert.deepEqual(await rowsOf(db, r.shapes(), splits, 'id', '1=1'), [['7'], ['8']]);
});

onServers(SERVERS, 'C11 a column that is not there is told before anything is read', async (db) => {
  await db.run('create table t (id int primary key, a int)');
  for (const [option, options] of [
    ['column', { column: ['id', 'nope'] }],
    ['splitPk', { splitPk: 'nope' }],
    ['increColumn', { increColumn: 'nope' }],
  ] as const) {
    await using r = await openReader(db, 't', options);
    await assert.rejects(r.reader.planner(null, 2), {
      code: 'COLUMN_MISMATCH',
      message: `${db.name}.t has no column \`nope\``,
      place: `reader.parameter.${option}`,
      hint: 'It has `id`, `a`.',
    });
  }
  await using r = await openReader(db, 't', { where: 'nope = 1' });
  await assert.rejects(r.reader.planner(null), { code: 'COLUMN_MISMATCH' });
});

onServers(['mariadb'], 'C21 * holds generated and invisible columns, and constants stand beside it', async (db) => {
  await db.run(
    "create table gi (id int primary key, a int, g int as (a*2) stored, v int as (a+1) virtual, h int invisible default 7, k varchar(5) default 'keep', j json)",
  );
  await using r = await openReader(db, 'gi', { column: ['*', { name: 'src', type: 'decimal(5,2)', value: '1.5' }] });
  await r.reader.planner(null);
  const [shape] = r.shapes();
  assert.deepEqual(namesOf(shape), ['id', 'a', 'g', 'v', 'h', 'k', 'j', 'src']);
  assert.deepEqual(shape?.columns[7], { name: 'src', type: 'decimal(5,2)', constant: '1.5' });
  assert.deepEqual(shape.columns[6], { name: 'j', rawType: 'longtext', nullable: true, json: true });
});

onServers(SERVERS, 'all tables of all connections are read: lists, patterns, whole databases', async (db) => {
  for (const t of ['o_2023', 'o_2024', 'o_x', 'p']) await db.run(`create table ${t} (id int primary key)`);
  await db.run('create view vw as select * from p');
  const { username, password, jdbcUrl } = db;
  const tables = async (...connection: readonly JsonObject[]): Promise<readonly string[]> => {
    await using r = await openReader(db, null, {
      username,
      password,
      connection: connection.map((c) => ({ jdbcUrl, ...c })),
    });
    await r.reader.planner(null);
    return r.shapes().map((s) => `${String(s.connection)} ${s.table ?? '?'}`);
  };
  assert.deepEqual(await tables({ table: ['o_2024', `${db.name}.p`, 'o_2024'] }), ['0 o_2024', '0 p']);
  assert.deepEqual(await tables({ table: 'p' }, { tablePattern: 'o_\\d{4}' }), ['0 p', '1 o_2023', '1 o_2024']);
  assert.deepEqual(await tables({ table: ['*'] }), ['0 o_2023', '0 o_2024', '0 o_x', '0 p']);
  assert.deepEqual(await tables({ table: 'vw' }), ['0 vw']);
  await assert.rejects(tables({ tablePattern: 'q.*' }), {
    code: 'SOURCE_MISSING',
    message: `no table of ${db.name} fits the pattern`,
    hint: 'It has o_2023, o_2024, o_x, p.',
  });
  await assert.rejects(tables({ table: 'q' }), { code: 'SOURCE_MISSING', place: 'q' });
});

onServers(SERVERS, 'a run goes on only with the columns it began with', async (db) => {
  await db.run('create table t (id int primary key, a int, b varchar(5))', 'insert into t values (1,1,1),(2,2,2)');
  const options = { splitSize: 1 };
  await using r = await openReader(db, 't', options);
  const saved = snapshotOf(await r.reader.planner(null, 2));
  const again = async (): Promise<void> => {
    await using next = await openReader(db, 't', options);
    await next.reader.planner(saved, 2);
  };
  await again();
  await db.run('alter table t add column c int'); // none of this run's
  await again();
  await db.run('alter table t modify b varchar(9)');
  const code = 'SOURCE_CHANGED';
  const place = `${db.name}.t`;
  await assert.rejects(again(), {
    code,
    place,
    message: `the column \`b\` of ${place} was varchar(5) and is varchar(9)`,
  });
  await db.run('alter table t drop column b');
  await assert.rejects(again(), { code, place, message: `the column \`b\` of ${place} is gone; it was varchar(5)` });
  await db.run('drop table t');
  await assert.rejects(again(), { code, place, message: `the table ${place} is gone` });
});

onServers(SERVERS, 'a plan of a version that knew no marks of tables goes on, and looks after none', async (db) => {
  await db.run('create table t (id int primary key) engine=InnoDB', 'insert into t values (1), (2)');
  await using r = await openReader(db, 't');
  const saved = snapshotOf(await r.reader.planner(null, 1)) as { readonly shapes: readonly JsonObject[] };
  assert.equal(typeof saved.shapes[0]?.['mark'], 'object');
  const shapes = saved.shapes.map(({ mark: _mark, ...shape }) => shape);
  await using again = await openReader(db, 't');
  const splits = await drain(await again.reader.planner({ ...saved, shapes }, 1));
  assert.deepEqual(await rowsOf(db, again.shapes(), splits, 'id'), [['1', '2']]);
  assert.equal(again.shapes()[0]?.mark, undefined);
});

/** Each as a table's column and as the query's, which must say the same. */
const TYPES: readonly string[] = [
  'tinyint(1)',
  'smallint(6)',
  'mediumint(9)',
  'int(11)',
  'bigint(20)',
  'tinyint(3) unsigned',
  'smallint(5) unsigned',
  'mediumint(8) unsigned',
  'int(10) unsigned',
  'bigint(20) unsigned',
  'int(6) unsigned zerofill',
  'decimal(10,0)',
  'decimal(65,30)',
  'decimal(5,2) unsigned',
  'float',
  'double',
  'bit(10)',
  'year(4)',
  'date',
  'time',
  'datetime',
  'timestamp',
  'varchar(20)',
  'binary(4)',
  'varbinary(9)',
  'blob',
  'longblob',
  'longtext',
  'text',
  'geometry',
];

onServers(SERVERS, 'the columns of a query have the types of the table', async (db) => {
  const types = [...TYPES, ...(db.kind === 'mariadb' ? ['time(3)', 'datetime(6)', 'timestamp(1)'] : [])];
  await db.run(`create table q (${types.map((t, i) => `c${String(i)} ${t} null`).join(', ')})`);
  const columns = await describeQuery(db.session, 'select * from q');
  const said = columns.map((c) => [c.name, typeOf(c.rawType)?.type ?? { is: 'string' }]);
  assert.deepEqual(
    said,
    types.map((t, i) => [`c${String(i)}`, typeOf(t)?.type ?? { is: 'string' }]),
  );
  assert.ok(columns.every((c) => c.nullable));
});

onServers(SERVERS, 'a query is read by its own names; a comment or semicolon at its end does no harm', async (db) => {
  await db.run('create table q (id int not null primary key, n varchar(5))', "insert into q values (1,'a'),(2,'b')");
  const customSql =
    'select id, n as `名`, count(*) as c from q group by id, n union all select 9, null, 0 -- all of them\n;';
  await using r = await openReader(db, null, { customSql });
  const splits = await drain(await r.reader.planner(null, 4));
  const [shape] = r.shapes();
  assert.deepEqual(namesOf(shape), ['id', '名', 'c']);
  assert.deepEqual([splits.length, shape?.orderKey, shape?.table], [1, [], null]);
  assert.deepEqual(await rowsOf(db, r.shapes(), splits, 'id'), [['1', '2', '9']]);
  await using named = await openReader(db, null, { customSql, column: ['C', 'id'] });
  await named.reader.planner(null);
  assert.deepEqual(namesOf(named.shapes()[0]), ['C', 'id']);
  await using twice = await openReader(db, null, { customSql: 'select id, id from q' });
  await assert.rejects(twice.reader.planner(null), {
    code: 'COLUMN_MISMATCH',
    message: /two columns of the name `id`/,
  });
  await using wrong = await openReader(db, null, { customSql: 'selec 1' });
  await assert.rejects(wrong.reader.planner(null), { message: /1064/ });
});

async function order(db: TestDatabase, ddl: string, splitPk?: string): Promise<readonly string[]> {
  await db.run('drop table if exists o', `create table o (${ddl})`);
  await using r = await openReader(db, 'o', splitPk === undefined ? {} : { splitPk });
  await r.reader.planner(null);
  return r.shapes()[0]?.orderKey.map((c) => c.name) ?? [];
}

onServers(SERVERS, 'rows of a split are in the order of a key that tells them apart', async (db) => {
  assert.deepEqual(await order(db, 'a int, b int, primary key (b, a)'), ['b', 'a']);
  assert.deepEqual(await order(db, 'a int not null, u varchar(9) not null unique'), ['u']);
  assert.deepEqual(await order(db, 'a int, u int unique'), []);
  assert.deepEqual(await order(db, "e enum('a','b') primary key, u int not null unique"), ['u']);
  assert.deepEqual(await order(db, 'f double primary key'), []);
  assert.deepEqual(await order(db, 'a int primary key, k int not null, key (k)', 'k'), ['k', 'a']);
  assert.deepEqual(await order(db, 'a int primary key, k int not null unique', 'k'), ['k']);
  assert.deepEqual(await order(db, 'a int primary key, k int, key (k)', 'k'), ['a']);
  assert.deepEqual(await order(db, 'a int primary key, k int not null', 'k'), ['a']);
});

onServers(SERVERS, 'the plan tells what is read, and what is in the way of it', async (db) => {
  await db.run('create table t (id int, a varchar(5), up int)', 'insert into t values (1,1,1)');
  await using r = await openReader(db, 't', { column: ['a', 'ID'], where: 'id > 0', splitPk: 'id', increColumn: 'up' });
  const facts = await r.reader.explain?.();
  assert.deepEqual(facts?.reads, [`select \`a\`, \`ID\` from \`${db.name}\`.\`t\` where (id > 0 )`]);
  assert.deepEqual(facts.columns, [
    { name: 'a', type: { is: 'string' } },
    { name: 'ID', type: { is: 'int32' } },
  ]);
  assert.deepEqual([facts.rows, facts.problems.map((p) => p.level)], [1, ['warning', 'warning', 'warning', 'warning']]);
  await using missing = await openReader(db, 'nope');
  const problem = (await missing.reader.explain?.())?.problems[0];
  assert.deepEqual([problem?.level, problem?.code, problem?.place], ['error', 'SOURCE_MISSING', 'nope']);
});

describe('options of the reader', () => {
  const base = { username: 'u', connection: [{ jdbcUrl: 'jdbc:mysql://h/d', table: 't' }] };
  const check = (o: JsonObject): readonly Finding[] =>
    definition.check?.(fillOptions(definition, { ...base, ...o })) ?? [];
  const said = (o: JsonObject): readonly string[] =>
    check(o).map((f) => `${f.level ?? 'error'} ${f.path}: ${f.message}`);

  test('rules between them', () => {
    assert.deepEqual(said({}), []);
    assert.deepEqual(said({ polling: true }), ['error polling: needs increColumn']);
    assert.deepEqual(said({ startLocation: '5' }), ['warning startLocation: needs increColumn']);
    assert.deepEqual(said({ customSql: 'select 1', splitPk: 'id' }), [
      'warning connection[0].table: has no effect beside customSql, which is read in its place',
      'warning splitPk: has no effect on a query, which one lane reads as a whole',
    ]);
    assert.deepEqual(said({ connection: [{ jdbcUrl: 'jdbc:mysql://h/d' }] }), [
      'error connection[0]: says nothing to read',
    ]);
    assert.match(
      said({ connection: [{ jdbcUrl: 'jdbc:mysql://h/d', tablePattern: '(' }] })[0] ?? '',
      /^error connection\[0\].tablePattern: /,
    );
    assert.deepEqual(said({ increColumn: 2, column: ['a', 'b'] }), [
      'error increColumn: there is no column 2 in `column`',
    ]);
    assert.deepEqual(said({ increColumn: 'a', increLookback: 'soon' }), [
      'error increLookback: is neither a number nor a time as `5m`',
    ]);
    assert.deepEqual(said({ column: ['a', { name: 'A' }] }), [
      'error column[1]: `a` is there twice, also as column[0]',
    ]);
    assert.deepEqual(said({ column: [{ name: 'c', type: 'int', value: 'x' }] }), [
      'error column[0].value: `x` is no value of the type int',
    ]);
    assert.deepEqual(said({ username: '' }), ['error username: no user is given']);
    assert.deepEqual(said({ consistent: true, polling: true, increColumn: 'a' }), [
      'error consistent: a polling job has no one moment to read',
    ]);
  });

  test('what they make of a job', () => {
    const fill = (o: JsonObject) => fillOptions(definition, { ...base, ...o });
    assert.equal(definition.cursor?.(fill({ increColumn: 'a' })), true);
    assert.equal(definition.cursor?.(fill({ increColumn: 'a', polling: true })), false);
    assert.equal(definition.boundedness(fill({ increColumn: 'a', polling: true })), 'unbounded');
    assert.deepEqual(definition.columns?.(fill({ column: ['a', { name: 'c', value: '1' }] })), ['a', 'c']);
    assert.equal(definition.columns?.(fill({})), null);
  });
});
