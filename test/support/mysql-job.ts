/** Jobs from and to real servers, run by the command line, and what they leave. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe } from 'node:test';
import type { Session } from './databases.js';
import { ownServer, type OwnServer } from './own-server.js';
import { serverTest, testServer, type ServerKind } from './services.js';
import { sync, type SyncOptions, type SyncResult } from './sync.js';
import { publishedLines, tree, type Workspace } from './workspace.js';

export type Json = Readonly<Record<string, unknown>>;

export interface PluginPart {
  readonly name: string;
  readonly parameter: Json;
}

export interface JobParts {
  readonly reader: PluginPart;
  readonly writer: PluginPart;
  readonly setting?: Json;
  readonly transform?: readonly Json[];
}

/** A database of a server: `mysql://user:password@host:port/database`. */
export interface At {
  readonly url: string;
}

/** `jdbc:mysql://host:port/database?params`, without the user. */
export function jdbcUrl(at: At, params = ''): string {
  const u = new URL(at.url);
  return `jdbc:mysql://${u.host}${u.pathname}${params === '' ? '' : `?${params}`}`;
}

export function userOf(at: At): { readonly username: string; readonly password: string } {
  const u = new URL(at.url);
  return { username: decodeURIComponent(u.username), password: decodeURIComponent(u.password) };
}

/** Of a table, or several; `params` of its URL. */
export function mysqlReader(at: At, table: string | readonly string[], more: Json = {}, params = ''): PluginPart {
  const tables = typeof table === 'string' ? [table] : table;
  const connection = [{ jdbcUrl: [jdbcUrl(at, params)], table: tables }];
  return { name: 'mysqlreader', parameter: { ...userOf(at), connection, column: ['*'], ...more } };
}

export function mysqlWriter(at: At, table: string, more: Json = {}, params = ''): PluginPart {
  const connection = [{ jdbcUrl: jdbcUrl(at, params), table: [table] }];
  return { name: 'mysqlwriter', parameter: { ...userOf(at), connection, column: ['*'], ...more } };
}

/** Into the folder `out`, NULL as `\N`. */
export const csvWriter = (more: Json = {}): PluginPart => ({
  name: 'filewriter',
  parameter: { path: 'out', fileType: 'csv', ...more },
});

export function jobFile(ws: Workspace, job: JobParts, name = 'job.json'): string {
  const { setting = {}, ...content } = job;
  return ws.job({ job: { content: [content], setting } }, name);
}

export type RunOptions = Partial<SyncOptions> & { readonly args?: readonly string[]; readonly name?: string };

/** Writes the job file and runs it to its end. */
export function runJob(ws: Workspace, job: JobParts, options: RunOptions = {}): Promise<SyncResult> {
  const { args = [], name, ...more } = options;
  return sync(['run', jobFile(ws, job, name), '--output', 'json', ...args], { cwd: ws.dir, ...more });
}

/** Ended with 0, and these counts where they are given: read, written, dirty. */
export function assertDone(r: SyncResult, counts?: readonly [read: number, written: number, dirty?: number]): void {
  assert.equal(r.code, 0, `exit ${String(r.code)}\n${r.stderr}`);
  assert.equal(r.summary?.state, 'finished');
  if (counts !== undefined) {
    const [read, written, dirty = 0] = counts;
    assert.deepEqual([r.summary.read, r.summary.written, r.summary.dirty], [read, written, dirty], r.stderr);
  }
}

/** Runs it and expects it to be done. */
export async function mustRun(ws: Workspace, job: JobParts, options: RunOptions = {}): Promise<SyncResult> {
  const r = await runJob(ws, job, options);
  assertDone(r);
  return r;
}

export const outLines = (ws: Workspace, folder = 'out'): readonly string[] => publishedLines(ws.path(folder));

export interface DirtyRow {
  readonly row: Json;
  readonly column: string | null;
  readonly code: string;
  readonly reason: string;
  readonly place: string | null;
}

/** Of the folder that `dirty.path` names. */
export function dirtyRows(ws: Workspace, folder = 'dirty'): readonly DirtyRow[] {
  return tree(ws.path(folder))
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(ws.path(folder, name), 'utf8').split('\n').slice(0, -1))
    .map((line) => JSON.parse(line) as DirtyRow);
}

/** One value of the first row. */
export async function valueOf(db: Session, sql: string): Promise<string | null> {
  const [row] = await db.query(sql);
  const value = row?.[0] ?? null;
  return value === null ? null : value.toString();
}

export async function numberOf(db: Session, sql: string): Promise<number> {
  return Number(await valueOf(db, sql));
}

/** Rows of two tables of one server that are equal in all columns, the case of letters and the length of padding too. */
export async function assertSameRows(db: Session, left: string, right: string, columns: readonly string[]) {
  const list = columns.map((c) => `\`${c.replaceAll('`', '``')}\``);
  const texts = list.map((c) => `hex(${c})`).join(', ');
  const rows = (table: string) => db.query(`select ${list.join(', ')}, ${texts} from ${table} order by 1`);
  assert.deepEqual(await rows(right), await rows(left));
}

/** Tests of a case on a server of the file's own, whose global settings may be changed. */
export function ownServerSuite(
  kinds: readonly ServerKind[],
  name: string,
  body: (server: () => OwnServer) => void,
): void {
  for (const kind of kinds) {
    // Where the shared one cannot be started, this one cannot either.
    if (testServer(kind) === null) {
      serverTest(kind, name, () => undefined);
      continue;
    }
    describe(`${name} [${kind}]`, () => {
      let server: OwnServer | null = null;
      before(async () => {
        server = await ownServer(kind);
      });
      after(async () => {
        await server?.[Symbol.asyncDispose]();
      });
      body(() => {
        if (server === null) throw new Error('the server is not started');
        return server;
      });
    });
  }
}
