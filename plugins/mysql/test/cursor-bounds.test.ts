import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CursorBounds, JsonObject, JsonValue } from 'syncx/plugin-api';
import { fillOptions, testContext } from 'syncx/plugin-testkit';
import type { Session } from '../connect/session.js';
import { reader as definition } from '../reader.js';
import type { ReaderOptions } from '../reader-options.js';
import { nextBounds } from '../read/cursor/bounds.js';
import { cursorTable } from '../read/cursor/cursor-tables.js';
import { parseLookback } from '../read/cursor/lookback.js';
import { startValue } from '../read/cursor/start-location.js';
import { planShapes } from '../read/plan/plan-shapes.js';
import { SourceSessions } from '../read/plan/source-sessions.js';
import { splitSpecOf, type CursorRows } from '../read/split-spec.js';
import { drain, jobOptions, never, openReader, rowsOf, type Logged } from './plan-support.js';
import { SERVERS, onServers, type TestDatabase } from './servers.js';

interface Run {
  readonly bounds: CursorBounds;
  /** Values of `id` that the run reads, of all splits. */
  readonly ids: readonly string[];
  readonly logged: readonly Logged[];
}

/** A run of a job with a cursor after one that ended at `lower`. */
async function run(
  db: TestDatabase,
  lower: JsonValue | null,
  options: JsonObject,
  between?: () => Promise<void>,
): Promise<Run> {
  await using r = await openReader(db, 't', { increWait: 0, ...options });
  const bounds = await r.reader.bounds?.(lower);
  assert.ok(bounds);
  await between?.();
  const splits = await drain(await r.reader.planner(null, 3, bounds));
  const rows = await rowsOf(db, r.shapes(), splits, 'id', (options['where'] as string | undefined) ?? null);
  return { bounds, ids: rows.flat().sort(), logged: r.logged };
}

const cursorOf = (db: TestDatabase, b: CursorBounds): unknown =>
  (b.upper as Record<string, unknown> | null)?.[`${db.name}.t`];

/** A cursor that names all rows there are. */
const named = (value: string, ...rows: readonly CursorRows[]): unknown => ({
  value,
  rows: rows.reduce((n, [, ...keys]) => n + keys.length, 0),
  by: ['id'],
  tail: { floor: null, rows },
});

async function boundary(db: TestDatabase, type: string, a: string, b: string, c: string): Promise<void> {
  await db.run(
    `create table t (id int primary key, up ${type})`,
    `insert into t values (1,'${a}'),(2,'${a}'),(3,'${b}')`,
  );
  const options = { increColumn: 'up' };
  const one = await run(db, null, options);
  assert.deepEqual(one.ids, ['1', '2', '3']);
  assert.deepEqual(cursorOf(db, one.bounds), named(b, [b, ['3']], [a, ['1'], ['2']]));
  await db.run(`insert into t values (4,'${b}'),(5,'${c}')`);
  const two = await run(db, one.bounds.upper, options);
  assert.deepEqual(two.ids, ['4', '5']);
  assert.deepEqual(cursorOf(db, two.bounds), named(c, [c, ['5']], [b, ['3'], ['4']], [a, ['1'], ['2']]));
  const three = await run(db, two.bounds.upper, options);
  assert.deepEqual(three.ids, []);
  assert.deepEqual(three.bounds, { lower: two.bounds.upper, upper: two.bounds.upper });
  // A tie of the last value alone is news too; and the keys of a value add up.
  await db.run(`insert into t values (6,'${c}')`);
  const four = await run(db, three.bounds.upper, options);
  assert.deepEqual(
    [four.ids, cursorOf(db, four.bounds)],
    [['6'], named(c, [c, ['5'], ['6']], [b, ['3'], ['4']], [a, ['1'], ['2']])],
  );
  // Rows that go, or move back, take nothing along.
  await db.run('delete from t where id in (4, 5, 6)');
  const five = await run(db, four.bounds.upper, options);
  assert.deepEqual([five.ids, five.bounds.upper], [[], four.bounds.upper]);
}

