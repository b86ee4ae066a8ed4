/**
 * What one run of a job with a cursor reads. Its end is the highest value that there is, with the keys of the rows that have
 * it: rows of the same value that come later are told from those that were read, and no row is read twice.
 */
import type { CursorBounds, JsonValue, Logger } from 'syncx/plugin-api';
import { columnLiteral, keyType } from '../plan/key-predicate.js';
import { showShape } from '../plan/shapes.js';
import type { SourceSessions } from '../plan/source-sessions.js';
import { cursorName, cursorsJson, cursorsOf, type TableCursor } from './cursor-value.js';
import { highest, rowsOfValue, type CursorTable } from './cursor-tables.js';
import { waitForTick, waitForWriters } from './open-transactions.js';

export interface BoundsPlan {
  readonly sessions: SourceSessions;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** How long to wait for open transactions. */
  readonly waitMs: number;
  /** Of a table that no run has read yet: the value of startLocation; null: all is read. */
  readonly start: (t: CursorTable) => string | null;
}

export async function nextBounds(
  lower: JsonValue | null,
  tables: readonly CursorTable[],
  plan: BoundsPlan,
): Promise<CursorBounds> {
  const { sessions } = plan;
  const before = cursorsOf(lower);
  const upper: Record<string, TableCursor> = {};
  const tops: { readonly t: CursorTable; readonly value: string }[] = [];
  for (const t of tables) {
    const low = before[cursorName(t.shape)];
    if (low !== undefined) upper[cursorName(t.shape)] = low;
    const value = await sessions.on(t.shape.connection, (s) => highest(s, t, low?.value ?? plan.start(t)));
    if (value === null) continue;
    tops.push({ t, value });
    await sessions.on(t.shape.connection, (s) => waitForTick(s, keyType(t.column), value, plan.signal));
  }
  // Rows that those transactions commit are at or below what was read, and not there yet.
  for (const connection of new Set(tops.map(({ t }) => t.shape.connection))) {
    await sessions.on(connection, (s) => waitForWriters(s, plan.waitMs, plan.log, plan.signal));
  }
  for (const { t, value } of tops) {
    const name = cursorName(t.shape);
    const now = await cursorAt(t, value, sessions);
    const low = before[name];
    if (low === undefined || isNew(now, low)) upper[name] = now;
    if (now.keys === null && now !== low) sayTies(t, now, plan.log);
  }
  return { lower, upper: cursorsJson(upper) };
}

export async function cursorAt(t: CursorTable, value: string, sessions: SourceSessions): Promise<TableCursor> {
  const { keys, rows } = await sessions.on(t.shape.connection, (s) => rowsOfValue(s, t, value));
  return { value, keys, by: t.rowKey.map((c) => c.name), rows };
}

/** Whether there is a row that a run up to `low` did not read. */
function isNew(now: TableCursor, low: TableCursor): boolean {
  if (now.value !== low.value) return true;
  if (now.keys === null || low.keys === null || now.by.join() !== low.by.join()) return now.rows !== low.rows;
  const known = new Set(low.keys.map((k) => JSON.stringify(k)));
  return now.keys.some((k) => !known.has(JSON.stringify(k)));
}

function sayTies(t: CursorTable, { value, rows }: TableCursor, log: Logger): void {
  const why = t.rowKey.length === 0 ? 'no key tells them apart' : 'they are too many to remember';
  log.info(
    { table: showShape(t.shape), value: columnLiteral(t.column, value), rows },
    `the rows of the highest value may be delivered again by the next run: ${why}`,
  );
}
