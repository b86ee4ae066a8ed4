/** Entries of `column` that are SQL: what DataX documents. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillOptions } from 'syncx/plugin-testkit';
import { reader as definition } from '../reader.js';
import { namesOf, wantedColumns, type WantedColumn } from '../read/plan/wanted-columns.js';
import { isConstant } from '../read/split-spec.js';
import type { ReaderOptions } from '../reader-options.js';
import { openReader, snapshotOf } from './plan-support.js';
import { SERVERS, onServers } from './servers.js';

const optionsOf = (column: readonly string[]): ReaderOptions =>
  fillOptions(definition, {
    username: 'u',
    password: 'p',
    connection: [{ jdbcUrl: 'jdbc:mysql://h/d', table: 't' }],
    column: [...column],
  });

const wanted = (text: string): WantedColumn | undefined => wantedColumns(optionsOf([text]))[0];

test('what is SQL by its look, and what is a name', () => {
  const sql = ['1', '-2.3', '.5', '1e3', "'bazhen.csy'", '"x"', "x'41'", "_utf8'a'", 'null', 'NULL', 'True', 'false', 'to_char(a + 1)', 'a+1', 'a % 2', '@@version', 'current_timestamp', 'case when a then 1 end', 'not (a)', '!a']; // prettier-ignore
  for (const text of sql) assert.deepEqual(wanted(text), { is: 'sql', text, name: text, sql: text });
  for (const text of ['id', 'a b', 'a.b', '中文', 'nullable', 'case', 'a1', '1a', "it's", '$x', 'casewhen a']) {
    assert.deepEqual(wanted(text), { is: 'name', name: text });
  }
  assert.deepEqual(wanted('`table`'), { is: 'name', name: 'table' });
  assert.deepEqual(wanted(' `a``b` '), { is: 'name', name: 'a`b' });
  assert.deepEqual(wanted('a + 1 AS b'), { is: 'sql', text: 'a + 1 AS b', name: 'b', sql: 'a + 1' });
  assert.deepEqual(wanted('id as `a``b`'), { is: 'sql', text: 'id as `a``b`', name: 'a`b', sql: 'id' });
  const cast = 'cast(a as char)';
  assert.deepEqual(wanted(cast), { is: 'sql', text: cast, name: cast, sql: cast });
});

test('names of rows are unique, so that constants may stand there twice', () => {
  assert.deepEqual(namesOf(wantedColumns(optionsOf(['id', 'null', '1', 'NULL', 'null']))), ['id', 'null', '1', 'NULL (2)', 'null (3)']); // prettier-ignore
  const findings = definition.check?.(optionsOf(['a + 1 as b', 'null', 'null', 'B'])) ?? [];
  assert.deepEqual(findings, [{ path: 'column[3]', message: '`b` is there twice, also as column[0]' }]);
});

onServers(SERVERS, 'the types are those of the result, and names of columns come first', async (db) => {
  await db.run('create table e (id int primary key, `table` varchar(5), `1` int, `a+b` int, d datetime)');
  const column = [
    'id',
    '`table`',
    '1',
    'a+b',
    '2',
    "'bazhen.csy'",
    'null',
    'concat(id, `table`)',
    '2.3',
    'true',
    'date(d) as day',
  ];
  await using r = await openReader(db, 'e', { column });
  await r.reader.planner(null);
  const [shape] = r.shapes();
  const shown = shape?.columns.map((c) =>
    isConstant(c) ? '' : `${c.name}: ${c.rawType}${c.expression === undefined ? '' : ' sql'}`,
  );
  assert.deepEqual(
    shown?.map((s) => s.replace(/int\(\d+\)/, 'int').replace(/varchar\(\d{2,}\)/, 'varchar(n)')),
    [
      'id: int',
      'table: varchar(5)',
      '1: int',
      'a+b: int',
      `2: ${db.kind === 'mariadb' ? 'int' : 'bigint'} sql`,
      "'bazhen.csy': varchar(n) sql",
      'null: varchar(0) sql',
      'concat(id, `table`): varchar(n) sql',
      '2.3: decimal(2,1) sql',
      `true: ${db.kind === 'mariadb' ? 'int' : 'bigint'} sql`,
      'day: date sql',
    ],
  );
});

onServers(SERVERS, 'C11 what is neither a column nor SQL for a value of a row is told by its text', async (db) => {
  await db.run('create table e (id int primary key, a int)');
  for (const text of [
    'to_char(a + 1)',
    'nope + 1',
    'my-col',
    "it's(",
    'count(*)',
    'a +',
    'sum(a) as s',
    '(select 1, 2)',
    '*, 1',
  ]) {
    await using r = await openReader(db, 'e', { column: ['id', text] });
    await assert.rejects(r.reader.planner(null), (e: Error & { code: string; place: string }) => {
      assert.equal(e.code, 'COLUMN_MISMATCH', `${text}: ${e.message}`);
      assert.ok(e.message.includes(text.replace(' as s', '')), e.message);
      assert.equal(e.place, 'reader.parameter.column');
      return true;
    });
  }
});

onServers(
  SERVERS,
  'a run does not go on where an expression has another type, or what it needs is gone',
  async (db) => {
    await db.run('create table e (id int primary key, a int, b int)');
    const column = ['id', 'a + 1'];
    const saved = await (async () => {
      await using r = await openReader(db, 'e', { column });
      return snapshotOf(await r.reader.planner(null));
    })();
    const resume = async (): Promise<void> => {
      await using r = await openReader(db, 'e', { column });
      await r.reader.planner(saved);
    };
    await resume();
    await db.run('alter table e modify a varchar(9)');
    await assert.rejects(resume(), { code: 'SOURCE_CHANGED', message: /the column `a \+ 1`/ });
    await db.run('alter table e drop a');
    await assert.rejects(resume(), { code: 'SOURCE_CHANGED', message: /`a \+ 1`/ });
  },
);
