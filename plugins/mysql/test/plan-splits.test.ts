import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampledCuts, type KeySpace } from '../read/plan/cuts.js';
import { splitSpecOf } from '../read/split-spec.js';
import { drain, openReader, planned, rowsOf, snapshotOf, never } from './plan-support.js';
import { SERVERS, onServers } from './servers.js';

/** So that tables of a few rows are split. */
const TINY = { splitSize: 1 };
const flat = (rows: readonly (readonly string[])[]): readonly string[] => rows.flat().sort();
const sequence = (n: number): readonly string[] => Array.from({ length: n }, (_, i) => String(i + 1));
const numbers = (list: readonly string[]): readonly number[] => list.map(Number).sort((a, b) => a - b);

onServers(
  SERVERS,
  'C08 a text key is walked in the order of the server, which no program could compute',
  async (db) => {
    const tables = {
      ci: ['0000', '1111', 'aaaa', 'bbbb', 'Fxxx', 'fyyy', 'ZZZZ'],
      ci2: ['aGGGGGG', 'GbGGGGG', 'GGcGGGG', 'GGGdGGG', 'GGGGeGG', 'GGGGGfG', 'GGGGGGg'],
    };
    for (const [name, keys] of Object.entries(tables)) {
      const charset = name === 'ci' ? 'utf8mb4' : 'utf8';
      await db.run(
        `create table ${name} (id varchar(20) charset ${charset} collate ${charset}_general_ci primary key)`,
        `insert into ${name} values ('${keys.join("'), ('")}')`,
      );
      for (const lanes of [1, 2, 3, 4, 7]) {
        const { rows } = await planned(db, name, 'id', { splitPk: 'id', lanes, ...TINY });
        assert.deepEqual(flat(rows), [...keys].sort(), `${name}, ${String(lanes)} lanes`);
        if (lanes > 1) assert.ok(rows.length >= keys.length, `${String(rows.length)} splits`);
        else assert.equal(rows.length, 1);
      }
    }
  },
);

onServers(SERVERS, 'C09 every row is in one split, whatever the keys are', async (db) => {
  const cases: readonly (readonly [string, string, readonly string[], number])[] = [
    ['a', 'k int null, key (k)', ['-4', '-3', '-1', '0', '5', 'null', 'null'], 3],
    [
      'b',
      'k bigint unsigned primary key',
      ['1', '9223372036854775807', '9223372036854775808', '18446744073709551615'],
      3,
    ],
    ['d', 'k int primary key', ['7'], 3],
    ['e', 'k int primary key', ['1', '2'], 8],
    ['f', 'k bigint primary key', [...sequence(10), '9000000000000000001'], 3],
    ['g', 'k int not null, key (k)', Array.from({ length: 1000 }, () => '5'), 3],
    ['u', 'k bigint not null', ['-9223372036854775808', '9223372036854775807', '0', '0'], 3],
    ['s', 'k varchar(9), key (k)', ["'a'", "'A'", "'b'", 'null', 'null'], 3],
    ['t', 'k datetime', ["'2024-05-01'", "'2024-05-01'", "'2024-05-02'", 'null'], 3],
    ['n', 'k decimal(20,5), key (k)', ['-0.00001', '0', '1.5', '1.5', '99999.99999', 'null'], 3],
  ];
  for (const [name, definition, values, lanes] of cases) {
    await db.run(`create table ${name} (${definition})`, `insert into ${name} values (${values.join('), (')})`);
    const all = (await db.rows(`select k from ${name}`)).map(([v]) => v ?? 'NULL').sort();
    for (const splitStrategy of ['auto', 'even', 'sampled', 'keyset']) {
      const { rows } = await planned(db, name, 'k', { splitPk: 'k', splitStrategy, lanes, ...TINY });
      assert.deepEqual(flat(rows), all, `${name} ${splitStrategy}`);
      const seen = rows.flatMap((r) => [...new Set(r.map((k) => k.toLowerCase()))]);
      assert.equal(new Set(seen).size, seen.length, `${name} ${splitStrategy}: rows of one value are in one split`);
    }
  }
  assert.equal((await planned(db, 'b', 'k', { ...TINY })).rows.length, 4);
});

onServers(SERVERS, 'C09 an empty table is one split without rows', async (db) => {
  await db.run('create table c (k int primary key)');
  const { rows } = await planned(db, 'c', 'k', { splitPk: 'k', ...TINY });
  assert.deepEqual(rows, [[]]);
});

onServers(SERVERS, 'C09 no split of skewed keys is much larger than the others', async (db) => {
  await db.run(
    'create table f (k bigint primary key, v varchar(50))',
    "insert into f values (9000000000000000001, 'x')",
  );
  const some = Array.from({ length: 4096 }, (_, i) => `(${String(i)}, repeat('v', 40))`);
  await db.run(`insert into f values ${some.join(',')}`);
  const { rows } = await planned(db, 'f', 'k', { splitSize: 20_000, lanes: 4 });
  assert.equal(flat(rows).length, 4097);
  assert.ok(rows.length > 5, `${String(rows.length)} splits`);
  assert.ok(Math.max(...rows.map((r) => r.length)) < 4097 / 4, rows.map((r) => r.length).join());
});

