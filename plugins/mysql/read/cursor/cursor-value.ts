/** What a job with a cursor keeps between runs, as `sync state list --cursor` shows it: a point for each table. */
import type { JsonValue } from 'syncx/plugin-api';
import type { Shape } from '../split-spec.js';
import { showShape } from '../plan/shapes.js';

/** Up to where a table was read. */
export interface TableCursor {
  /** The highest value there was, with all its digits. */
  readonly value: string;
  /** The rows of that value that were read, by the columns `by`. Null: they cannot be told apart, or are too many. */
  readonly keys: readonly (readonly string[])[] | null;
  readonly by: readonly string[];
  /** How many rows had the value. */
  readonly rows: number;
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
