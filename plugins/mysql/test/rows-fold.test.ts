/** Changes of a batch that are carried out at once: the same rows as one by one, in few statements. */
import assert from 'node:assert/strict';
import type { RowBatch, RowOp } from 'syncx/plugin-api';
import fc from 'fast-check';
import { batchOf, column, table, writeAll, type Value } from './rows-support.js';
import { SERVERS, onServers } from './servers.js';
import { drive, never } from './writer-drive.js';

const I: RowOp = 0;
const B: RowOp = 1;
const A: RowOp = 2;
const D: RowOp = 3;

type Change = readonly [RowOp, ...Value[]];

/** A table, values of its key (two of them where it has two columns), and whether its changes are folded. */
interface Kind {
  readonly create: string;
  readonly key: readonly string[];
  readonly type: string;
  readonly folds: boolean;
}

const text = (collation: string, key: readonly string[], folds: boolean): Kind => ({
  create: `create table t (k varchar(10) character set utf8mb4 collate ${collation} primary key, v int) engine=InnoDB`,
  ...{ key, type: 'string', folds },
});

const KINDS: Readonly<Record<string, Kind>> = {
  int: {
    create: 'create table t (k int primary key, v int) engine=InnoDB',
    ...{ key: ['1', '2', '3', '-1'], type: 'int', folds: true },
  },
  text: text('utf8mb4_general_ci', ['a', 'b', 'a-b', 'a_b', '1', '01'], true),
  'text of both cases': text('utf8mb4_general_ci', ['a', 'A', 'b', 'B'], false),
  'text of both cases that differ': text('utf8mb4_bin', ['a', 'A', 'b', 'B'], false),
  'text with blanks': text('utf8mb4_general_ci', ['a', 'a ', 'b'], false),
  'text with marks': text('utf8mb4_general_ci', ['a', 'ä', 'ß', 's'], false),
  'collation that equals letters': text('utf8mb4_swedish_ci', ['v', 'w', 'y'], false),
  'texts for numbers': {
    create: 'create table t (k int primary key, v int) engine=InnoDB',
    ...{ key: ['1', '01', '2', '+2'], type: 'string', folds: false },
  },
  'a second unique key': {
    create: 'create table t (k int primary key, v int, unique key (v)) engine=InnoDB',
    ...{ key: ['1', '2', '3'], type: 'int', folds: false },
  },
  'a second unique key of a part': {
    create: 'create table t (k int primary key, v varchar(5), unique key (v(1))) engine=InnoDB',
    ...{ key: ['1', '2', '3'], type: 'int', folds: false },
  },
};

interface Step {
  readonly what: 'put' | 'delete' | 'move';
  readonly a: number;
  readonly b: number;
  readonly v: number;
}

const step = fc.record({
  what: fc.constantFrom('put', 'delete', 'move'),
  a: fc.nat(5),
  b: fc.nat(5),
  v: fc.nat(3),
}) as fc.Arbitrary<Step>;

const keyOf = (kind: Kind, n: number): string => kind.key[n % kind.key.length] ?? '';

function changesOf(kind: Kind, steps: readonly Step[]): readonly Change[] {
  return steps.flatMap(({ what, a, b, v }): readonly Change[] => {
    const [from, to] = [keyOf(kind, a), keyOf(kind, b)];
    if (what === 'put') return [[I, from, String(v)]];
    if (what === 'delete') return [[D, from, null]];
    return [
      [B, from, null],
      [A, to, String(v)],
    ];
  });
}

function batchOfChanges(kind: Kind, changes: readonly Change[]): RowBatch {
  return batchOf(
    [column('k', kind.type), column('v', 'int')],
    changes.map(([, ...cells]) => cells),
    changes.map(([op]) => op),
  );
}

