/** C14 in full: whatever is committed, wherever in the tail, is read once. */
import assert from 'node:assert/strict';
import type { CursorBounds, JsonObject, JsonValue } from 'syncx/plugin-api';
import type { TableCursor } from '../read/cursor/cursor-value.js';
import { drain, openReader, rowsOf } from './plan-support.js';
import { SERVERS, onServers, type TestDatabase } from './servers.js';

const INCREMENTAL = { increColumn: 'up', increWait: 0 };

/** A run after one that ended at `lower`; `between`: what is committed once its end stands. */
async function run(
  db: TestDatabase,
  lower: JsonValue | null,
  between: readonly string[] = [],
  options: JsonObject = {},
  expression = 'id',
): Promise<{ readonly bounds: CursorBounds; readonly read: readonly string[] }> {
  await using r = await openReader(db, 't', { ...INCREMENTAL, ...options });
  const bounds = await r.reader.bounds?.(lower);
  assert.ok(bounds);
  await db.run(...between);
  const splits = await drain(await r.reader.planner(null, 3, bounds));
  const rows = await rowsOf(db, r.shapes(), splits, expression);
  return { bounds, read: rows.flat().sort() };
}

const cursorOf = (db: TestDatabase, b: CursorBounds): TableCursor => {
  const cursor = (b.upper as Record<string, TableCursor> | null)?.[`${db.name}.t`];
  assert.ok(cursor);
  return cursor;
};

/** Numbers from 0 below `most`; the same for the same seed. */
function dice(seed: number): (most: number) => number {
  let x = seed;
  return (most) => {
    x = (Math.imul(x, 1_103_515_245) + 12_345) >>> 0;
    return (x >>> 8) % most;
  };
}

const TYPES: readonly (readonly [type: string, mariadbOnly: boolean, value: (n: number) => string])[] = [
  ['datetime null', false, (n) => `2024-05-01 10:00:${String(n).padStart(2, '0')}`],
  ['timestamp(3) null', true, (n) => `2024-05-01 10:00:00.${String(n * 10).padStart(3, '0')}`],
  ['datetime(6)', true, (n) => `2024-05-01 10:00:00.1234${String(n).padStart(2, '0')}`],
  ['bigint unsigned', false, (n) => `184467440737095515${String(n).padStart(2, '0')}`],
  ['decimal(30,10)', false, (n) => `-12345678901234567890.00000000${String(n).padStart(2, '0')}`],
];

for (const [type, mariadbOnly, value] of TYPES) {
  onServers(
    mariadbOnly ? ['mariadb'] : SERVERS,
    `C14 every state of a row is read once, in any order: ${type}`,
    async (db) => {
      // `v` counts the states of a row; a row never has a value again that it had, or no run could tell.
      await db.run(`create table t (a int, b varchar(9), v int, up ${type}, primary key (a, b), key (up))`);
      const roll = dice(type.length);
      const rows = new Map<number, number>();
      const seen: string[] = [];
      const must = new Set<string>();
      const state = (id: number, v: number): string => `${String(id)}:${String(v)}`;
      const used = new Set<string>();
      let states = 0;
      const write = (): string => {
        const id = roll(40);
        if (rows.has(id) && roll(5) === 0) {
          rows.delete(id);
          return `delete from t where a = ${String(id)}`;
        }
        let n = roll(60);
        while (used.has(state(id, n))) n = (n + 1) % 60;
        used.add(state(id, n));
        rows.set(id, (states += 1));
        return `replace into t values (${String(id)}, 'x''${String(id)}', ${String(states)}, '${value(n)}')`;
      };
      let lower: JsonValue | null = null;
      for (let round = 0; round < 25; round++) {
        const writes = round % 4 === 3 ? [] : Array.from({ length: 1 + roll(12) }, write);
        const done = await run(db, lower, writes, {}, "concat(a, ':', v)");
        seen.push(...done.read);
        lower = done.bounds.upper;
        // Two runs on, all that is still there was delivered.
        for (const [id, v] of rows) must.add(state(id, v));
        if (round % 4 === 3) {
          const more = await run(db, lower, [], {}, "concat(a, ':', v)");
          seen.push(...more.read);
          lower = more.bounds.upper;
          const missed = [...rows].map(([id, v]) => state(id, v)).filter((s) => !seen.includes(s));
          assert.deepEqual(missed, [], `round ${String(round)}`);
        }
      }
      assert.equal(new Set(seen).size, seen.length, 'nothing comes twice');
      assert.ok(seen.every((s) => must.has(s)) && seen.length > 60, String(seen.length));
    },
  );
}

async function fill(db: TestDatabase, rows: number, up: (id: number) => number): Promise<void> {
  for (let n = 0; n < rows; n += 1000) {
    const some = Array.from({ length: Math.min(1000, rows - n) }, (_, i) => `(${String(n + i)},${String(up(n + i))})`);
    await db.run(`insert into t values ${some.join(',')}`);
  }
}

