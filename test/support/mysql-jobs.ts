/** Jobs that write scripted rows to MySQL, and what their table must hold. */
import assert from 'node:assert/strict';
import { scriptedRow } from '../../plugins/scripted/rows.js';
import type { OwnDatabase } from './databases.js';
import type { ScriptedSplit } from './lane-job.js';
import { type SyncResult } from './sync.js';
import type { Workspace } from './workspace.js';

/** Columns of scripted rows, and no key: a row that is written twice stands there twice. */
export const KEYLESS = 'create table t (id varchar(40), split varchar(20), n int, text varchar(200)) engine=InnoDB';
export const KEYED =
  'create table t (id varchar(40) collate utf8mb4_bin primary key, split varchar(20), n int, text varchar(200)) engine=InnoDB';

export interface MysqlJobOptions {
  readonly splits: readonly ScriptedSplit[];
  readonly channel?: number;
  readonly writer?: Readonly<Record<string, unknown>>;
  readonly reader?: Readonly<Record<string, unknown>>;
  readonly checkpoint?: Readonly<Record<string, unknown>>;
  readonly restart?: Readonly<Record<string, unknown>>;
  readonly limit?: number;
  readonly errorLimit?: number;
}

export interface MysqlJob {
  readonly ws: Workspace;
  readonly db: OwnDatabase;
  readonly job: string;
  /** Ids, sorted. */
  readonly expected: readonly string[];
}

/** `jdbc:mysql://host:port/db`; user and password stand beside it. */
export function jdbcOf(url: string): string {
  const u = new URL(url);
  return `jdbc:mysql://${u.host}${u.pathname}`;
}

export function mysqlJob(ws: Workspace, db: OwnDatabase, o: MysqlJobOptions): MysqlJob {
  const { username, password } = new URL(db.url);
  const job = ws.job({
    job: {
      content: [
        {
          reader: { name: 'scripted', parameter: { splits: o.splits, batchRows: 50, ...o.reader } },
          writer: {
            name: 'mysqlwriter',
            parameter: {
              connection: [{ jdbcUrl: jdbcOf(db.url), table: ['t'] }],
              username,
              password,
              ...o.writer,
            },
          },
        },
      ],
      setting: {
        speed: { channel: o.channel ?? 2, record: o.limit ?? 0 },
        checkpoint: { interval: 60_000, ...o.checkpoint },
        errorLimit: { record: o.errorLimit ?? 0 },
        ...(o.restart ? { restart: o.restart } : {}),
      },
    },
  });
  const expected = o.splits.flatMap((s) =>
    Array.from({ length: s.rows }, (_, i) => String(scriptedRow(s.id, i + 1)['id'])),
  );
  return { ws, db, job, expected: expected.sort() };
}

/** Each row once, no prepared branch, no lock that somebody holds. */
export async function assertMysqlExact(j: MysqlJob, r: SyncResult, context: string, table = 't'): Promise<void> {
  assert.equal(r.code, 0, `${context}: exit ${String(r.code)}\n${r.stderr}`);
  const ids = (await j.db.query(`select id from ${table}`)).map(([id]) => String(id)).sort();
  assert.equal(ids.length, j.expected.length, `${context}: count(*)`);
  assert.deepEqual(ids, j.expected, `${context}: ids`);
  assert.equal(r.summary?.written, j.expected.length, `${context}: written`);
  assert.deepEqual(await branchesOf(j), [], `${context}: prepared branches`);
  await j.db.query('set session innodb_lock_wait_timeout = 1');
  await j.db.query(`update ${table} set n = n`); // a lock that is left makes it fail
}

/** Prepared branches of the runs that the commit table names. */
export async function branchesOf(j: MysqlJob): Promise<readonly string[]> {
  const [there] = await j.db.query("show tables like 'syncx_commits'");
  if (there === undefined) return [];
  const runs = (await j.db.query('select distinct run_id from syncx_commits')).map(([id]) => String(id));
  const listed = await j.db.query('xa recover');
  return listed.map((r) => String(r[3])).filter((xid) => runs.some((run) => xid.includes(run)));
}
