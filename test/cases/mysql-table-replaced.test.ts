/** The source table is emptied, created anew or altered while a run is at work, or between two starts of it. */
import assert from 'node:assert/strict';
import { assertKilled } from '../support/crash.js';
import { ownDatabase, type OwnDatabase } from '../support/databases.js';
import {
  assertDone,
  jobFile,
  mysqlReader,
  mysqlWriter,
  numberOf,
  runJob,
  type At,
  type JobParts,
} from '../support/mysql-job.js';
import { MYSQL_SERVERS, serverTest, type ServerKind, type TestServer } from '../support/services.js';
import { isStopped, startSync, until, type SyncResult } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const ROWS = 400;
const POINT = 'outcome.after';

const create = (engine: string): string =>
  `create table s (id int primary key auto_increment, other int, f float) engine=${engine}`;
const FILL = `insert into s (id, other, f) select a.n * 20 + b.n + 1, b.n, 0.5
  from (${numbers()}) a, (${numbers()}) b`;

function numbers(): string {
  return Array.from({ length: 20 }, (_, n) => `select ${String(n)} n`).join(' union all ');
}

async function setUp(server: TestServer, engine: string): Promise<OwnDatabase> {
  const db = await ownDatabase(server.url);
  await db.query(create(engine));
  await db.query(FILL);
  await db.query('create table t (id int, other int, f double)');
  await secondIsOver(db);
  return db;
}

/** Servers know the time of a table's creation, or of an ALTER, in whole seconds. */
async function secondIsOver(db: OwnDatabase): Promise<void> {
  const seconds =
    'select timestampdiff(second, max(create_time), now()) from information_schema.tables where table_schema = database()';
  await until('the second in which it was created is over', async () => (await numberOf(db, seconds)) > 0);
}

const job = (db: OwnDatabase, from: At = db): JobParts => ({
  reader: mysqlReader(from, 's', { splitPk: 'id', splitSize: 2048, column: ['id', 'other', 'f'] }),
  writer: mysqlWriter(db, 't', { column: ['id', 'other', 'f'] }),
  // Slow, so that much is left to read behind the first commit on a busy machine too.
  setting: { speed: { channel: 2, record: 400 }, checkpoint: { interval: 20 } },
});

/** The statements run while the job stands still behind its first commit. */
async function inMidRun(ws: Workspace, db: OwnDatabase, parts: JobParts, sql: readonly string[]): Promise<SyncResult> {
  const run = startSync(['run', jobFile(ws, parts), '--output', 'json'], { cwd: ws.dir, failpoint: `${POINT}=stop` });
  const pid = run.child.pid ?? 0;
  await until(`it stops at ${POINT}`, () => isStopped(pid) || run.child.exitCode !== null);
  const before = await numberOf(db, 'select count(*) from t');
  assert.ok(before > 0, 'nothing was committed before');
  for (const s of sql) await db.query(s);
  process.kill(pid, 'SIGCONT');
  return run.done;
}

async function betweenStarts(
  ws: Workspace,
  db: OwnDatabase,
  parts: JobParts,
  sql: readonly string[],
): Promise<SyncResult> {
  assertKilled(await runJob(ws, parts, { failpoint: POINT }), POINT);
  for (const s of sql) await db.query(s);
  return runJob(ws, parts);
}

const WAYS = [
  ['in mid-run', inMidRun],
  ['between two starts', betweenStarts],
] as const;

function refused(r: SyncResult, what: RegExp): void {
  assert.equal(r.code, 4, r.stderr);
  assert.equal(r.summary?.error?.code, 'SOURCE_CHANGED', r.stderr);
  assert.match(r.summary.error.message, what);
}

interface Replacement {
  readonly what: string;
  readonly sql: (engine: string) => readonly string[];
  readonly said: RegExp;
  readonly on?: (kind: ServerKind, engine: string) => boolean;
}

/** MySQL 5.5 has no list of InnoDB's tables: what it does not show by its counter or create_time is not seen. */
const seenById = (kind: ServerKind, engine: string): boolean => kind === 'mariadb' || engine === 'MyISAM';
const REPLACED = /^the table \S+\.s was (?:emptied|created anew)/;

const REPLACEMENTS: readonly Replacement[] = [
  { what: 'truncated', sql: () => ['truncate s'], said: REPLACED },
  { what: 'truncated and filled again', sql: () => ['truncate s', FILL], said: REPLACED, on: seenById },
  { what: 'created anew, empty', sql: (e) => ['drop table s', create(e)], said: REPLACED },
  { what: 'dropped', sql: () => ['drop table s'], said: /\.s (?:was dropped|is gone)|no table|doesn't exist/ },
  {
    what: 'altered from float to double',
    sql: () => ['alter table s modify f double'],
    said: /^the column `f` of \S+\.s was float and is double/,
  },
];

const KEPT: readonly (readonly [what: string, ...sql: readonly string[]])[] = [
  ['given an index', 'alter table s add index (other)'],
  ['given a column', 'alter table s add c int first'],
  ['given rows', 'insert into s (id, other) values (100000, 1)'],
];

for (const engine of ['InnoDB', 'MyISAM']) {
  for (const [when, change] of WAYS) {
    serverTest(MYSQL_SERVERS, `a table of ${engine} is another one ${when}: SOURCE_CHANGED`, async (server) => {
      for (const { what, sql, said, on } of REPLACEMENTS) {
        if (on?.(server.kind, engine) === false) continue;
        await using db = await setUp(server, engine);
        using ws = new Workspace();
        const r = await change(ws, db, job(db), sql(engine));
        if (what === 'dropped') assert.notEqual(r.code, 0, r.stderr);
        else refused(r, said);
      }
    });

    serverTest(MYSQL_SERVERS, `a table of ${engine} is the same one ${when}: all rows`, async (server) => {
      for (const [what, ...sql] of KEPT) {
        await using db = await setUp(server, engine);
        using ws = new Workspace();
        assertDone(await change(ws, db, job(db), sql));
        const [row] = await db.query('select count(*), count(distinct id) from t where id <= 400');
        assert.deepEqual(row, [String(ROWS), String(ROWS)], what);
      }
    });
  }
}

serverTest('mariadb', 'a user without PROCESS: created anew is seen, an index more is no change', async (server) => {
  await using db = await setUp(server, 'InnoDB');
  const user = `u${db.name.slice(-8)}`;
  await db.query(`create user ${user}@'%' identified by 'x'`);
  await db.query(`grant select on ${db.name}.* to ${user}@'%'`);
  const from = { url: db.url.replace(/\/\/[^@]*@/, `//${user}:x@`) };
  try {
    using ws = new Workspace();
    const r = await inMidRun(ws, db, job(db, from), ['alter table s add index (other)']);
    assertDone(r, [ROWS, ROWS]);
    assert.match(r.stderr, /the table \S+\.s was altered while it was read/);
    await db.query('truncate t');
    await secondIsOver(db);
    using again = new Workspace();
    refused(await inMidRun(again, db, job(db, from), ['rename table s to s_old', 'create table s like s_old', 'insert into s select * from s_old']), REPLACED); // prettier-ignore
  } finally {
    await db.query(`drop user ${user}@'%'`);
  }
});
