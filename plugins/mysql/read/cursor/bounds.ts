/**
 * What one run of a job with a cursor reads. Its end is the highest value that there is, with the newest rows by name
 * (newest-rows.ts): rows among them that come later are told from those that were read, and no row is read twice.
 */
import type { CursorBounds, JsonValue, Logger } from 'syncx/plugin-api';
import { columnLiteral, keyType } from '../plan/key-predicate.js';
import { showShape } from '../plan/shapes.js';
import type { SourceSessions } from '../plan/source-sessions.js';
import type { CursorFloor } from '../split-spec.js';
import { cursorName, cursorsJson, cursorsOf, type TableCursor } from './cursor-value.js';
import { highest, type CursorTable } from './cursor-tables.js';
import { isNew, newestRows } from './newest-rows.js';
import { waitForTick, waitForWriters } from './open-transactions.js';

export interface BoundsPlan {
  readonly sessions: SourceSessions;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** How long to wait for open transactions; null: for nothing at all, as in plans. */
  readonly waitMs: number | null;
  /** Of a table that no run has read yet: what startLocation says; null: all is read. */
  readonly start: (t: CursorTable) => CursorFloor | null;
}

export async function nextBounds(
  lower: JsonValue | null,
  tables: readonly CursorTable[],
  plan: BoundsPlan,
): Promise<CursorBounds> {
  const { sessions, waitMs } = plan;
  const before = cursorsOf(lower);
  const upper: Record<string, TableCursor> = {};
  const tops: { readonly t: CursorTable; readonly value: string; readonly floor: CursorFloor | null }[] = [];
  for (const t of tables) {
    const low = before[cursorName(t.shape)];
    if (low !== undefined) upper[cursorName(t.shape)] = low;
    const floor = low === undefined ? plan.start(t) : floorOf(t, low);
    const from = low?.value ?? floor?.value ?? null;
    const highestNow = await sessions.on(t.shape.connection, (s) => highest(s, t, from));
    // Where the newest rows are gone, others may have come below them.
    const value = highestNow ?? (low === undefined || low.tail === null ? null : low.value);
    if (value === null) continue;
    tops.push({ t, value, floor });
    if (waitMs === null) continue;
    await sessions.on(t.shape.connection, (s) => waitForTick(s, keyType(t.column), value, plan.signal));
  }
  // Rows that those transactions commit are at or below what was read, and not there yet.
  for (const connection of new Set(waitMs === null ? [] : tops.map(({ t }) => t.shape.connection))) {
    await sessions.on(connection, (s) => waitForWriters(s, waitMs ?? 0, plan.log, plan.signal));
  }
  for (const { t, value, floor } of tops) {
    const name = cursorName(t.shape);
    const now = await cursorAt(t, value, floor, sessions);
    const low = before[name];
    if (low !== undefined && !isNew(now, isTold(t, low) ? low : { ...low, rows: null, tail: null })) continue;
    upper[name] = now;
    if (now.tail === null) sayTies(t, now, plan.log);
  }
  return { lower, upper: cursorsJson(upper) };
}

/** Whether rows are still told apart as they were then. */
export const isTold = (t: CursorTable, c: TableCursor): boolean =>
  c.tail !== null && c.by.join() === t.rowKey.map((k) => k.name).join();

/** What is not known of all rows as done. */
const floorOf = (t: CursorTable, c: TableCursor): CursorFloor | null =>
  c.tail !== null && isTold(t, c) ? c.tail.floor : { value: c.value, too: true };

export async function cursorAt(
  t: CursorTable,
  value: string,
  floor: CursorFloor | null,
  sessions: SourceSessions,
): Promise<TableCursor> {
  const newest = await sessions.on(t.shape.connection, (s) => newestRows(s, t, value, floor));
  return { value: newest.value, rows: newest.rows, by: t.rowKey.map((c) => c.name), tail: newest.tail };
}

function sayTies(t: CursorTable, { value, rows }: TableCursor, log: Logger): void {
  const why = t.rowKey.length === 0 ? 'no key tells them apart' : 'they are too many to remember';
  log.info(
    { table: showShape(t.shape), value: columnLiteral(t.column, value), rows },
    `the rows of the highest value may be delivered again by the next run: ${why}`,
  );
}
