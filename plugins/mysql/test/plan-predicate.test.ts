import assert from 'node:assert/strict';
import { columnsOf } from '../catalog/columns.js';
import { keySelect } from '../read/plan/estimates.js';
import { beyond, nullPredicate, rangePredicate, windowPredicate } from '../read/plan/key-predicate.js';
import { shapeColumn } from '../read/plan/shapes.js';
import { quoteName } from '../sql/names.js';
import type { CursorTail, ShapeColumn } from '../read/split-spec.js';
import { SERVERS, onServers, type TestDatabase } from './servers.js';

/** Type of a key, and values for it as SQL. */
const KEYS: readonly (readonly [type: string, values: readonly string[]])[] = [
  ['tinyint', ['-128', '-1', '0', '1', '127']],
  ['int(6) zerofill', ['0', '7', '42', '4294967295']],
  ['bigint', ['-9223372036854775808', '-1', '0', '9007199254740993', '9223372036854775807']],
  ['bigint unsigned', ['0', '1', '9223372036854775807', '9223372036854775808', '18446744073709551615']],
  ['bit(64)', ['0', '1', '9223372036854775808', '18446744073709551615']],
  ['decimal(30,10)', ['-12345678901234567890.0000000001', '-0.5', '0', '0.0000000001', '12345678901234567890.1']],
  ['year', ['0', '1901', '1970', '2000', '2069', '2155']],
  ['date', ["'0000-00-00'", "'2024-00-00'", "'2024-02-30'", "'1970-01-01'", "'9999-12-31'"]],
  ['time', ["'-838:59:59'", "'-10:00:00'", "'-02:00:00'", "'00:00:00'", "'99:00:00'", "'100:00:00'", "'838:59:59'"]],
  ['datetime', ["'0000-00-00 00:00:00'", "'1000-01-01 00:00:00'", "'2024-05-01 10:00:01'", "'9999-12-31 23:59:59'"]],
  ['timestamp', ["'0000-00-00 00:00:00'", "'1970-01-01 00:00:01'", "'2024-10-27 01:30:00'", "'2038-01-19 03:14:07'"]],
  ['varchar(20) charset utf8', ["''", "'a'", "'B'", "'b c'", "'it''s'", String.raw`'x\\y\n'`, "'é'", "'中文'", "'Z'"]],
  ['varchar(20) charset latin1 collate latin1_german1_ci', ["'Ä'", "'ab'", "'ö'", "'z'"]],
  ['varchar(20) charset gbk', ["'a'", "'中'", "'文'", "'龙'"]],
  ['char(8) charset utf8mb4 collate utf8mb4_bin', ["'a'", "'A'", "'😀'", "'ÿ'"]],
  ['binary(3)', ["x'00'", "x'61'", "x'6100ff'", "x'ff5c27'"]],
  ['varbinary(9)', ["''", "x'00'", "x'0001'", "x'27'", "x'5c'", "x'ff'"]],
];
const FINE: readonly (readonly [type: string, values: readonly string[]])[] = [
  ['datetime(6)', ["'2024-05-01 10:00:00.123456'", "'2024-05-01 10:00:00.123457'", "'2024-05-01 10:00:01'"]],
  ['timestamp(3)', ["'2024-05-01 10:00:00.123'", "'2024-05-01 10:00:00.124'"]],
  ['time(6)', ["'-00:00:00.000001'", "'00:00:00'", "'00:00:00.000001'"]],
  ['uuid', ["'00000000-0000-0000-0000-000000000001'", "'f0000000-0000-0000-0000-000000000001'"]],
  ['inet6', ["'::1'", "'2001:db8::ff00:42:8329'"]],
];

async function keyOf(db: TestDatabase, table: string, name: string): Promise<ShapeColumn> {
  const c = (await columnsOf(db.session, { database: db.name, table })).find((x) => x.name === name);
  assert.ok(c);
  return shapeColumn(c);
}

const count = async (db: TestDatabase, table: string, condition: string): Promise<number> =>
  Number((await db.rows(`select count(*) from ${table} where ${condition}`))[0]?.[0]);

