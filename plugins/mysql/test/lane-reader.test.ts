import assert from 'node:assert/strict';
import { toObjects, type JsonValue, type LaneContext, type RowBatch, type SplitEnd } from 'syncx/plugin-api';
import type { ZeroDate } from '../catalog/columns.js';
import { findTable, rowKeyOf } from '../catalog/tables.js';
import type { LaneOptions } from '../read/lane-options.js';
import { MysqlLaneReader } from '../read/lane-reader.js';
import type { Shape, SplitSpec } from '../read/split-spec.js';
import { SERVERS, onServers, type TestDatabase } from './servers.js';

const SPLIT: SplitSpec = { format: 1, shape: 0, range: null, nullsOf: null, window: null };

interface Warning {
  readonly message: string;
}

interface Reading {
  readonly batches: readonly RowBatch[];
  readonly end: SplitEnd | null;
  readonly warnings: readonly Warning[];
}

interface ReadOptions {
  readonly from?: JsonValue;
  readonly spec?: Partial<SplitSpec>;
  readonly zeroDate?: ZeroDate;
  readonly batchBytes?: number;
  /** After each batch. */
  readonly between?: (batch: RowBatch) => Promise<void>;
  /** Stop after so many batches. */
  readonly most?: number;
}

async function shapeOf(db: TestDatabase, table: string, ordered = true): Promise<Shape> {
  const facts = await findTable(db.session, table, db.name, 'source');
  const column = (name: string) => {
    const c = facts.columns.find((k) => k.name === name);
    assert.ok(c);
    return { name: c.name, rawType: c.rawType, nullable: c.nullable, json: c.type.is === 'json' };
  };
  const key = rowKeyOf(facts)?.columns ?? [];
  return {
    connection: 0,
    database: db.name,
    table,
    query: null,
    columns: facts.columns.map((c) => column(c.name)),
    orderKey: ordered ? key.map(column) : [],
    primaryKey: key,
  };
}

async function read(db: TestDatabase, shape: Shape, o: ReadOptions = {}): Promise<Reading> {
  const stop = new AbortController();
  const warnings: Warning[] = [];
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (_f: object, message: string) => void warnings.push({ message }),
    error: () => undefined,
  };
  const lane = {
    signal: stop.signal,
    log,
    batch: { bytes: o.batchBytes ?? 1 << 20, rows: 65_536 },
    lane: 0,
    lanes: 1,
  } as unknown as LaneContext;
  const options: LaneOptions = {
    connections: [db.endpoints],
    where: null,
    zeroDate: o.zeroDate ?? 'keep',
    consistent: false,
    polling: { intervalMs: 1000, waitMs: 0 },
  };
  await using reader = new MysqlLaneReader(options, lane, [shape]);
  const spec = { ...SPLIT, ...o.spec } as unknown as JsonValue;
  reader.assign({ id: 's', bounded: true, spec, weight: null }, o.from ?? null);
  const batches: RowBatch[] = [];
  let end: SplitEnd | null = null;
  for await (const item of reader.read(stop.signal)) {
    if (item.is === 'splitEnd') end = item;
    else if (item.is === 'batch') {
      batches.push(item);
      await o.between?.(item);
    }
    if (end !== null || batches.length === o.most) break;
  }
  return { batches, end, warnings };
}

const column = (r: Reading, name: string): unknown[] =>
  r.batches.flatMap((b) => [...toObjects(b)].map((row) => row[name]));

const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => String(from + i));

async function manyRows(db: TestDatabase, rows: number, key: boolean): Promise<void> {
  await db.run(`create table t (id int${key ? ' primary key' : ''}, note varchar(200) not null) engine=InnoDB`);
  for (let at = 1; at <= rows; at += 1000) {
    const values = numbers(at, Math.min(rows, at + 999)).map((n) => `(${n}, repeat('x', 180))`);
    await db.run(`insert into t values ${values.join(', ')}`);
  }
}