for (const [name, kind] of Object.entries(KINDS)) {
  onServers(SERVERS, `folded changes come to the same rows as one by one: ${name}`, async (db) => {
    await db.run(kind.create);
    let folded = 0;
    const apply = async (batches: readonly (readonly Step[])[], mayReorder: boolean) => {
      await db.run('delete from t');
      const made = batches.map((steps) => batchOfChanges(kind, changesOf(kind, steps)));
      const { rejected, to } = await writeAll(db, 't', made, { mayReorder: () => Promise.resolve(mayReorder) });
      return { rows: await table(db, 'select k, v from t order by binary k'), rejected, sent: to.sent.length };
    };
    const batches = fc.array(fc.array(step, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(batches, async (all) => {
        const [ordered, reordered] = [await apply(all, false), await apply(all, true)];
        assert.deepEqual(reordered.rows, ordered.rows);
        assert.deepEqual(reordered.rejected, ordered.rejected);
        if (reordered.sent < ordered.sent) folded++;
      }),
      { numRuns: 25 },
    );
    if (kind.folds) assert.ok(folded > 12, String(folded));
    else if (/both cases|blanks|marks/.test(name)) assert.ok(folded < 25, String(folded));
    else assert.equal(folded, 0);
  });
}

onServers(SERVERS, 'a thousand changes of all kinds are two statements, deletes first', async (db) => {
  await db.run('create table t (k int primary key, v int) engine=InnoDB');
  const kind = KINDS['int'];
  assert.ok(kind !== undefined);
  const changes = Array.from({ length: 1000 }, (_, i): Change => [
    i % 3 === 2 ? D : I,
    String(i % 3 === 2 ? i - 2 : i),
    String(i),
  ]);
  const { to } = await writeAll(db, 't', [batchOfChanges(kind, changes)]);
  assert.equal(to.sent.length, 2);
  assert.match(to.sent[0] ?? '', /^delete from /);
  assert.deepEqual(await table(db, 'select count(*), min(k), max(k) from t'), ['334|1|999']);
});

onServers(SERVERS, 'a patch keeps changes in their order', async (db) => {
  await db.run('create table t (k int primary key, v int, w int) engine=InnoDB');
  const columns = [column('k', 'int'), column('v', 'int'), column('w', 'int')];
  const changes: readonly Change[] = [
    [I, '1', '1', '1'],
    [D, '2', null, null],
    [A, '1', undefined, '2'],
    [D, '1', null, null],
    [I, '1', '3', '3'],
    [A, '1', '4', undefined],
  ];
  const batch = batchOf(
    columns,
    changes.map(([, ...cells]) => cells),
    changes.map(([op]) => op),
  );
  const { rejected } = await writeAll(db, 't', [batch]);
  assert.deepEqual(rejected, []);
  assert.deepEqual(await table(db, 'select * from t'), ['1|4|3']);
});

/** Tables that take turns, row by row. */
function turns(rows: readonly (readonly [table: string, RowOp, k: string])[]): RowBatch {
  const parts = rows.map(([, op, k]) => batchOf([column('k', 'int')], [[k]], [op]));
  const data = Buffer.concat(parts.map((p) => p.data.subarray(0, (p.ends[0] ?? 0) & 0x3fff_ffff)));
  let end = 0;
  const [first] = parts;
  assert.ok(first !== undefined);
  return {
    ...first,
    data,
    ends: Uint32Array.from(parts, (p) => (end += p.ends[0] ?? 0)),
    ops: Uint8Array.from(rows, ([, op]) => op),
    rows: rows.length,
    sections: rows.map(([name], i) => {
      const schema = batchOf([column('k', 'int')], [['0']]).sections[0]?.schema;
      assert.ok(schema !== undefined);
      return { schema: { ...schema, table: `db.${name}` }, firstRow: i, firstCell: i, rows: 1 };
    }),
  };
}

const statements = async (db: Parameters<Parameters<typeof onServers>[2]>[0]): Promise<number> => {
  const [row] = await db.rows("show global status like 'Com_insert'");
  return Number(row?.[1]);
};

onServers(SERVERS, 'tables that take turns in a batch have one statement each', async (db) => {
  await db.run('create table a (k int primary key) engine=InnoDB', 'create table b (k int primary key) engine=InnoDB');
  const d = await drive(db, { connection: [{ jdbcUrl: db.jdbcUrl, table: ['*'] }], batchSize: 1000 });
  await using lane = await d.lane();
  const rows = Array.from({ length: 400 }, (_, i) => [i % 2 === 0 ? 'a' : 'b', I, String(i)] as const);
  await lane.write(
    turns([
      ['a', I, '1000'],
      ['b', I, '1000'],
    ]),
    never,
  );
  const before = await statements(db);
  assert.equal((await lane.write(turns(rows), never)).rejected, null);
  await lane.prepare(1);
  const sent = (await statements(db)) - before;
  await lane.commit(1);
  assert.deepEqual(await table(db, 'select count(*) from a union all select count(*) from b'), ['201', '201']);
  assert.ok(sent < 10, String(sent));
});

onServers(SERVERS, 'tables of a foreign key keep the order of the rows', async (db) => {
  await db.run(
    'create table a (k int primary key) engine=InnoDB',
    'create table b (k int primary key, foreign key (k) references a (k)) engine=InnoDB',
  );
  const d = await drive(db, { connection: [{ jdbcUrl: db.jdbcUrl, table: ['*'] }], batchSize: 1000 });
  await using lane = await d.lane();
  const write = async (...rows: (readonly [string, RowOp, string])[]) => {
    assert.equal((await lane.write(turns(rows), never)).rejected, null);
  };
  await write(['a', I, '1'], ['b', I, '1']);
  await write(['a', I, '2'], ['b', D, '1'], ['a', D, '1'], ['b', I, '2']);
  assert.equal((await lane.prepare(1)).rejected, null);
  await lane.commit(1);
  assert.deepEqual(await table(db, 'select a.k, b.k from a left join b on a.k = b.k'), ['2|2']);
});

onServers(SERVERS, 'a trigger sees every change', async (db) => {
  await db.run(
    'create table t (k int primary key) engine=InnoDB',
    'create table log (what char(1), k int) engine=InnoDB',
    `create trigger came after insert on t for each row insert into log values ('i', new.k)`,
    `create trigger went after delete on t for each row insert into log values ('d', old.k)`,
  );
  const d = await drive(db, { batchSize: 1000 });
  await using lane = await d.lane();
  const changes = [I, D, I].map((op) => ['1', op] as const);
  const batch = (rows: readonly (readonly [string, RowOp])[]): RowBatch =>
    batchOf(
      [column('k', 'int')],
      rows.map(([k]) => [k]),
      rows.map(([, op]) => op),
    );
  // The first batch has inserts alone.
  await lane.write(batch([['7', I]]), never);
  await lane.write(batch(changes), never);
  await lane.prepare(1);
  await lane.commit(1);
  assert.deepEqual(await table(db, 'select what, k from log'), ['i|7', 'i|1', 'd|1', 'i|1']);
});