onServers(SERVERS, 'a bound of any key type parts the rows exactly where the server orders them', async (db) => {
  const types = db.kind === 'mariadb' ? [...KEYS, ...FINE] : KEYS;
  for (const [i, [type, values]] of types.entries()) {
    const t = `k${String(i)}`;
    await db.run(
      `create table ${t} (k ${type} not null primary key)`,
      `insert into ${t} values (${values.join('), (')})`,
    );
    const column = await keyOf(db, t, 'k');
    const keys = await db.rows(`select ${keySelect(column, quoteName('k'))} from ${t} order by ${t}.k`);
    assert.equal(keys.length, values.length, type);
    for (const [below, [key]] of keys.entries()) {
      const tuple = [key ?? ''];
      const counts = [
        await count(db, t, rangePredicate({ columns: [column], before: tuple })),
        await count(db, t, rangePredicate({ columns: [column], upTo: tuple })),
        await count(db, t, rangePredicate({ columns: [column], from: tuple })),
        await count(db, t, rangePredicate({ columns: [column], after: tuple })),
        await count(db, t, rangePredicate({ columns: [column], from: tuple, upTo: tuple })),
      ];
      assert.deepEqual(
        counts,
        [below, below + 1, values.length - below, values.length - below - 1, 1],
        `${type} ${tuple[0] ?? ''}`,
      );
    }
  }
});

onServers(SERVERS, 'bounds of several columns are in the order of the tuples, and use the index', async (db) => {
  await db.run(
    'create table c (a int not null, b varchar(9) not null, d date not null, primary key (a, b, d))',
    `insert into c values (1,'x','2024-01-01'),(1,'x','2024-01-02'),(1,'y','2024-01-01'),(2,'a','2024-01-01'),(2,'x','2023-01-01'),(3,'a','2024-01-01')`,
  );
  const columns = [await keyOf(db, 'c', 'a'), await keyOf(db, 'c', 'b'), await keyOf(db, 'c', 'd')];
  const rows = await db.rows('select a, b, d from c order by a, b, d');
  for (const [below, row] of rows.entries()) {
    const tuple = row.map((v) => v ?? '');
    assert.equal(await count(db, 'c', beyond(columns, tuple, '<', false)), below);
    assert.equal(await count(db, 'c', beyond(columns, tuple, '<', true)), below + 1);
    assert.equal(await count(db, 'c', beyond(columns, tuple, '>', false)), rows.length - below - 1);
    assert.equal(await count(db, 'c', beyond(columns, tuple, '>', true)), rows.length - below);
  }
  assert.equal(await count(db, 'c', beyond(columns, ['1', 'x'], '>', false)), 4); // those of (1, x) are not above it
  const filler = Array.from({ length: 2000 }, (_, i) => `(${String(i + 10)},'f','2024-01-01')`);
  await db.run(`insert into c values ${filler.join(',')}`, 'analyze table c');
  const [plan] = await db.rows(
    `explain select * from c where ${beyond(columns, ['1990', 'f', '2024-01-01'], '>', false)}`,
  );
  assert.equal(plan?.[3], 'range');
  assert.ok(Number(plan[8]) < 100, `${String(plan[8])} rows`);
});

onServers(
  SERVERS,
  'ranges without bounds leave NULLs to the split of NULLs, and windows never hold them',
  async (db) => {
    await db.run(
      'create table n (k int, up datetime null)',
      "insert into n values (1,'2024-05-01'),(null,null),(null,'2024-05-02')",
    );
    const k = await keyOf(db, 'n', 'k');
    const up = await keyOf(db, 'n', 'up');
    assert.equal(await count(db, 'n', rangePredicate({ columns: [k] })), 1);
    assert.equal(await count(db, 'n', nullPredicate(k)), 2);
    assert.equal(await count(db, 'n', windowPredicate({ column: up, rowKey: [], lower: null, upper: null })), 2);
  },
);