for (const key of [true, false]) {
  onServers(
    SERVERS,
    `a killed connection is opened again and no row is lost or doubled, ${key ? 'by key' : 'by count'}`,
    async (db) => {
      await manyRows(db, 60_000, key);
      const killed = new Set<string>();
      const r = await read(db, await shapeOf(db, 't', key), {
        batchBytes: 64 << 10,
        between: async () => {
          if (killed.size === 2) return;
          const [row] = await db.rows(
            `select id from information_schema.processlist where db = '${db.name}' and command = 'Query' and id <> connection_id()`,
          );
          const id = row?.[0] ?? null;
          if (id === null || killed.has(id)) return;
          killed.add(id);
          await db.run(`kill ${id}`);
        },
      });
      assert.ok(killed.size > 0);
      assert.deepEqual(column(r, 'id'), numbers(1, 60_000));
      assert.equal(r.warnings.length, killed.size);
      assert.match(r.warnings[0]?.message ?? '', /the connection broke; reading of .*\.t goes on behind the last row/);
    },
  );

  onServers(SERVERS, `reading goes on behind every batch, ${key ? 'by key' : 'by count'}`, async (db) => {
    await manyRows(db, 900, key);
    const shape = await shapeOf(db, 't', key);
    const whole = await read(db, shape, { batchBytes: 20_000 });
    assert.ok(whole.batches.length > 5);
    let before = 0;
    for (const batch of whole.batches) {
      before += batch.rows;
      const rest = await read(db, shape, { from: batch.position });
      assert.deepEqual(column(rest, 'id'), numbers(before + 1, 900));
    }
    const nothing = await read(db, shape, { from: whole.end?.position ?? null });
    assert.deepEqual([nothing.batches, nothing.end?.position], [[], whole.end?.position]);
  });
}

onServers(SERVERS, 'rows without a key that are others at a resume are found out', async (db) => {
  await manyRows(db, 900, false);
  const shape = await shapeOf(db, 't', false);
  const { batches } = await read(db, shape, { batchBytes: 20_000, most: 2 });
  await db.run(`delete from t where id = 3`);
  await assert.rejects(read(db, shape, { from: batches[1]?.position ?? null }), {
    code: 'SOURCE_CHANGED',
    message: /^the first \d+ rows of .*\.t are not those that were read before$/,
  });
  await db.run('delete from t where id > 3');
  await assert.rejects(read(db, shape, { from: batches[1]?.position ?? null }), { code: 'SOURCE_CHANGED' });
});

onServers(SERVERS, 'an empty table, an empty table resumed at its end', async (db) => {
  await db.run('create table t (id int primary key)');
  const shape = await shapeOf(db, 't');
  const r = await read(db, shape);
  assert.deepEqual([r.batches, r.end?.position], [[], { key: [] }]);
  const again = await read(db, shape, { from: r.end?.position ?? null });
  assert.deepEqual([again.batches, again.end?.position], [[], { key: [] }]);
});

onServers(SERVERS, 'cells of every length arrive', async (db) => {
  await db.run('create table t (id int primary key, a longtext charset utf8mb4, b longblob)');
  const lengths = [0, 1, 47, 48, 49, 250, 251, 252, 65_535, 65_536, 70_000, 1_200_000];
  for (const [i, n] of lengths.entries()) {
    await db.run(`insert into t values (${String(i)}, repeat('é', ${String(n)}), repeat(x'FF00', ${String(n)}))`);
  }
  const r = await read(db, await shapeOf(db, 't'));
  assert.deepEqual(
    column(r, 'a').map((v) => (v as string).length),
    lengths,
  );
  assert.deepEqual(
    r.batches.flatMap((b) =>
      [...toObjects(b)].map((row) =>
        Buffer.from(row['b'] as Uint8Array).equals(Buffer.from('ff00'.repeat(lengths[Number(row['id'])] ?? 0), 'hex')),
      ),
    ),
    lengths.map(() => true),
  );
});

onServers(['mariadb'], 'a cell of more than 16 MiB arrives', async (db) => {
  await db.run('create table t (id int primary key, b longblob)');
  await db.run(`insert into t values (1, repeat('x', 17000000)), (2, 'y')`);
  const r = await read(db, await shapeOf(db, 't'));
  assert.deepEqual(
    r.batches.flatMap((b) => [...toObjects(b)].map((row) => (row['b'] as Uint8Array).length)),
    [17_000_000, 1],
  );
});

