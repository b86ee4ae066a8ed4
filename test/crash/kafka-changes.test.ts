/** Topics of changes into tables, killed with -9 around the two commits: each change is carried out once, in its order. */
import assert from 'node:assert/strict';
import { ownDatabase, type OwnDatabase } from '../support/databases.js';
import { kafkaTest, type OwnTopic } from '../support/kafka.js';
import { KILLS_INTO_TABLES } from '../support/kafka-job.js';
import { mysqlWriter } from '../support/mysql-job.js';
import { testServer } from '../support/services.js';
import { startSync, until } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const PARTITIONS = 3;
const TABLES = ['a', 'b'] as const;
type Table = (typeof TABLES)[number];
type Row = Readonly<Record<string, string>>;

interface Change {
  readonly table: string;
  readonly before: Row | null;
  readonly after: Row | null;
}

/** How each tool writes one change; MySQL's columns are all texts, or numbers, in it. */
const CODECS: Readonly<Record<string, (c: Change) => object>> = {
  'canal-json': ({ table, before, after }) => ({
    ...{ database: 'shop', table, isDdl: false, es: 1, ts: 2, sql: '', mysqlType: {} },
    pkNames: table === 'log' ? null : ['id'],
    type: before === null ? 'INSERT' : after === null ? 'DELETE' : 'UPDATE',
    data: [after ?? before],
    old: before !== null && after !== null ? [before] : null,
  }),
  'debezium-json': ({ table, before, after }) => ({
    before,
    after,
    op: before === null ? 'c' : after === null ? 'd' : 'u',
    ts_ms: 1,
    source: { db: 'shop', table },
  }),
};

/**
 * Inserts, updates, updates of keys, deletes, and inserts of keys that were deleted. What is done to a row is all in one
 * partition: keys that are the same modulo their number follow one another there. With each change goes a line of a log, into
 * a table without a key, where a second time would be seen.
 */
class Source {
  readonly rows: Readonly<Record<Table, Map<number, string>>> = { a: new Map(), b: new Map() };
  readonly #gone: number[] = [];
  #changes = 0;
  #ids = 0;

  get changes(): number {
    return this.#changes;
  }

  *next(): Generator<{ readonly partition: number; readonly change: Change }> {
    const n = ++this.#changes;
    const table = TABLES[n % 2] ?? 'a';
    const rows = this.rows[table];
    const ids = [...rows.keys()];
    const id = ids[(n * 7) % Math.max(1, ids.length)];
    const row = (key: number, v: string): Row => ({ id: String(key), v });
    const say = (key: number, before: Row | null, after: Row | null) => {
      const partition = key % PARTITIONS;
      const log = { table: 'log', before: null, after: { n: String(n), p: String(partition) } };
      return [{ table, before, after }, log].map((change) => ({ partition, change }));
    };
    const v = `v${String(n)}`;
    if (id === undefined || n % 5 < 2) {
      const again = n % 10 === 0 ? this.#gone.pop() : undefined;
      const key = again !== undefined && !rows.has(again) ? again : ++this.#ids;
      rows.set(key, v);
      yield* say(key, null, row(key, v));
      return;
    }
    const before = row(id, rows.get(id) ?? '');
    if (n % 5 === 2) {
      rows.set(id, v);
      yield* say(id, before, row(id, v));
    } else if (n % 5 === 3) {
      rows.delete(id);
      const key = this.#moved(id);
      rows.set(key, v);
      yield* say(id, before, row(key, v));
    } else {
      rows.delete(id);
      this.#gone.push(id);
      yield* say(id, before, null);
    }
  }

  /** A new key of the same partition. */
  #moved(id: number): number {
    do this.#ids++;
    while (this.#ids % PARTITIONS !== id % PARTITIONS);
    return this.#ids;
  }
}

const sorted = (rows: ReadonlyMap<number, string>): string[][] =>
  [...rows].sort(([a], [b]) => a - b).map(([id, v]) => [String(id), v]);

async function send(topic: OwnTopic, source: Source, codec: (c: Change) => object, changes: number): Promise<void> {
  const records = Array.from({ length: changes }, () => [...source.next()]).flat();
  await topic.send(records.map((r) => ({ partition: r.partition, value: JSON.stringify(codec(r.change)) })));
}

const logged = async (db: OwnDatabase): Promise<number> => Number((await db.query('select count(*) from log'))[0]?.[0]);

for (const [name, codec] of Object.entries(CODECS)) {
  kafkaTest(`${name} into tables, killed at any step: each change is carried out once`, async (kafka, t) => {
    const server = testServer('mariadb');
    if (server === null) {
      t.skip('no server: SYNC_MARIADB_URL is not set');
      return;
    }
    await using db = await ownDatabase(server.url);
    for (const table of TABLES)
      await db.query(`create table ${table} (id int primary key, v varchar(20)) engine=InnoDB`);
    await db.query('create table log (n int, p int) engine=InnoDB');
    await using topic = await kafka.topic({ partitions: PARTITIONS });
    using ws = new Workspace();
    const reader = { brokers: kafka.brokers, topic: topic.name, mode: 'earliest-offset', bounded: 'no', codec: name };
    const job = ws.job({
      job: {
        content: [{ reader: { name: 'kafkareader', parameter: reader }, writer: mysqlWriter(db, '*') }],
        setting: { speed: { channel: 2 }, checkpoint: { interval: 100 } },
      },
    });
    const args = ['run', job, '--output', 'json'];
    const source = new Source();
    for (const failpoint of KILLS_INTO_TABLES) {
      const run = startSync(args, { cwd: ws.dir, failpoint });
      await until(`it is killed at ${failpoint}`, async () => {
        await send(topic, source, codec, 10);
        return run.child.signalCode !== null || run.child.exitCode !== null;
      });
      const r = await run.done;
      assert.equal(r.signal, 'SIGKILL', `${failpoint}: ${r.stderr}`);
    }
    const last = startSync(args, { cwd: ws.dir });
    await until(
      'all changes are there',
      async () => (await logged(db)) >= source.changes || last.child.exitCode !== null,
    );
    last.child.kill('SIGTERM');
    const r = await last.done;
    assert.equal(r.code, 143, r.stderr);
    assert.equal(r.summary?.delivery, 'exactly-once');
    const { changes } = source;
    const log = await db.query('select count(*), count(distinct n), min(n), max(n) from log');
    assert.deepEqual(log, [[changes, changes, 1, changes].map(String)]);
    for (const table of TABLES)
      assert.deepEqual(await db.query(`select id, v from ${table} order by id`), sorted(source.rows[table]));
  });
}