onServers(SERVERS, 'the edges of a window take the rows they name', async (db) => {
  await db.run(
    'create table w (a int, b varchar(5), up int, primary key (a, b))',
    "insert into w values (1,'x',5),(1,'y',5),(2,'x',5),(3,'x',7),(3,'y',7),(4,'z',8)",
  );
  const rowKey = [await keyOf(db, 'w', 'a'), await keyOf(db, 'w', 'b')];
  const column = await keyOf(db, 'w', 'up');
  const rows = async (lower: CursorTail | null, upper: CursorTail | null, own = true): Promise<string> => {
    const edges = { lower: { value: '5', own, tail: lower }, upper: { value: '7', own, tail: upper } };
    const w = windowPredicate({ column, rowKey, ...edges });
    return (await db.rows(`select concat(a, b) from w where ${w} order by 1`)).join(' ');
  };
  const at = (value: string, ...keys: readonly string[][]): CursorTail => ({
    floor: { value, too: true },
    rows: [[value, ...keys]],
  });
  assert.equal(await rows(null, null), '3x 3y');
  assert.equal(await rows(null, null, false), '1x 1y 2x');
  assert.equal(await rows(at('5', ['1', 'y']), null), '1x 2x 3x 3y');
  assert.equal(await rows(at('5', ['1', 'x'], ['2', 'x']), at('7', ['3', 'y'])), '1y 3y');
  // Tails of several values, with a floor that has rows, and without one.
  const tail: CursorTail = { floor: { value: '5', too: false }, rows: [['7', ['3', 'x']], ['6', ['9', 'y']]] }; // prettier-ignore
  assert.equal(await rows(null, tail), '3x');
  assert.equal(await rows({ floor: null, rows: [['5', ['1', 'x'], ['2', 'x']]] }, tail), '1y 3x');
  assert.equal(await rows({ floor: { value: '5', too: false }, rows: [] }, { floor: null, rows: [] }), '');
  // A row that is named with another value is another one.
  assert.equal(await rows({ floor: null, rows: [['4', ['1', 'x']]] }, null), '1x 1y 2x 3x 3y');
});

/** By what the server reads the rows: `range`, and about how many of them. */
async function accessOf(db: TestDatabase, table: string, condition: string): Promise<readonly [string, number]> {
  const [plan] = await db.rows(`explain select id from ${table} where ${condition}`);
  const row = plan ?? [];
  return [row[row.length - 7] ?? '', Number(row[row.length - 2])];
}

onServers(SERVERS, "a window with a thousand rows by name is still a range of the column's index", async (db) => {
  await db.run('create table r (id int primary key, up datetime null, pad char(200), key (up))');
  const at = (i: number): string =>
    new Date(Date.UTC(2024, 0, 1) + i * 1000).toISOString().slice(0, 19).replace('T', ' ');
  for (let n = 0; n < 30_000; n += 5000) {
    const filler = Array.from({ length: 5000 }, (_, i) => `(${String(n + i)},'${at(n + i)}','x')`);
    await db.run(`insert into r values ${filler.join(',')}`);
  }
  await db.run('analyze table r');
  const column = await keyOf(db, 'r', 'up');
  const tailTo = (end: number): CursorTail => ({
    floor: { value: at(end - 1000), too: false },
    rows: Array.from({ length: 1000 }, (_, i) => [at(end - i), [String(end - i)]] as const),
  });
  const edge = (end: number) => ({ value: at(end), own: true, tail: tailTo(end) });
  const window = { column, rowKey: [await keyOf(db, 'r', 'id')], lower: edge(29_000), upper: edge(29_500) };
  // Late, above what was done and below what is named.
  await db.run(`update r set up = '${at(28_400)}' where id = 28150`);
  const started = performance.now();
  const ids = (await db.rows(`select id from r where ${windowPredicate(window)} order by id`)).flat();
  const took = performance.now() - started;
  assert.deepEqual(ids, ['28150', ...Array.from({ length: 500 }, (_, i) => String(29_001 + i))]);
  assert.ok(took < 2000, `${String(took)} ms`);
  const [access, rows] = await accessOf(db, 'r', windowPredicate(window));
  assert.equal(access, 'range');
  assert.ok(rows < 4000, `${String(rows)} rows`);
});