onServers(SERVERS, 'zero dates: kept, NULL, or dirty', async (db) => {
  await db.run(
    'create table t (id int primary key, d date, e datetime not null, f timestamp not null)',
    "insert into t values (1, '2024-02-30', '2024-00-15 01:02:03', '2024-01-01 00:00:00'), (2, '0000-00-00', '0000-00-00 00:00:00', '0000-00-00 00:00:00'), (3, null, '2024-01-01 00:00:00', '2024-01-01 00:00:00')",
  );
  const shape = await shapeOf(db, 't');
  const rows = (r: Reading): unknown[] => r.batches.flatMap((b) => [...toObjects(b)].map((row) => Object.values(row)));
  const first = ['1', '2024-02-30', '2024-00-15 01:02:03', '2024-01-01 00:00:00'];
  const third = ['3', null, '2024-01-01 00:00:00', '2024-01-01 00:00:00'];
  const zeros = ['0000-00-00', '0000-00-00 00:00:00', '0000-00-00 00:00:00'];
  assert.deepEqual(rows(await read(db, shape)), [first, ['2', ...zeros], third]);
  assert.deepEqual(rows(await read(db, shape, { zeroDate: 'null' })), [first, ['2', null, null, null], third]);
  const refused = await read(db, shape, { zeroDate: 'error' });
  assert.deepEqual(rows(refused), [first, third]);
  assert.deepEqual(refused.batches[0]?.rejected, [
    {
      row: { id: '2', d: '0000-00-00', e: '0000-00-00 00:00:00', f: '0000-00-00 00:00:00' },
      column: 'd',
      code: 'ROW_INVALID',
      reason: `column \`d\` of ${db.name}.t holds a zero date`,
      place: `${db.name}.t`,
    },
  ]);
});

onServers(SERVERS, 'zero dates in the key: reading goes on behind them, whatever they are delivered as', async (db) => {
  await db.run(
    'create table t (d date not null, e datetime not null, id int, primary key (d, e, id))',
    "insert into t values ('0000-00-00', '0000-00-00 00:00:00', 7), ('0000-00-00', '2024-01-01 00:00:00', 8), ('2024-01-01', '0000-00-00 00:00:00', 3), ('2024-01-01', '2024-01-01 00:00:00', 1)",
  );
  const shape = await shapeOf(db, 't');
  for (const zeroDate of ['keep', 'null'] as const) {
    const positions: JsonValue[] = [];
    for (let from: JsonValue | null = null; positions.length < 4;) {
      const { batches } = await read(db, shape, {
        zeroDate,
        batchBytes: 1,
        most: 1,
        ...(from === null ? {} : { from }),
      });
      from = batches[0]?.position ?? null;
      assert.ok(from !== null, `${zeroDate}: a batch behind ${JSON.stringify(positions)}`);
      positions.push(from);
    }
    assert.deepEqual(positions, [
      { key: ['0000-00-00', '0000-00-00 00:00:00', '7'] },
      { key: ['0000-00-00', '2024-01-01 00:00:00', '8'] },
      { key: ['2024-01-01', '0000-00-00 00:00:00', '3'] },
      { key: ['2024-01-01', '2024-01-01 00:00:00', '1'] },
    ]);
  }
});

onServers(SERVERS, 'the last row of a split may be a refused one: reading goes on behind it', async (db) => {
  await db.run(
    'create table t (id int primary key, d date not null)',
    "insert into t values (1, '2024-01-01'), (2, '0000-00-00')",
  );
  const shape = await shapeOf(db, 't');
  const r = await read(db, shape, { zeroDate: 'error' });
  assert.deepEqual(r.end?.position, { key: ['2'] });
});

onServers(SERVERS, 'a failing SELECT is an error, not an end', async (db) => {
  await db.run('create table t (id int primary key)', 'insert into t values (1)');
  const shape = await shapeOf(db, 't');
  await db.run('drop table t');
  await assert.rejects(read(db, shape), { code: 'SOURCE_MISSING', message: /^cannot read .*\.t: 1146 / });
});