onServers(SERVERS, 'C14 of a large table the newest thousand rows are named, whole values only', async (db) => {
  await db.run('create table t (id int primary key, up int, key (up))');
  await fill(db, 6000, (id) => Math.floor(id / 3));
  const one = await run(db, null, [
    'insert into t values (-1,1999), (-2,1668), (-3,1800), (-4,1666), (-5,0), (-6,2000)',
  ]);
  const first = cursorOf(db, one.bounds);
  // A thousand rows would end within those of 1666.
  assert.deepEqual([first.value, first.rows, first.tail?.floor], ['1999', 999, { value: '1666', too: false }]);
  assert.deepEqual(first.tail?.rows[0], ['1999', ['5999'], ['5998'], ['5997']]);
  // At or below the floor they are of this run, as it read after them; above it of the next.
  assert.deepEqual([one.read.length, one.read.filter((id) => id.startsWith('-'))], [6002, ['-4', '-5']]);
  const two = await run(db, one.bounds.upper, [
    'insert into t values (-7,1999), (-8,1667)',
    'delete from t where up = 2000',
  ]);
  assert.deepEqual(two.read, ['-1', '-2', '-3', '-8']); // -8 is at the floor, which has risen
  // The last value is gone, and others have come below it.
  const three = await run(db, two.bounds.upper);
  assert.deepEqual(three.read, ['-7']);
  assert.deepEqual((await run(db, three.bounds.upper)).read, []);
});

onServers(SERVERS, 'C14 more rows of one value than are named, and then others', async (db) => {
  await db.run('create table t (id int primary key, up int, key (up))');
  await fill(db, 2500, (id) => (id < 100 ? id : 500));
  const one = await run(db, null, ['insert into t values (9000,500), (9001,50)']);
  const cursor = cursorOf(db, one.bounds);
  assert.deepEqual([cursor.rows, cursor.tail?.floor, cursor.tail?.rows.length], [2400, { value: '500', too: true }, 1]);
  assert.deepEqual([one.read.length, one.read.includes('9000'), one.read.includes('9001')], [2501, false, true]);
  const two = await run(db, one.bounds.upper, ['insert into t values (9002,500), (9003,700)']);
  assert.deepEqual(two.read, ['9000']);
  const three = await run(db, two.bounds.upper);
  assert.deepEqual([three.read, cursorOf(db, three.bounds).value], [['9002', '9003'], '700']);
  assert.deepEqual((await run(db, three.bounds.upper)).read, []);
});

onServers(SERVERS, 'C14 with startLocation nothing below it is ever read, and late rows above it are', async (db) => {
  await db.run('create table t (id int primary key, up int)', 'insert into t values (1,3),(2,5),(3,7),(4,9)');
  for (const [useMaxFunc, first] of [
    [false, ['3', '4']],
    [true, ['2', '3', '4']],
  ] as const) {
    await db.run('delete from t where id > 9');
    const options = { startLocation: '5', useMaxFunc };
    const one = await run(db, null, ['insert into t values (11,4), (12,5), (13,6), (14,9)'], options);
    assert.deepEqual(one.read, first);
    const two = await run(db, one.bounds.upper, ['insert into t values (15,5), (16,6)'], options);
    assert.deepEqual(two.read, [...(useMaxFunc ? ['12'] : []), '13', '14']);
    assert.deepEqual((await run(db, two.bounds.upper, [], options)).read, [...(useMaxFunc ? ['15'] : []), '16']);
  }
  // A start above all there is.
  const none = await run(db, null, ['insert into t values (21,50), (22,8)'], { startLocation: '9' });
  assert.deepEqual(none.read, []);
  assert.deepEqual((await run(db, none.bounds.upper, [], { startLocation: '9' })).read, ['21']);
});

onServers(SERVERS, 'C14 an empty table, and one that is emptied', async (db) => {
  await db.run('create table t (id int primary key, up int)');
  const none = await run(db, null, ['insert into t values (1,5)']);
  assert.deepEqual([none.read, none.bounds.upper], [[], null]);
  const one = await run(db, none.bounds.upper, ['delete from t', 'insert into t values (2,4)']);
  assert.deepEqual(one.read, []);
  const two = await run(db, one.bounds.upper);
  assert.deepEqual(two.read, ['2']);
  await db.run('delete from t');
  const gone = await run(db, two.bounds.upper);
  assert.deepEqual([gone.read, gone.bounds.upper], [[], two.bounds.upper]);
});

onServers(SERVERS, 'C14 increLookback reads again what lies within it, and late rows wherever they are', async (db) => {
  await db.run('create table t (id int primary key, up int)', 'insert into t values (1,10),(2,20),(3,30),(4,40)');
  const one = await run(db, null, ['insert into t values (5,5), (6,35)']);
  const back = async (increLookback: number) => (await run(db, one.bounds.upper, [], { increLookback })).read;
  assert.deepEqual(await back(0), ['4', '5', '6']);
  assert.deepEqual(await back(10), ['3', '4', '5', '6']);
  assert.deepEqual(await back(100), ['1', '2', '3', '4', '5', '6']);
});

onServers(SERVERS, 'C14 another key of the table: rows are read again rather than missed', async (db) => {
  await db.run('create table t (id int primary key, x int not null, up int)', 'insert into t values (1,1,5),(2,2,7)');
  const one = await run(db, null);
  await db.run('alter table t drop primary key, add primary key (id, x)', 'insert into t values (3,3,7),(4,4,6)');
  const two = await run(db, one.bounds.upper);
  assert.deepEqual(two.read, ['2', '3']);
  await db.run('insert into t values (5,5,7)');
  assert.deepEqual((await run(db, two.bounds.upper)).read, ['5']);
});
