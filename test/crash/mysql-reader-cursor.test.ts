/** kill -9 of incremental and polling jobs, while rows come: each row arrives once, ties and late ones too. */
import assert from 'node:assert/strict';
import { assertKilled, atOnce } from '../support/crash.js';
import { ownDatabase, type OwnDatabase } from '../support/databases.js';
import { assertDone, jobFile, mysqlReader, mysqlWriter, numberOf, type JobParts } from '../support/mysql-job.js';
import {
  insertRows,
  isInsideSplit,
  makeSource,
  makeTarget,
  rowsOf,
  runKilled,
  slow,
  type Cell,
  type SourceTable,
} from '../support/mysql-source.js';
import { MYSQL_SERVERS, serverTest } from '../support/services.js';
import { startSync, until, type SyncProcess } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const PAD = '.'.repeat(60);
/** Bytes; a hundred rows or so. */
const SPLIT = 16_000;
const BATCH = 20;
const AT_ONCE = 4;
/** Other tests have transactions open on the server, which are not of these tables. */
const WAIT = { increWait: 500 };

/** What the column holds, from a number. */
type Up = (n: number) => string;

const UPS: Readonly<Record<string, readonly [type: string, up: Up]>> = {
  int: ['int', String],
  datetime: ['datetime', (n) => new Date(Date.UTC(2024, 0, 1) + n * 1000).toISOString().slice(0, 19).replace('T', ' ')],
};

/** Three rows have each value. */
const source = (type: string, up: Up, rows: number): SourceTable => ({
  columns: { id: 'int', up: `${type} null`, v: 'varchar(80)' },
  keys: 'primary key (id), key (up)',
  rows,
  row: (n) => [String(n), up(Math.floor(n / 3)), `${PAD}${String(n)}`],
});

const COLUMNS = ['id', 'up', 'v'] as const;

/** Rows that come while a job runs, or is dead. */
class Arrivals {
  readonly #db: OwnDatabase;
  readonly #table: string;
  readonly #up: Up;
  #last: number;
  #top: number;

  constructor(db: OwnDatabase, table: string, up: Up, rows: number) {
    this.#db = db;
    this.#table = table;
    this.#up = up;
    this.#last = rows;
    this.#top = Math.floor(rows / 3);
  }

