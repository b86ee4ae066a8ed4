/** Users who may write, and not do all else: what a run does, `sync plan` says. */
import assert from 'node:assert/strict';
import { ownDatabase, type OwnDatabase } from '../support/databases.js';
import {
  assertDone,
  jobFile,
  mysqlReader,
  mysqlWriter,
  runJob,
  type At,
  type JobParts,
  type Json,
} from '../support/mysql-job.js';
import { MYSQL_SERVERS, serverTest, type TestServer } from '../support/services.js';
import { sync, type SyncResult } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

async function setUp(server: TestServer): Promise<OwnDatabase> {
  const db = await ownDatabase(server.url);
  await db.query('create table s (id int primary key, name varchar(20))');
  await db.query("insert into s values (1, 'a'), (2, 'b')");
  await db.query('create table t (id int primary key, name varchar(20) not null)');
  return db;
}

/** With the user for as long as `body` runs. */
async function withUser(db: OwnDatabase, grants: readonly string[], body: (at: At) => Promise<void>): Promise<void> {
  const user = `u${db.name.slice(-10)}`;
  await db.query(`create user ${user}@'%' identified by 'x'`);
  try {
    for (const g of grants) await db.query(`grant ${g} to ${user}@'%'`);
    await body({ url: db.url.replace(/\/\/[^@]*@/, `//${user}:x@`) });
  } finally {
    await db.query(`drop user ${user}@'%'`);
  }
}

const plan = (ws: Workspace, parts: JobParts): Promise<SyncResult> =>
  sync(['plan', jobFile(ws, parts, 'plan.json')], { cwd: ws.dir });

const GRANTS: readonly (readonly [mode: string, rights: string])[] = [
  ['insert', 'insert'],
  ['replace', 'insert, delete'],
];

serverTest(MYSQL_SERVERS, 'a user who may write the target and not read it: run and plan both work', async (server) => {
  for (const [writeMode, rights] of GRANTS) {
    await using db = await setUp(server);
    await withUser(db, [`${rights} on ${db.name}.t`], async (at) => {
      using ws = new Workspace();
      const parts = { reader: mysqlReader(db, 's'), writer: mysqlWriter(at, 't', { writeMode }) };
      const told = await plan(ws, parts);
      assert.equal(told.code, 0, `${writeMode}\n${told.stdout}${told.stderr}`);
      assert.match(told.stdout, /the user may not look/);
      const r = await runJob(ws, parts);
      assertDone(r, [2, 2]);
      assert.deepEqual(await db.query('select * from t'), [['1', 'a'], ['2', 'b']]); // prettier-ignore
      if (writeMode !== 'insert') return;
      // The same words in both.
      const why = /this run is at-least-once, not exactly-once: ([^"]*)/.exec(r.stderr)?.[1] ?? '';
      assert.match(why, /commit table .* has no right to CREATE, SELECT, INSERT, UPDATE/);
      assert.ok(told.stdout.replaceAll(/\s+/g, ' ').includes(why), `${why}\n${told.stdout}`);
    });
  }
});

serverTest(
  MYSQL_SERVERS,
  'a user who lacks a right on the commit table: at-least-once with a warning at start, and in the plan',
  async (server) => {
    const there: Json = { commitTable: 'marks' };
    const tries: readonly (readonly [commit: (db: OwnDatabase) => readonly string[], lacks: RegExp])[] = [
      [(db) => [`create, insert on ${db.name}.*`], /no right to SELECT, UPDATE/],
      [(db) => [`create, select, insert on ${db.name}.*`], /no right to UPDATE/],
      [(db) => [`select, update on ${db.name}.marks`], /no right to INSERT/],
    ];
    for (const made of [false, true])
      for (const [grants, lacks] of tries) {
        await using db = await setUp(server);
        if (made) assertDone(await runInto(db, db, there));
        else if (grants(db).some((g) => g.endsWith('.marks'))) continue; // on a table that is not there it needs CREATE
        await db.query('delete from t');
        await withUser(db, [`insert on ${db.name}.t`, ...grants(db)], async (at) => {
          using ws = new Workspace();
          const parts = { reader: mysqlReader(db, 's'), writer: mysqlWriter(at, 't', there) };
          const told = await plan(ws, parts);
          assert.equal(told.code, 0, told.stdout + told.stderr);
          assert.match(told.stdout.replaceAll(/\s+/g, ' '), lacks);
          const r = await runJob(ws, parts);
          assertDone(r, [2, 2]);
          assert.equal(r.summary?.delivery, 'at-least-once');
          assert.match(r.stderr, lacks);
          const strict = { ...parts, writer: mysqlWriter(at, 't', { ...there, semantic: 'exactly-once' }) };
          const refused = await runJob(ws, strict, { name: 'strict.json' });
          assert.equal(refused.code, 2, refused.stderr);
          assert.match(refused.stderr, lacks);
        });
      }
  },
);

async function runInto(db: OwnDatabase, at: At, more: Json): Promise<SyncResult> {
  using ws = new Workspace();
  return await runJob(ws, { reader: mysqlReader(db, 's'), writer: mysqlWriter(at, 't', more) });
}

serverTest(MYSQL_SERVERS, 'writeMode update without SELECT: the plan says what the run fails at', async (server) => {
  await using db = await setUp(server);
  await withUser(db, [`insert, update on ${db.name}.t`], async (at) => {
    using ws = new Workspace();
    const parts = { reader: mysqlReader(db, 's'), writer: mysqlWriter(at, 't', { writeMode: 'update' }) };
    const told = await plan(ws, parts);
    assert.equal(told.code, 1, told.stdout + told.stderr);
    assert.match(told.stdout.replaceAll(/\s+/g, ' '), /no right to SELECT on \S+\.t/);
    assert.equal((await runJob(ws, parts)).code, 1);
  });
});