onServers(SERVERS, 'C14 rows that share the last value are read once, whenever they come', async (db) => {
  await boundary(db, 'timestamp null', '2024-05-01 10:00:00', '2024-05-01 10:00:01', '2024-05-01 10:00:02');
});

onServers(['mariadb'], 'C14 the cursor has all digits of the value', async (db) => {
  await boundary(
    db,
    'datetime(6)',
    '2024-05-01 10:00:00.123455',
    '2024-05-01 10:00:00.123456',
    '2024-05-01 10:00:00.123457',
  );
});

onServers(SERVERS, 'C14 what is committed between the bounds and the read is of this run or the next', async (db) => {
  await db.run('create table t (id int primary key, up int, key (up))', 'insert into t values (1,5),(2,7)');
  const one = await run(db, null, { increColumn: 'up' }, () => db.run('insert into t values (3,7),(4,9),(5,6)'));
  assert.deepEqual(one.ids, ['1', '2']);
  const two = await run(db, one.bounds.upper, { increColumn: 'up' });
  assert.deepEqual(two.ids, ['3', '4', '5']); // at the end, above and below it
});

/** A session that tells of its statements before they are sent. */
function telling(session: Session, tell: (sql: string) => Promise<void>): Session {
  const query = async (sql: string, doing: string) => {
    await tell(sql);
    return session.query(sql, doing);
  };
  return new Proxy(session, { get: (s, name) => (name === 'query' ? query : (Reflect.get(s, name, s) as unknown)) });
}

onServers(SERVERS, 'C14 a transaction that was open when the end was determined is waited for', async (db) => {
  await db.run('create table t (id int primary key, up int) engine=InnoDB', 'insert into t values (1,5),(2,7)');
  await using late = await db.open('sink');
  await late.run('start transaction', 'begin');
  await late.run('insert into t values (3,6),(4,7)', 'insert');
  const options = fillOptions(definition, jobOptions(db, 't', { increColumn: 'up' })) as ReaderOptions;
  await using sessions = new SourceSessions([db.endpoints], never);
  const tables = (await planShapes(options, sessions)).map((p) => cursorTable(p, options));
  const asked: string[] = [];
  const tell = async (sql: string): Promise<void> => {
    asked.push(/trx_id in/.test(sql) ? 'waits' : /innodb_trx/.test(sql) ? 'looks' : /max/.test(sql) ? 'max' : 'rows');
    if (asked.filter((a) => a === 'waits').length === 2) await late.run('commit', 'commit');
  };
  const told = { on: <T>(c: number, ask: (s: Session) => Promise<T>) => sessions.on(c, (s) => ask(telling(s, tell))) };
  const { upper } = await nextBounds(null, tables, {
    sessions: told as SourceSessions,
    log: testContext().log,
    signal: never,
    waitMs: 30_000,
    start: () => null,
  });
  assert.deepEqual(upper, { [`${db.name}.t`]: named('7', ['7', ['2'], ['4']], ['6', ['3']], ['5', ['1']]) });
  assert.deepEqual([asked.slice(0, 4), asked.at(-1)], [['max', 'looks', 'waits', 'waits'], 'rows']);
  const { ids } = await run(db, null, { increColumn: 'up' });
  assert.deepEqual(ids, ['1', '2', '3', '4']);
});

onServers(SERVERS, 'C14 the wait for open transactions has an end, which is told', async (db) => {
  await db.run('create table t (id int primary key, up int) engine=InnoDB', 'insert into t values (1,5)');
  await using late = await db.open('sink');
  await late.run('start transaction', 'begin');
  await late.run('insert into t values (3,4)', 'insert');
  const { ids, logged } = await run(db, null, { increColumn: 'up', increWait: 200 });
  assert.deepEqual(ids, ['1']);
  assert.match(logged.find((l) => l.level === 'warn')?.message ?? '', /still open after 0.2 s.*increLookback/);
});

