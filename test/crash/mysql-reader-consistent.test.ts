/** kill -9 of `consistent` jobs: they go on where nothing was written since, else they stop, and never mix two moments. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertKilled } from '../support/crash.js';
import { openSession, ownDatabase, type OwnDatabase } from '../support/databases.js';
import {
  assertDone,
  csvWriter,
  jobFile,
  mysqlReader,
  mysqlWriter,
  numberOf,
  outLines,
  ownServerSuite,
  type JobParts,
  type Json,
  type PluginPart,
} from '../support/mysql-job.js';
import {
  isInsideSplit,
  makeSource,
  makeTarget,
  rowsOf,
  runKilled,
  slow,
  type SourceTable,
} from '../support/mysql-source.js';
import { MYSQL_SERVERS } from '../support/services.js';
import { startSync, sync, until, type SyncResult } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const PAD = '.'.repeat(40);
const BATCH = 20;

const TABLE: SourceTable = {
  columns: { id: 'int', v: 'varchar(80)' },
  keys: 'primary key (id)',
  rows: 600,
  row: (n) => [String(n), `${PAD}${String(n)}`],
};
const COLUMNS = ['id', 'v'] as const;

const FILES = csvWriter({ fieldDelimiter: '|', rollOnCheckpoint: true, writeMode: 'overwrite' });

const reader = (db: OwnDatabase): PluginPart => mysqlReader(db, 's', { consistent: true, splitSize: 20_000 });

const jobOf = (db: OwnDatabase, setting: Json = slow(2, BATCH)): JobParts => ({
  reader: reader(db),
  writer: FILES,
  setting,
});

interface Start {
  readonly failpoint?: string;
  readonly args?: readonly string[];
}

function run(ws: Workspace, job: JobParts, { failpoint, args = [] }: Start = {}): Promise<SyncResult> {
  const path = jobFile(ws, job);
  const options = { cwd: ws.dir, ...(failpoint === undefined ? {} : { failpoint }) };
  return sync(['run', path, '--output', 'json', ...args], options);
}

/** Stopped, saying why; what the target holds is what the starts before it committed. */
function assertRefused(r: SyncResult): void {
  assert.equal(r.code, 4, r.stderr);
  assert.equal(r.summary?.error?.code, 'SOURCE_CHANGED', r.stderr);
  assert.match(r.summary.error.message, /goes on only where nothing was written since it began/);
}

