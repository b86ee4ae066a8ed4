/** What happens once in a run, what is promised for which tables, new tables, and full refreshes. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { isSyncError, internSchema, BatchBuilder } from 'syncx/plugin-api';
import { testRun } from 'syncx/plugin-testkit';
import { onServers, SERVERS, type TestDatabase } from './servers.js';
import { drive, epoch, idsIn, never, writeIds } from './writer-drive.js';

const T = 'create table t (id bigint, text varchar(100)) engine=InnoDB';
const LOG = 'create table log (what varchar(40)) engine=InnoDB';
const logged = async (db: TestDatabase): Promise<readonly unknown[]> =>
  (await db.rows('select what from log order by what')).map(([what]) => what);

onServers(
  SERVERS,
  'preSql and postSql of plain statements run once, however often begin and complete do',
  async (db) => {
    await db.run(T, LOG);
    const w = await drive(db, {
      preSql: ["insert into log values ('pre;1'); insert into log values ('pre 2')"],
      postSql: ["insert into log values ('post')"],
    });
    await w.writer.begin(w.run);
    const lane = await w.lane();
    await epoch(lane, 1, [1]);
    await lane[Symbol.asyncDispose]();
    await w.writer.complete(w.run);
    await w.writer.complete(w.run);
    assert.deepEqual(await logged(db), ['post', 'pre 2', 'pre;1']);
    assert.equal(await w.writer.committer?.highWater(w.run.runId), 1, 'the row of the run is no epoch');
  },
);

onServers(SERVERS, 'a preSql that fails leaves nothing of itself', async (db) => {
  await db.run(T, LOG);
  const bad = drive(db, { preSql: ["insert into log values ('a')", 'delete from nowhere'] });
  await assert.rejects(bad, (e) => isSyncError(e) && /run preSql: delete from nowhere: 1146/.test(e.message));
  assert.deepEqual(await logged(db), []);
});

onServers(SERVERS, 'a preSql may make the table', async (db) => {
  const w = await drive(db, { preSql: ['drop table if exists t', T] });
  await using lane = await w.lane();
  await epoch(lane, 1, [1, 2]);
  assert.deepEqual(await idsIn(db), [1, 2]);
});

async function withUser(
  db: TestDatabase,
  grants: readonly string[],
  body: (as: object) => Promise<void>,
): Promise<void> {
  const name = `u_${randomBytes(4).toString('hex')}`;
  await db.run(`create user '${name}'@'%' identified by 'secret-${name}'`);
  try {
    for (const g of grants) await db.run(`grant ${g} to '${name}'@'%'`);
    await body({ username: name, password: `secret-${name}` });
  } finally {
    await db.run(`drop user '${name}'@'%'`);
  }
}

onServers(
  SERVERS,
  'without a right to the commit table: at-least-once and a warning, an error where more was asked',
  async (db) => {
    await db.run(T);
    await withUser(db, [`select, insert, update, delete on ${db.name}.t`], async (as) => {
      const why = `the commit table ${db.name}.syncx_commits is missing, and the user has no right to CREATE, SELECT, INSERT, UPDATE there`;
      const w = await drive(db, { ...as });
      assert.equal(w.writer.delivery, 'at-least-once');
      assert.deepEqual(w.warnings, [`this run is at-least-once, not exactly-once: ${why}`]);
      const lane = await w.lane();
      await writeIds(lane, [1, 2]);
      assert.deepEqual(await idsIn(db), [1, 2], 'each batch is committed as it comes');
      assert.deepEqual((await lane.prepare(1)).committables, []);
      await lane.commit(1);
      await lane[Symbol.asyncDispose]();
      assert.equal(await w.writer.committer?.highWater(w.run.runId), 0);
      await assert.rejects(drive(db, { ...as, semantic: 'exactly-once' }), (e) => {
        assert.ok(isSyncError(e));
        assert.deepEqual([e.code, e.message], ['JOB_INVALID', `the job asks for exactly-once, and ${why}`]);
        return true;
      });
    });
    await withUser(
      db,
      [`select, insert, update, delete, create on \`${db.name.replaceAll('_', '\\_')}\`.*`],
      async (as) => {
        assert.equal((await drive(db, { ...as })).writer.delivery, 'exactly-once');
      },
    );
  },
);

onServers(SERVERS, 'tables that know no transactions are at-least-once, and say so', async (db) => {
  await db.run('create table t (id bigint, text varchar(100)) engine=MyISAM');
  const w = await drive(db);
  assert.equal(w.writer.delivery, 'at-least-once');
  assert.match(w.warnings[0] ?? '', /has the engine MyISAM, which is not InnoDB/);
  const keyed = 'create table k (id bigint primary key, text varchar(100)) engine=InnoDB';
  await db.run(keyed);
  const connection = [{ jdbcUrl: db.jdbcUrl, table: ['k'] }];
  const modes = ['replace', 'update', 'insert-ignore'];
  for (const writeMode of modes) {
    assert.equal((await drive(db, { writeMode, connection })).writer.delivery, 'effectively-once-by-key');
  }
  const asked = { writeMode: 'update', semantic: 'exactly-once', connection };
  assert.equal((await drive(db, asked)).writer.delivery, 'exactly-once');
});

onServers(SERVERS, 'createTable: auto makes a table that fits', async (db) => {
  const schema = internSchema(
    [
      { name: 'id', type: { is: 'uint64' }, nullable: false },
      { name: 'a name', type: { is: 'string' } },
      { name: 'price', type: { is: 'decimal', precision: 20, scale: 4 } },
      { name: 'at', type: { is: 'datetime', fraction: 6 } },
      { name: 'short', type: { is: 'string' }, rawType: 'varchar(20)' },
      { name: 'data', type: { is: 'binary' } },
    ],
    'made',
    [0],
  );
  const b = new BatchBuilder(schema);
  for (const v of ['18446744073709551615', 'é🙂', '1.5000', '2024-01-02 03:04:05.000006', 'x']) b.appendText(v);
  b.appendBytes(Buffer.from([0, 255]));
  b.endRow();
  const w = await drive(db, { createTable: 'auto' });
  await using lane = await w.lane();
  await using other = await w.lane(1, 2);
  const batch = b.finish('s', 1, 1);
  assert.equal((await lane.write(batch, never)).rejected, null);
  await lane.prepare(1);
  await lane.commit(1);
  const rows = await db.rows('select id, `a name`, price, `at`, short, hex(data) from t');
  assert.deepEqual(rows, [['18446744073709551615', 'é🙂', '1.5000', '2024-01-02 03:04:05.000006', 'x', '00FF']]);
  const [table] = await db.rows('show create table t');
  assert.match(table?.[1] ?? '', /`short` varchar\(20\)/);
  assert.match(table?.[1] ?? '', /PRIMARY KEY \(`id`\)/);
  await other.write(batch, never);
  assert.notEqual((await other.prepare(1)).rejected, null, 'the key is one');
});

onServers(SERVERS, 'swap: others see the old rows until the end, then the new ones', async (db) => {
  await db.run(T, 'insert into t values (100, null)');
  const w = await drive(db, { writeStrategy: 'swap' });
  assert.equal(w.writer.replacesTarget, true);
  const lane = await w.lane();
  await epoch(lane, 1, [1, 2]);
  await epoch(lane, 2, [3]);
  await lane[Symbol.asyncDispose]();
  assert.deepEqual(await idsIn(db), [100]);
  await w.writer.complete(w.run);
  assert.deepEqual(await idsIn(db), [1, 2, 3]);
  await w.writer.complete(w.run);
  assert.deepEqual(await idsIn(db), [1, 2, 3]);
  assert.deepEqual((await db.rows('show tables')).flat(), ['syncx_commits', 't']);
});

onServers(['mariadb'], 'swap: a table with rows too few or too many stays where it is', async (db) => {
  await db.run(T, 'insert into t values (100, null)');
  const w = await drive(db, { writeStrategy: 'swap' });
  const lane = await w.lane();
  await epoch(lane, 1, [1, 2]);
  await lane[Symbol.asyncDispose]();
  await db.run(`delete from t__syncx_${w.run.runId} where id = 1`);
  await assert.rejects(w.writer.complete(w.run), (e) => {
    assert.ok(isSyncError(e));
    assert.deepEqual(
      [e.code, e.message],
      ['SINK_CONFLICT', `${db.name}.t__syncx_${w.run.runId} holds 1 rows, and 2 were written`],
    );
    return true;
  });
  assert.deepEqual(await idsIn(db), [100]);
  const record = { runId: w.run.runId, attempts: [1], lanes: 1, givenUp: true };
  await w.writer.committer?.sweep([record]);
  assert.deepEqual((await db.rows('show tables')).flat(), ['syncx_commits', 't'], 'the run was given up');
});

onServers(['mariadb'], 'swap: what the new table would lack is refused', async (db) => {
  await db.run(T, 'create trigger tr before insert on t for each row set new.text = 1');
  const bad = drive(db, { writeStrategy: 'swap' });
  await assert.rejects(bad, (e) => isSyncError(e) && /cannot be swapped: it has the trigger tr/.test(e.message));
});

onServers(SERVERS, 'rows of other runs leave the commit table after 30 days, and no others', async (db) => {
  await db.run(T);
  const [old, young] = [testRun(), testRun()];
  for (const run of [old, young]) {
    const w = await drive(db, {}, run);
    const lane = await w.lane();
    await epoch(lane, 1, [1]);
    await lane[Symbol.asyncDispose]();
  }
  await db.run(`update syncx_commits set updated_at = updated_at - interval 31 day where run_id = '${old.runId}'`);
  const w = await drive(db);
  await w.writer.complete(w.run);
  assert.deepEqual(await db.rows('select distinct run_id from syncx_commits where lane >= 0'), [[young.runId]]);
});
