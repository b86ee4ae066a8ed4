import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { toObjects, type JsonValue, type LaneContext, type Position } from 'syncx/plugin-api';
import { findTable, rowKeyOf } from '../catalog/tables.js';
import { MysqlLaneReader } from '../read/lane-reader.js';
import type { Shape, SplitSpec } from '../read/split-spec.js';
import { SERVERS, onServers, type TestDatabase } from './servers.js';

interface Polled {
  readonly ids: string[];
  readonly positions: Position[];
  readonly warnings: string[];
  /** Resolves when so many rows were seen. */
  until(rows: number): Promise<void>;
  stop(): Promise<void>;
}

async function shapeOf(db: TestDatabase, table: string): Promise<Shape> {
  const facts = await findTable(db.session, table, db.name, 'source');
  const columns = facts.columns.map((c) => ({ name: c.name, rawType: c.rawType, nullable: c.nullable, json: false }));
  const key = rowKeyOf(facts)?.columns ?? [];
  const orderKey = columns.filter((c) => key.includes(c.name));
  return { connection: 0, database: db.name, table, query: null, columns, orderKey, primaryKey: key };
}

async function poll(
  db: TestDatabase,
  shape: Shape,
  from: Position | null = null,
  batchBytes = 1 << 20,
): Promise<Polled> {
  const [up] = shape.columns.slice(-1);
  assert.ok(up && 'rawType' in up);
  const stop = new AbortController();
  const warnings: string[] = [];
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (_f: object, m: string) => void warnings.push(m),
    error: () => undefined,
  };
  const batch = { bytes: batchBytes, rows: 65_536 };
  const lane = { signal: stop.signal, log, batch, lane: 0, lanes: 1 } as unknown as LaneContext;
  const reader = new MysqlLaneReader(
    {
      connections: [db.endpoints],
      where: null,
      zeroDate: 'keep',
      consistent: false,
      polling: { intervalMs: 20, waitMs: 0 },
    },
    lane,
    [shape],
  );
  const window = { column: up, rowKey: shape.orderKey, lower: null, upper: null };
  const spec: SplitSpec = { format: 1, shape: 0, range: null, nullsOf: null, window };
  reader.assign({ id: 's', bounded: false, spec: spec as unknown as JsonValue, weight: null }, from);
  const ids: string[] = [];
  const positions: Position[] = [];
  const reading = (async () => {
    for await (const item of reader.read(stop.signal)) {
      assert.ok(item.is === 'batch' && item.position !== null);
      ids.push(...[...toObjects(item)].map((r) => String(r['id'])));
      positions.push(item.position);
    }
  })();
  return {
    ids,
    positions,
    warnings,
    until: async (rows) => {
      while (ids.length < rows) await Promise.race([sleep(5), reading.then(() => assert.fail('it ended'))]);
    },
    stop: async () => {
      stop.abort();
      await reading;
      await reader[Symbol.asyncDispose]();
    },
  };
}

onServers(
  SERVERS,
  'polling delivers each row once: ties of the last value, late ones and changed ones, and new values',
  async (db) => {
    await db.run(
      'create table t (id int primary key, up datetime)',
      "insert into t values (1, '2024-05-01 10:00:00'), (2, '2024-05-01 10:00:00')",
    );
    const p = await poll(db, await shapeOf(db, 't'));
    await p.until(2);
    await db.run("insert into t values (3, '2024-05-01 10:00:00')");
    await p.until(3);
    for (const [id] of await db.rows(
      `select id from information_schema.processlist where db = '${db.name}' and id <> connection_id()`,
    )) {
      await db.run(`kill ${String(id)}`);
    }
    await db.run("insert into t values (5, '2024-05-01 10:00:02'), (4, '2024-05-01 10:00:01'), (6, null)");
    await p.until(5);
    await db.run("insert into t values (7, '2024-05-01 10:00:01'), (8, '2024-04-01 00:00:00')"); // below the last value
    await p.until(7);
    await db.run("update t set up = '2024-05-01 10:00:02' where id = 1", 'delete from t where id = 5');
    await p.until(8);
    await db.run("delete from t where up = '2024-05-01 10:00:02'", "insert into t values (9, '2024-04-01 00:00:00')");
    await p.until(9);
    await sleep(100); // five polls: nothing comes again
    await p.stop();
    assert.deepEqual(p.ids, ['1', '2', '3', '4', '5', '7', '8', '1', '9']);
    assert.ok(p.warnings.length <= 1); // of the connection that was killed, unless it was idle
    assert.deepEqual(p.positions.at(-1), {
      done: {
        value: '2024-05-01 10:00:02',
        rows: 6,
        tail: {
          floor: null,
          rows: [
            ['2024-05-01 10:00:01', ['4'], ['7']],
            ['2024-05-01 10:00:00', ['2'], ['3']],
            ['2024-04-01 00:00:00', ['8'], ['9']],
          ],
        },
        own: true,
      },
      window: null,
      at: null,
    });
  },
);

onServers(SERVERS, 'polling goes on behind every position, inside of windows too', async (db) => {
  await db.run('create table t (id int primary key, note varchar(100), up int)');
  for (let n = 1; n <= 60; n++) await db.run(`insert into t values (${String(n)}, repeat('x', 90), ${String(n % 7)})`);
  const shape = await shapeOf(db, 't');
  const first = await poll(db, shape, null, 1000);
  await first.until(60);
  await first.stop();
  assert.ok(first.positions.length > 5);
  await db.run(`insert into t values (61, 'late, with a value that was there', 6), (62, 'new', 9)`);
  for (const position of first.positions) {
    const known = new Set(first.ids.slice(0, seenAt(position, first.ids)));
    const rest = await poll(db, shape, position);
    await rest.until(62 - known.size);
    await rest.stop();
    assert.deepEqual(
      [...known, ...rest.ids].sort((a, b) => Number(a) - Number(b)),
      Array.from({ length: 62 }, (_, n) => String(n + 1)),
    );
  }
});

/** How many rows are read at a position: its key is an id, and ids come in order. */
function seenAt(position: Position, ids: readonly string[]): number {
  const { at } = position as { readonly at: { readonly key: readonly string[] } | null };
  return at === null ? ids.length : ids.indexOf(at.key[0] ?? '') + 1;
}

onServers(
  ['mariadb'],
  'without a key ties that come later are delivered with those that were there, and it is said',
  async (db) => {
    await db.run('create table t (id int, up int)', 'insert into t values (1, 5), (2, 5)');
    const p = await poll(db, await shapeOf(db, 't'));
    await p.until(2);
    await sleep(60);
    assert.deepEqual(p.ids, ['1', '2']);
    await db.run('insert into t values (3, 5)');
    await p.until(5);
    await db.run('insert into t values (4, 6)');
    await p.until(6);
    await p.stop();
    assert.deepEqual(p.ids, ['1', '2', '1', '2', '3', '4']);
    assert.deepEqual(p.warnings, ['rows of the last value are delivered again: no key tells the new ones apart']);
  },
);