  /**
   * A third have the highest value that there is, a third higher ones, a third (unless told otherwise) lower ones; and one
   * has none.
   * @returns the value that was the highest.
   */
  async add(each: number, { late = true } = {}): Promise<string> {
    const tie = this.#top;
    const rows: Cell[][] = [];
    const row = (up: number | null): void => {
      const id = String(++this.#last);
      rows.push([id, up === null ? null : this.#up(up), `${PAD}late ${id}`]);
    };
    for (let i = 0; i < each; i++) {
      row(tie);
      row(++this.#top);
      if (late) row(Math.max(0, tie - 2 - (i % 100)));
    }
    row(null);
    await insertRows(this.#db, this.#table, rows);
    return this.#up(tie);
  }
}

const READ = '(select * from s where up is not null) x';

const SEQUENCES = [
  ['write.after#3', 'ckpt.after#3', 'prepare.after#3', 'complete.before', 'write.before#2', 'finished.after'],
  ['attempt.after', 'commit.data#4', 'outcome.before#3', 'finished.after', 'ckpt.before#2', 'run.chosen'],
];

serverTest(
  MYSQL_SERVERS,
  'increColumn: killed, and rows come before the next start; each is delivered once',
  async (server, t) => {
    // Each type on each server, with one sequence here and the other one there.
    const first = MYSQL_SERVERS.indexOf(server.kind);
    const cases = Object.values(UPS).map((u, i) => [...u, SEQUENCES[(first + i) % SEQUENCES.length] ?? []] as const);
    await atOnce(AT_ONCE, cases, async ([type, up, kills]) => {
      await t.test(`${type}: ${kills.join(', ')}`, async () => {
        await using db = await ownDatabase(server.url);
        using ws = new Workspace();
        const table = source(type, up, 360);
        await makeSource(db, table);
        await makeTarget(db, table);
        const arrivals = new Arrivals(db, 's', up, table.rows);
        let inside = 0;
        const r = await runKilled({
          ws,
          job: {
            reader: mysqlReader(db, 's', { increColumn: 'up', splitSize: SPLIT, ...WAIT }),
            writer: mysqlWriter(db, 't'),
            setting: slow(2, BATCH),
          },
          kills,
          between: async () => {
            if (isInsideSplit(ws)) inside++;
            await arrivals.add(20);
          },
        });
        assertDone(r);
        assert.equal(r.summary?.delivery, 'exactly-once');
        assert.ok(inside > 0, 'no kill was inside of a split');
        assert.deepEqual(await rowsOf(db, 't', COLUMNS), await rowsOf(db, READ, COLUMNS));
      });
    });
  },
  AT_ONCE,
);

/** Of rows that change while the job is dead each state that is read is delivered; a target with a key has the last one. */
serverTest(MYSQL_SERVERS, 'increColumn: rows that change before the next start are read again', async (server) => {
  await using db = await ownDatabase(server.url);
  using ws = new Workspace();
  const table = source('int', String, 360);
  await makeSource(db, table);
  await db.query('create table t like s');
  let top = 1000;
  const r = await runKilled({
    ws,
    job: {
      reader: mysqlReader(db, 's', { increColumn: 'up', splitSize: SPLIT, ...WAIT }),
      writer: mysqlWriter(db, 't', { writeMode: 'update' }),
      setting: slow(2, BATCH),
    },
    kills: ['write.after#3', 'ckpt.after#3', 'commit.data#3', 'finished.after', 'outcome.before'],
    between: async (i) => {
      // Some were read, some were not.
      await db.query(`update s set up = ${String(++top)}, v = concat(v, ' ${String(i)}') where id % 10 = ${String(i)}`);
    },
  });
  assertDone(r);
  assert.deepEqual(await rowsOf(db, 't', COLUMNS), await rowsOf(db, 's', COLUMNS));
});

const timesOf = (lines: readonly string[]): ReadonlyMap<string, number> => {
  const times = new Map<string, number>();
  for (const l of lines) times.set(l, (times.get(l) ?? 0) + 1);
  return times;
};

serverTest(
  MYSQL_SERVERS,
  'increColumn without a key: killed, none is lost, and only rows that had the highest value come again',
  async (server) => {
    await using db = await ownDatabase(server.url);
    using ws = new Workspace();
    const table = { ...source('int', String, 180), keys: 'key (up)' };
    await makeSource(db, table);
    await makeTarget(db, table);
    const arrivals = new Arrivals(db, 's', String, table.rows);
    const highest = new Set<string>();
    const r = await runKilled({
      ws,
      job: {
        reader: mysqlReader(db, 's', { increColumn: 'up', ...WAIT }),
        writer: mysqlWriter(db, 't'),
        setting: slow(1, BATCH),
      },
      kills: ['write.after#3', 'ckpt.after#3', 'finished.after', 'commit.data#1', 'finished.after'],
      between: async () => {
        highest.add(await arrivals.add(10, { late: false }));
      },
    });
    assertDone(r);
    const [want, got] = [await rowsOf(db, READ, COLUMNS), await rowsOf(db, 't', COLUMNS)];
    assert.deepEqual([...new Set(got)], [...new Set(want)]);
    const again = [...timesOf(got)].filter(([, n]) => n > 1).map(([line]) => line.split('|')[1] ?? '');
    assert.deepEqual(
      again.filter((value) => !highest.has(value)),
      [],
    );
  },
);

/** The index by which the server would read the rows now; null: none. */
async function indexOf(db: OwnDatabase, where: string): Promise<string | null> {
  const [row] = await db.query(`explain select * from s where ${where}`);
  return row?.[5]?.toString() ?? null;
}

serverTest(
  MYSQL_SERVERS,
  'a table without a key, killed: rows come again in the order that they had, though the server would now take an index',
  async (server) => {
    await using db = await ownDatabase(server.url);
    using ws = new Workspace();
    // By the index they come the other way round.
    const table = { ...source('int', (n) => String(1000 - n), 180), keys: 'key (up)' };
    await makeSource(db, table);
    await makeTarget(db, table);
    const where = 'up > 0 and up <= 1000';
    const before = await indexOf(db, where);
    const r = await runKilled({
      ws,
      job: { reader: mysqlReader(db, 's', { where }), writer: mysqlWriter(db, 't'), setting: slow(1, BATCH) },
      kills: ['write.after#3', 'ckpt.after#3'],
      between: async (i) => {
        assert.ok(isInsideSplit(ws));
        if (i > 0) return;
        const more = Array.from({ length: 4000 }, (_, n) => [String(10_000 + n), '2000', PAD]);
        await insertRows(db, 's', more);
        await db.query('analyze table s');
      },
    });
    assertDone(r);
    assert.deepEqual([before, await indexOf(db, where)], [null, 'up']);
    assert.deepEqual(await rowsOf(db, 't', COLUMNS), await rowsOf(db, `s where ${where}`, COLUMNS));
  },
);

const start = (ws: Workspace, job: string, failpoint?: string): SyncProcess =>
  startSync(['run', job, '--output', 'json'], { cwd: ws.dir, ...(failpoint === undefined ? {} : { failpoint }) });

const ended = (run: SyncProcess): boolean => run.child.exitCode !== null || run.child.signalCode !== null;

serverTest(
  MYSQL_SERVERS,
  'polling two tables: killed over and over while rows come, each is delivered once',
  async (server, t) => {
    await atOnce(AT_ONCE, Object.entries(UPS), async ([name, [type, up]]) => {
      await t.test(name, async () => {
        await using db = await ownDatabase(server.url);
        using ws = new Workspace();
        const table = source(type, up, 120);
        for (const s of ['s1', 's2']) await makeSource(db, table, s);
        await makeTarget(db, table);
        const arrivals = ['s1', 's2'].map((s) => new Arrivals(db, s, up, table.rows));
        const both = '(select * from s1 union all select * from s2) x where up is not null';
        const reader = { increColumn: 'up', polling: true, pollingInterval: 20, ...WAIT };
        const job = (setting: JobParts['setting'] = {}): string =>
          jobFile(ws, { reader: mysqlReader(db, ['s1', 's2'], reader), writer: mysqlWriter(db, 't'), setting });
        const path = job(slow(2, BATCH));
        let inside = 0;
        const kills = ['write.after#3', 'ckpt.after#3', 'prepare.after@1#2', 'commit.data#3', 'outcome.before#3'];
        for (const point of [...kills, 'committed.after#3', 'lanes.opened', 'barrier.passed#4', 'ckpt.before#3']) {
          const run = start(ws, path, point);
          // Before it looks, and while it does.
          for (const a of arrivals) await a.add(8);
          await until('it reads, or is dead', async () => ended(run) || (await isReading(db)));
          for (const a of arrivals) await a.add(7);
          assertKilled(await run.done, point);
          if (isInsideSplit(ws)) inside++;
        }
        assert.ok(inside > 0, 'no kill was inside of a window');
        const last = start(ws, job({ speed: { channel: 2 }, checkpoint: { interval: 20 } }));
        for (const a of arrivals) await a.add(5);
        const wanted = await numberOf(db, `select count(*) from ${both}`);
        const arrived = async (): Promise<boolean> => (await numberOf(db, 'select count(*) from t')) >= wanted;
        await until('all rows are there', async () => ended(last) || (await arrived()));
        last.child.kill('SIGTERM');
        const r = await last.done;
        assert.equal(r.code, 143, r.stderr);
        assert.deepEqual(await rowsOf(db, 't', COLUMNS), await rowsOf(db, both, COLUMNS));
      });
    });
  },
  AT_ONCE,
);

/** Whether somebody but us has a session in the database. */
async function isReading(db: OwnDatabase): Promise<boolean> {
  const others = `select count(*) from information_schema.processlist where db = '${db.name}' and id <> connection_id()`;
  return (await numberOf(db, others)) > 0;
}
