/** What planner and lanes of the reader tell each other; plain JSON, kept in checkpoints. */
import { SyncError, type JsonValue, type Split } from 'syncx/plugin-api';
import type { KeyValue } from '../sql/literals.js';
import type { Scan } from './pinned-scan.js';
import type { TableMark } from './table-mark.js';

/** A column as it was when the run began. */
export interface ShapeColumn {
  readonly name: string;
  readonly rawType: string;
  readonly nullable: boolean;
  /** MariaDB's JSON, whose rawType is longtext. */
  readonly json: boolean;
  /** Of texts of a table; all others have none. */
  readonly charset?: string;
  /** Of a column of the job that is none of the table: SQL, as the job has it. */
  readonly expression?: string;
}

/** A constant column of the job: `{name, type, value}`. */
export interface ConstantColumn {
  readonly name: string;
  readonly type: string;
  /** Canonical. */
  readonly constant: string;
}

/** One table or query that is read: its columns in the order of delivery, and how its rows are told apart. */
export interface Shape {
  /** Index into the option `connection`. */
  readonly connection: number;
  /** Null for a query. */
  readonly database: string | null;
  readonly table: string | null;
  /** The SELECT of `customSql` or `querySql`; null for a table. */
  readonly query: string | null;
  readonly columns: readonly (ShapeColumn | ConstantColumn)[];
  /** Columns that order the rows of a split, unique together; empty: rows have no such order, positions count them. */
  readonly orderKey: readonly ShapeColumn[];
  /** Of the table, not of its rows in the job: for `RowSchema.key`. */
  readonly primaryKey: readonly string[];
  /** Of base tables; plans of earlier versions have none, and are then not looked after. */
  readonly mark?: TableMark;
}

/**
 * Bounds of keys: tuples of values of the first columns of `columns`, compared column by column in the server's own order.
 * `after` and `from` exclude each other (above it; at or above it), so do `before` and `upTo`. Missing: no bound.
 */
export interface KeyRange {
  readonly columns: readonly ShapeColumn[];
  readonly after?: readonly string[];
  readonly from?: readonly string[];
  readonly before?: readonly string[];
  readonly upTo?: readonly string[];
}

/** What a run of a job with a cursor reads of a table: docs in read/cursor. */
export interface CursorWindow {
  readonly column: ShapeColumn;
  /** The columns of the row keys in tails; empty: the rows cannot be told apart. */
  readonly rowKey: readonly ShapeColumn[];
  readonly lower: CursorPoint | null;
  readonly upper: CursorPoint | null;
}

/** Which rows are done (lower), or read now (upper). */
export interface CursorPoint {
  readonly value: string;
  /** Whether rows that have the value itself are. */
  readonly own: boolean;
  /** Null: all rows up to the value are. Else those up to the tail's floor, and above it the ones that it names. */
  readonly tail: CursorTail | null;
}

/** The newest rows, one by one: of a row that comes among them later it can be told that it is none of them. */
export interface CursorTail {
  /** The tail has all rows above it; null: all that there are. */
  readonly floor: CursorFloor | null;
  readonly rows: readonly CursorRows[];
}

/** The rows above a value; `too`: and those that have it. */
export interface CursorFloor {
  readonly value: string;
  readonly too: boolean;
}

/**
 * A value of the column, and the keys (of `rowKey`) of rows that have it. With the value, as a row that is changed has
 * another one, and is to be read again.
 */
export type CursorRows = readonly [value: string, ...keys: (readonly string[])[]];

/** A split of the reader: rows of one shape. */
export interface SplitSpec {
  readonly format: 1;
  /** Index into the plan's shapes. */
  readonly shape: number;
  readonly range: KeyRange | null;
  /** The column whose NULL rows are this split; null: `range` says it all. */
  readonly nullsOf: ShapeColumn | null;
  /** Jobs with a cursor. */
  readonly window: CursorWindow | null;
}

/**
 * Where a lane is in a split.
 * - `key`: all rows up to and with this key (of `orderKey`) are read.
 * - `rows`, `hash`: the first `rows` rows are read, and their bytes have this hash: a resume reads them again, compares and
 *   goes on behind them. `scan`: by which index the server gave them; missing: unknown, or of an earlier version.
 */
export type SplitPosition =
  { readonly key: readonly KeyValue[] } | { readonly rows: number; readonly hash: string; readonly scan?: Scan };

export type CountedPosition = Extract<SplitPosition, { readonly rows: number }>;

/** A column of the table or query itself. */
export const isOwn = (c: ShapeColumn | ConstantColumn): c is ShapeColumn =>
  !isConstant(c) && c.expression === undefined;

export const isConstant = (c: ShapeColumn | ConstantColumn): c is ConstantColumn => 'constant' in c;

/** @throws SyncError STATE_MISFIT where the spec is not of this version. */
export function splitSpecOf(split: Split): SplitSpec {
  const spec = split.spec as unknown as SplitSpec;
  if ((spec.format as number) !== 1) throw new SyncError('STATE_MISFIT', `the split ${split.id} is of another version`);
  return spec;
}

export const specJson = (spec: SplitSpec): JsonValue => spec as unknown as JsonValue;
