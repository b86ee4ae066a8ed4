/** What a job with a cursor keeps between runs, as `sync state list --cursor` shows it: a point for each table. */
import type { JsonValue } from 'syncx/plugin-api';
import type { CursorTail, Shape } from '../split-spec.js';
import { showShape } from '../plan/shapes.js';

/** Up to where a table was read; `value` comes first, for those who look at it. */
export interface TableCursor {
  /** The highest value there was, with all its digits. */
  readonly value: string;
  /** How many rows the tail names; without one: how many had the value. */
  readonly rows: number;
  /** The columns of the row keys. */
  readonly by: readonly string[];
  /** The newest rows. Null: they cannot be told apart, or too many of them have the value. */
  readonly tail: CursorTail | null;
}

/** By name of table. */
export type Cursors = Readonly<Record<string, TableCursor>>;

export function cursorName(shape: Shape): string {
  const name = showShape(shape);
  return shape.connection === 0 ? name : `${name}@${String(shape.connection)}`;
}

export const cursorsOf = (saved: JsonValue | null): Cursors => (saved ?? {}) as unknown as Cursors;

export const cursorsJson = (c: Cursors): JsonValue | null =>
  Object.keys(c).length === 0 ? null : (c as unknown as JsonValue);