test('sampled cuts ask at most 96 times, also where keys are as skewed as can be', async () => {
  // Keys 2^0 … 2^62: every half but one has a single key.
  const keys = Array.from({ length: 63 }, (_, i) => 2n ** BigInt(i));
  let asked = 0;
  const space: KeySpace = {
    rows: (lo, hi) => {
      asked++;
      return Promise.resolve(keys.filter((k) => k >= lo && k <= hi).length);
    },
    around: (at) => {
      asked++;
      return Promise.resolve({ below: keys.findLast((k) => k < at) ?? null, from: keys.find((k) => k >= at) ?? null });
    },
  };
  const { cuts, rows } = await sampledCuts(space, 1n, 2n ** 62n, 63, 4);
  assert.ok(asked <= 96, String(asked));
  const sum = rows.reduce((a, b) => a + b);
  assert.ok(sum >= 63 && sum < 70, String(sum)); // rounded up, part by part
  assert.deepEqual(
    cuts,
    [...cuts].sort((a, b) => (a < b ? -1 : 1)),
  );
  assert.equal(rows.length, cuts.length + 1);
});

onServers(SERVERS, 'a composite key is walked as a whole, without splitPk too', async (db) => {
  const tuples = Array.from({ length: 60 }, (_, i) => `(${String(i % 3)}, 'k${String(i)}', ${String(i)})`);
  await db.run(
    'create table c (a int, b varchar(9), v int, primary key (a, b))',
    `insert into c values ${tuples.join(',')}`,
  );
  const { rows, splits } = await planned(db, 'c', 'v', { splitSize: 300, lanes: 2 });
  assert.deepEqual(
    numbers(rows.flat()),
    Array.from({ length: 60 }, (_, i) => i),
  );
  assert.ok(splits.length >= 6, String(splits.length));
  assert.ok(rows.slice(0, -1).every((r) => r.length === rows[0]?.length));
  assert.deepEqual(
    splitSpecOf(splits[1] ?? assert.fail()).range?.columns.map((c) => c.name),
    ['a', 'b'],
  );
});

onServers(
  SERVERS,
  'a plan that is half handed out goes on where it was, with the splits it would have had',
  async (db) => {
    await db.run('create table i (k int primary key)', `insert into i values (${sequence(40).join('), (')})`);
    await db.run('create table s (k varchar(9) primary key)', `insert into s values (${sequence(40).join('), (')})`);
    const options = { splitSize: 200 };
    await using one = await openReader(db, ['i', 's'], options);
    const whole = await drain(await one.reader.planner(null, 3));
    assert.ok(whole.length > 8);
    await using two = await openReader(db, ['i', 's'], options);
    let planner = await two.reader.planner(null, 3);
    const got = [];
    for (;;) {
      // A new process each time, with other channels.
      planner = await two.reader.planner(snapshotOf(planner), 1);
      const split = await planner.next(never);
      if (split === 'end') break;
      got.push(split);
    }
    assert.deepEqual(got, whole);
    assert.equal(new Set(got.map((s) => s.id)).size, got.length);
    const rows = await rowsOf(db, two.shapes(), got, 'k');
    assert.deepEqual(numbers(rows.flat()), numbers([...sequence(40), ...sequence(40)]));
  },
);

onServers(SERVERS, 'a snapshot is written again only after a change', async (db) => {
  await db.run('create table i (k int primary key)', 'insert into i values (1)');
  await using r = await openReader(db, 'i');
  const planner = await r.reader.planner(null, 1);
  assert.equal(planner.remaining?.(), 1);
  assert.ok(!('unchangedSince' in (planner.snapshot(4) as object)));
  assert.deepEqual(planner.snapshot(5), { unchangedSince: 4 });
  assert.equal((await drain(planner)).length, 1);
  assert.equal(planner.remaining?.(), 0);
  assert.ok(!('unchangedSince' in (planner.snapshot(6) as object)));
});

onServers(SERVERS, 'rows outside of the keys that there were at first are in the first or last split', async (db) => {
  await db.run('create table i (k int primary key)', `insert into i values (${sequence(40).join('), (')})`);
  await using r = await openReader(db, 'i', { splitSize: 200 });
  const planner = await r.reader.planner(null, 3);
  await db.run('insert into i values (-5), (0), (41), (1000)');
  const splits = await drain(planner);
  const rows = await rowsOf(db, r.shapes(), splits, 'k');
  assert.ok(splits.length > 3);
  assert.deepEqual(numbers(rows.flat()), [-5, ...Array.from({ length: 42 }, (_, i) => i), 1000]);
});

onServers(
  SERVERS,
  'a column without an index splits too, with a word; one whose values have no order does not',
  async (db) => {
    await db.run(
      'create table i (k int, t varchar(9), f float)',
      `insert into i values ${sequence(30)
        .map((n) => `(${n},'t${n}',${n})`)
        .join(',')}`,
    );
    for (const splitPk of ['k', 't']) {
      const { rows, logged } = await planned(db, 'i', 'k', { splitPk, lanes: 3, ...TINY });
      assert.deepEqual(numbers(rows.flat()), sequence(30).map(Number));
      assert.ok(rows.length >= 3);
      assert.match(logged.find((l) => l.level === 'warn')?.message ?? '', /no index/);
    }
    const { rows, logged } = await planned(db, 'i', 'k', { splitPk: 'f', lanes: 3, ...TINY });
    assert.equal(rows.length, 1);
    assert.match(logged.find((l) => l.level === 'warn')?.message ?? '', /one lane reads the table/);
  },
);
