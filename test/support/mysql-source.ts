/** Tables that crash tests read from MySQL, with the rows that a copy of them must hold, and jobs that are killed on the way. */
import { readFileSync } from 'node:fs';
import { assertKilled } from './crash.js';
import type { Session } from './databases.js';
import { jobFile, type JobParts, type Json } from './mysql-job.js';
import { sync, type SyncResult } from './sync.js';
import { tree, type Workspace } from './workspace.js';

export type Cell = string | null;

export interface SourceTable {
  /** Columns as CREATE TABLE has them. */
  readonly columns: Readonly<Record<string, string>>;
  /** `primary key (id)` and the like; empty: none. */
  readonly keys?: string;
  readonly rows: number;
  /** The cells of row `n`, from 1 on. */
  row(n: number): readonly Cell[];
}

/** So few rows are in a statement that servers of any age take it. */
const ROWS_AT_ONCE = 500;

const columnsOf = (t: SourceTable): string =>
  Object.entries(t.columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ');

export async function insertRows(db: Session, table: string, rows: readonly (readonly Cell[])[]): Promise<void> {
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    const part = rows.slice(at, at + ROWS_AT_ONCE);
    const values = part.map((r) => `(${r.map(() => '?').join()})`).join();
    await db.query(`insert into ${table} values ${values}`, part.flat());
  }
}

/** Filled, with statistics that know it, so that it is cut as the job says. */
export async function makeSource(db: Session, t: SourceTable, name = 's'): Promise<void> {
  const keys = t.keys === undefined ? '' : `, ${t.keys}`;
  await db.query(`create table ${name} (${columnsOf(t)}${keys}) engine=InnoDB`);
  await insertRows(
    db,
    name,
    Array.from({ length: t.rows }, (_, i) => t.row(i + 1)),
  );
  await db.query(`analyze table ${name}`);
}

/** Without any key: a row that is written twice stands there twice. */
export async function makeTarget(db: Session, t: SourceTable, name = 't'): Promise<void> {
  await db.query(`create table ${name} (${columnsOf(t)}) engine=InnoDB`);
}

const lineOf = (row: readonly unknown[]): string => row.map((c) => (c === null ? '\\N' : String(c))).join('|');

/** Rows as lines, sorted; columns of bytes as hex. */
export async function rowsOf(db: Session, table: string, columns: readonly string[]): Promise<readonly string[]> {
  return (await db.query(`select ${columns.join()} from ${table}`)).map(lineOf).sort();
}

/** Four batches a second at most, each an epoch: kills by a step then land between the rows of a split. */
export const slow = (channel: number, rowsOfBatch: number): Json => ({
  speed: { channel, record: 4 * rowsOfBatch },
  checkpoint: { interval: 1 },
});

const quick = (setting: Json): Json => ({
  ...setting,
  speed: { ...(setting['speed'] as Json), record: 20_000 },
});

export interface KilledJob {
  readonly ws: Workspace;
  /** With the setting of the starts that are killed. */
  readonly job: JobParts;
  readonly kills: readonly string[];
  /** Lanes of each start, the last one's too; default: what the setting says. */
  readonly channels?: readonly number[];
  /** Between a kill and the next start. */
  readonly between?: (kill: number) => Promise<void>;
}

/** Kills one start after the other and lets the last one, which need not be slow, come to its end. */
export async function runKilled({ ws, job, kills, channels, between }: KilledJob): Promise<SyncResult> {
  let starts = 0;
  const run = (common: Json, failpoint?: string): Promise<SyncResult> => {
    const channel = channels?.[starts++];
    const speed = { ...(common['speed'] as Json), ...(channel === undefined ? {} : { channel }) };
    return sync(['run', jobFile(ws, { ...job, setting: { ...common, speed } }), '--output', 'json'], {
      cwd: ws.dir,
      ...(failpoint === undefined ? {} : { failpoint }),
    });
  };
  const setting = job.setting ?? {};
  for (const [i, point] of kills.entries()) {
    assertKilled(await run(setting, point), point);
    await between?.(i);
  }
  return run(quick(setting));
}

interface SavedOpen {
  readonly open: readonly { readonly split: { readonly id: string }; readonly position: unknown }[];
}

interface Place {
  readonly key?: readonly unknown[];
  readonly rows?: number;
}

/** Where the splits stand that the newest checkpoint of the only job has as open. */
export function openPositions(ws: Workspace): readonly unknown[] {
  const epochOf = (name: string): number => Number(/\/(\d+)\.ckpt$/.exec(name)?.[1] ?? -1);
  const newest = [...tree(ws.path('state'))].sort((a, b) => epochOf(a) - epochOf(b)).at(-1) ?? '';
  if (epochOf(newest) < 1) return [];
  const [line = ''] = readFileSync(ws.path('state', newest), 'utf8').split('\n');
  return (JSON.parse(line) as SavedOpen).open.map((o) => o.position);
}

/** Whether the next start begins between two rows of a split, or of a window of a polled table. */
export function isInsideSplit(ws: Workspace): boolean {
  return openPositions(ws).some((p) => {
    const position = p as (Place & { readonly at?: Place | null }) | null;
    const place = position !== null && 'at' in position ? position.at : position;
    return (place?.key?.length ?? 0) > 0 || (place?.rows ?? 0) > 0;
  });
}