onServers(SERVERS, 'rows of the last value come again where no key tells them apart, and only then', async (db) => {
  await db.run('create table t (id int, up int)', 'insert into t values (1,5),(2,7),(3,7)');
  const options = { increColumn: 'up' };
  const one = await run(db, null, options);
  assert.deepEqual(one.ids, ['1', '2', '3']);
  assert.deepEqual(cursorOf(db, one.bounds), { value: '7', rows: 2, by: [], tail: null });
  assert.match(
    one.logged.find((l) => l.level === 'info')?.message ?? '',
    /may be delivered again by the next run: no key/,
  );
  const quiet = await run(db, one.bounds.upper, options);
  assert.deepEqual([quiet.ids, quiet.bounds.upper], [[], one.bounds.upper]);
  await db.run('insert into t values (4,7)');
  assert.deepEqual((await run(db, one.bounds.upper, options)).ids, ['2', '3', '4']);
});

onServers(SERVERS, 'more than 10,000 rows of one value are not remembered one by one', async (db) => {
  await db.run('create table t (id int primary key, up int, key (up))');
  for (let i = 0; i < 3; i++) {
    const rows = Array.from({ length: 4000 }, (_, k) => `(${String(i * 4000 + k)},7)`);
    await db.run(`insert into t values ${rows.join(',')}`);
  }
  const one = await run(db, null, { increColumn: 'up' });
  assert.equal(one.ids.length, 12_000);
  assert.deepEqual(cursorOf(db, one.bounds), { value: '7', rows: 12_000, by: ['id'], tail: null });
});

onServers(SERVERS, 'rows with NULL in the column are never read, and counted', async (db) => {
  await db.run('create table t (id int primary key, up int)', 'insert into t values (1,5),(2,null),(3,null)');
  const { ids, logged } = await run(db, null, { increColumn: 'up' });
  assert.deepEqual(ids, ['1']);
  const told = logged.filter((l) => l.level === 'warn');
  assert.deepEqual(
    told.map((l) => l.fields),
    [{ table: `${db.name}.t`, column: 'up', rows: 2 }],
  );
  await db.run('delete from t where id = 1');
  const none = await run(db, null, { increColumn: 'up' });
  assert.deepEqual([none.ids, none.bounds], [[], { lower: null, upper: null }]);
});

onServers(SERVERS, 'startLocation, where, and a split column within the window', async (db) => {
  const rows = Array.from({ length: 40 }, (_, i) => `(${String(i)},${String(i % 10)})`);
  await db.run('create table t (id int primary key, up int, key (up))', `insert into t values ${rows.join(',')}`);
  const ids = async (o: JsonObject): Promise<readonly number[]> =>
    (await run(db, null, { increColumn: 'up', ...o })).ids.map(Number).sort((a, b) => a - b);
  assert.deepEqual(await ids({ startLocation: '8' }), [9, 19, 29, 39]);
  assert.deepEqual(await ids({ startLocation: '8', useMaxFunc: true }), [8, 9, 18, 19, 28, 29, 38, 39]);
  assert.deepEqual(await ids({ startLocation: '9' }), []);
  assert.deepEqual(await ids({ startLocation: '8', where: 'id < 15 or id > 35' }), [9, 39]);
  assert.deepEqual(await ids({ splitSize: 1, splitPk: 'id', startLocation: '8' }), [9, 19, 29, 39]);
  await using r = await openReader(db, 't', { increColumn: 'up', splitSize: 100, startLocation: '4', increWait: 0 });
  const splits = await drain(await r.reader.planner(null, 3, await r.reader.bounds?.(null)));
  assert.ok(splits.length > 3, String(splits.length));
  const found = await rowsOf(db, r.shapes(), splits, 'id');
  assert.equal(found.flat().length, 20);
  assert.equal(new Set(found.flat()).size, 20);
});