ownServerSuite(MYSQL_SERVERS, 'consistent', (server) => {
  const withSource = async (body: (db: OwnDatabase, ws: Workspace) => Promise<void>): Promise<void> => {
    await using db = await ownDatabase(server().url);
    using ws = new Workspace();
    await makeSource(db, TABLE);
    await body(db, ws);
  };

  test('killed over and over, and nothing is written: it goes on', async () => {
    await withSource(async (db, ws) => {
      let inside = 0;
      const kills = [
        'write.after#3',
        'ckpt.after#3',
        'lanes.opened',
        'planner.after',
        'commit.data#3',
        'ckpt.before#3',
      ];
      const between = (): Promise<void> => {
        if (isInsideSplit(ws)) inside++;
        return Promise.resolve();
      };
      const r = await runKilled({ ws, job: jobOf(db), kills, between });
      assertDone(r, [TABLE.rows, TABLE.rows]);
      assert.ok(inside > 0, 'no kill was inside of a split');
      assert.deepEqual(outLines(ws), await rowsOf(db, 's', COLUMNS));
    });
  });

  const writes: Readonly<Record<string, string>> = {
    'a row that was read': "update s set v = 'changed' where id = 1",
    'a row that was not read yet': "update s set v = 'changed' where id = 600",
    'a row that comes': "insert into s values (601, 'new')",
    'a row that goes': 'delete from s where id = 300',
    'another table': 'create table other (id int)',
  };
  for (const [what, sql] of Object.entries(writes)) {
    test(`killed, and then something is written (${what}): it stops, and says so`, async () => {
      await withSource(async (db, ws) => {
        assertKilled(await run(ws, jobOf(db), { failpoint: 'ckpt.after#3' }), 'ckpt.after#3');
        assert.ok(isInsideSplit(ws));
        await db.query(sql);
        assertRefused(await run(ws, jobOf(db)));
        const lines = outLines(ws);
        assertRefused(await run(ws, jobOf(db))); // and does not forget
        assert.deepEqual(outLines(ws), lines);
        assertDone(await run(ws, jobOf(db, { speed: { channel: 2 } }), { args: ['--fresh'] }));
        assert.deepEqual(outLines(ws), await rowsOf(db, 's', COLUMNS));
      });
    });
  }

  test('killed while others write: all rows are of the moment of the start that ends', async () => {
    await withSource(async (db, ws) => {
      // Money goes from one row to another: any two moments that are mixed show in the sum.
      await db.query('alter table s add n int not null default 100');
      const pay = async (): Promise<void> => {
        const [a, b] = [1 + Math.floor(Math.random() * 600), 1 + Math.floor(Math.random() * 600)];
        await db.query(`update s set n = n + if(id = ${String(a)}, 7, 0) - if(id = ${String(b)}, 7, 0)`);
      };
      // No checkpoint yet: the next start begins anew.
      const never: Json = { ...slow(2, BATCH), checkpoint: { interval: 600_000 } };
      for (const [failpoint, setting] of [
        ['write.after#2', never],
        ['lanes.opened', never],
        ['planner.after', never],
      ] as const) {
        const started = startSync(['run', jobFile(ws, jobOf(db, setting)), '--output', 'json'], {
          cwd: ws.dir,
          failpoint,
        });
        while (started.child.exitCode === null && started.child.signalCode === null) await pay();
        assertKilled(await started.done, failpoint);
      }
      const last = startSync(['run', jobFile(ws, jobOf(db)), '--output', 'json'], { cwd: ws.dir });
      while (last.child.exitCode === null) await pay();
      assertDone(await last.done, [TABLE.rows, TABLE.rows]);
      const sum = outLines(ws).reduce((n, l) => n + Number(l.split('|')[2]), 0);
      assert.equal(sum, TABLE.rows * 100);
    });
  });

  test('what its own writer commits on that server counts as written', async () => {
    await withSource(async (db, ws) => {
      await makeTarget(db, TABLE);
      const job = { ...jobOf(db), writer: mysqlWriter(db, 't') };
      assertKilled(await run(ws, job, { failpoint: 'ckpt.after#3' }), 'ckpt.after#3');
      assertRefused(await run(ws, job));
      const rows = await numberOf(db, 'select count(*) from t');
      assert.equal(await numberOf(db, 'select count(distinct id) from t'), rows);
    });
  });

  test('its connection is ended by the server: it stops, and the next start goes on where nothing was written', async () => {
    await withSource(async (db, ws) => {
      // More than the sockets hold: the server still sends.
      await db.query("update s set v = repeat('v', 80)");
      await db.query('alter table s add b mediumtext');
      await db.query("update s set b = repeat('b', 50000)");
      const started = startSync(['run', jobFile(ws, jobOf(db, slow(1, BATCH))), '--output', 'json'], { cwd: ws.dir });
      const reading = `select id from information_schema.processlist where db = '${db.name}' and info like 'select%from%\`s\`%order by%' and id <> connection_id()`;
      await until('it reads, some is committed', async () => isInsideSplit(ws) && (await db.query(reading)).length > 0);
      for (const [id] of await db.query(reading)) await db.query(`kill ${String(id)}`);
      const r = await started.done;
      assert.equal(r.code, 1, r.stderr);
      assert.equal(r.summary?.error?.code, 'SOURCE_IO');
      assert.match(r.summary.error.message, /read from a snapshot, which is gone with it/);
      assertKilled(await run(ws, jobOf(db), { failpoint: 'ckpt.after#2' }), 'ckpt.after#2');
      assertDone(await run(ws, jobOf(db, { speed: { channel: 2 } })), [TABLE.rows, TABLE.rows]);
      assert.deepEqual(outLines(ws), await rowsOf(db, 's', [...COLUMNS, 'b']));
    });
  });

  test('killed, and the server is started again: it stops, as nobody can tell what was written', async () => {
    const db = await ownDatabase(server().url);
    using ws = new Workspace();
    await makeSource(db, TABLE);
    assertKilled(await run(ws, jobOf(db), { failpoint: 'ckpt.after#3' }), 'ckpt.after#3');
    await db.close();
    await server().kill9();
    await server().start();
    assertRefused(await run(ws, jobOf(db)));
    assertDone(await run(ws, jobOf(db, { speed: { channel: 2 } }), { args: ['--fresh'] }));
    await using again = await openSession(db.url);
    assert.deepEqual(outLines(ws), await rowsOf(again, 's', COLUMNS));
  });
});
