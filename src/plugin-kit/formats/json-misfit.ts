import type { ColumnSpec } from './column-spec.js';
import { fromRecord } from './meta-column.js';

/** Why a whole kind of JSON values cannot give the wanted columns: such a one is a dirty row, never a row of NULLs. */
export interface Misfit {
  /** The first column that cannot be picked. */
  readonly column: string | null;
  readonly reason: string;
}

/** Objects have no order: a column of theirs needs a name. */
export function objectMisfit(columns: readonly ColumnSpec[], noun: string): Misfit | null {
  const at = columns.findIndex((c) => fromRecord(c) && c.name === null);
  const c = columns[at];
  if (c === undefined) return null;
  const by = c.index === null ? 'has no name' : `is picked by index ${String(c.index)}`;
  const column = c.index === null ? null : `f${String(c.index)}`;
  return { column, reason: `the ${noun} is an object, but column ${String(at + 1)} ${by}: give it a name` };
}

/** Arrays have no keys: a column of theirs needs an index. */
export function arrayMisfit(columns: readonly ColumnSpec[], noun: string): Misfit | null {
  const at = columns.findIndex((c) => fromRecord(c) && c.index === null);
  const c = columns[at];
  if (c === undefined) return null;
  const by = c.name === null ? 'has no index' : `\`${c.name}\` is picked by name`;
  return { column: c.name, reason: `the ${noun} is an array, but column ${String(at + 1)} ${by}: give it an index` };
}