onServers(SERVERS, 'a look back reads again what lies shortly below', async (db) => {
  await db.run('create table t (id int primary key, up int unsigned)', 'insert into t values (1,5),(2,7)');
  const one = await run(db, null, { increColumn: 'up' });
  await db.run('insert into t values (3,6),(4,1)');
  const again = async (increLookback: number | string) =>
    (await run(db, one.bounds.upper, { increColumn: 'up', increLookback })).ids;
  assert.deepEqual(await again(1), ['2', '3', '4']); // 4 is below it, and was never read
  assert.deepEqual(await again(100), ['1', '2', '3', '4']);
  await db.run('drop table t', 'create table t (id int primary key, up datetime)');
  await db.run("insert into t values (1,'2024-05-01 00:04:59'),(2,'2024-05-01 00:05:00'),(3,'2024-05-01 00:10:00')");
  const times = await run(db, null, { increColumn: 'up' });
  assert.deepEqual((await run(db, times.bounds.upper, { increColumn: 'up', increLookback: '5m' })).ids, ['2', '3']);
});

onServers(SERVERS, 'a polling job has one split without an end for each table', async (db) => {
  await db.run('create table t (id int primary key, up int)', 'insert into t values (1,5),(2,7),(3,7)');
  const poll = async (o: JsonObject) => {
    await using r = await openReader(db, 't', { increColumn: 'up', polling: true, ...o });
    assert.equal(r.reader.bounds, undefined);
    const splits = await drain(await r.reader.planner(null, 3));
    const [split] = splits;
    assert.ok(split);
    assert.deepEqual([splits.length, split.id, split.bounded], [1, '0-poll', false]);
    const window = splitSpecOf(split).window;
    assert.equal(window?.upper, null);
    return window.lower;
  };
  assert.equal(await poll({}), null);
  assert.deepEqual(await poll({ startLocation: '6' }), { value: '6', own: true, tail: null });
  assert.deepEqual(await poll({ pollingFromMax: true }), {
    value: '7',
    own: true,
    tail: {
      floor: null,
      rows: [
        ['7', ['2'], ['3']],
        ['5', ['1']],
      ],
    },
  });
});

onServers(['mariadb'], 'a user without the right PROCESS is told what is missed', async (db) => {
  const user = `u_${db.name.slice(2, 10)}`;
  await db.run('create table t (id int primary key, up int)', 'insert into t values (1,5)');
  await db.run(`create user ${user}@'%' identified by 'secret'`, `grant select on ${db.name}.* to ${user}@'%'`);
  try {
    await using r = await openReader(db, 't', { username: user, password: 'secret', increColumn: 'up' });
    const bounds = await r.reader.bounds?.(null);
    assert.deepEqual(bounds?.upper, { [`${db.name}.t`]: named('5', ['5', ['1']]) });
    assert.match(r.logged.find((l) => l.level === 'warn')?.message ?? '', /right PROCESS/);
  } finally {
    await db.run(`drop user ${user}@'%'`);
  }
});

test('startLocation as a value of the column, and what is none', () => {
  const of = (rawType: string, text: string): string =>
    startValue({ name: 'c', rawType, nullable: true, json: false }, text);
  assert.equal(of('timestamp', '2024-05-01 10:00:02'), '2024-05-01 10:00:02');
  assert.equal(of('datetime(6)', '2024-05-01'), '2024-05-01 00:00:00');
  assert.equal(of('datetime', '1714557602'), '2024-05-01 10:00:02');
  assert.equal(of('datetime(6)', '1714557602123456'), '2024-05-01 10:00:02.123456');
  assert.equal(of('timestamp', '1714557602000'), '2024-05-01 10:00:02');
  assert.equal(of('date', '1714557602000'), '2024-05-01');
  assert.equal(of('bigint(20) unsigned', '18446744073709551615'), '18446744073709551615');
  for (const [type, text] of [
    ['int(11)', 'x'],
    ['datetime', '1,2'],
    ['int(11)', '5,6'],
  ] as const) {
    assert.throws(() => of(type, text), { code: 'JOB_INVALID', place: 'reader.parameter.startLocation' });
  }
});

test('increLookback as numbers and times', () => {
  assert.deepEqual(parseLookback('5m'), { seconds: 300 });
  assert.deepEqual(parseLookback(' 2 h '), { seconds: 7200 });
  assert.deepEqual(parseLookback(10), { number: 10n });
  assert.equal(parseLookback('5 weeks'), null);
});
