/** What `sync verify` asks of plugins: how what was written is read again, and sums that a side computes in place. */
import type { JsonObject } from './json.js';
import type { LogicalType } from './logical-type.js';
import type { Split } from './split.js';

export interface WrittenColumn {
  /** At the reader, behind the job's transforms. */
  readonly from: string;
  /** At the target, as the reader that reads it again calls it. */
  readonly to: string;
}

/** How a target is read again. */
export interface ReadBack {
  /** Name of a reader, with its options as a job file would give them. Secrets may be inside: never log or persist them. */
  readonly reader: string;
  readonly options: JsonObject;
  /** Which columns of the rows are written, in the target's order, by the writer's own rule. */
  readonly columns: readonly WrittenColumn[];
  /**
   * Options of this same writer, as a job file would give them, with which single rows of the target are put right: it takes
   * `OP_INSERT`, `OP_UPDATE_BEFORE`/`OP_UPDATE_AFTER` and `OP_DELETE`, finds rows by key, and does nothing else to the target
   * (nothing is emptied or swapped, no SQL of the job runs). Null: it can only add rows.
   */
  readonly changes: JsonObject | null;
}

/** Values of the key's columns, as text. */
export type KeyTuple = readonly string[];

/** Rows with a key above `after`, up to and with `upTo`; null: no bound. */
export interface ChunkRange {
  readonly after: KeyTuple | null;
  readonly upTo: KeyTuple | null;
}

export interface DigestColumn {
  readonly name: string;
  readonly type: LogicalType;
  readonly nullable: boolean;
  /** Two columns with the same word put their values in the same order: a collation, `number`, `bytes`. Null: not to be cut by. */
  readonly order: string | null;
}

export interface DigestFacts {
  readonly columns: readonly DigestColumn[];
  /** Columns that tell every row apart and have an index, in its order. */
  readonly key: readonly string[];
}

/** A column in a sum. */
export interface SummedColumn {
  readonly name: string;
  /** Type of its counterpart: both sides sum it in a form that the two types share. */
  readonly other: LogicalType;
  /** On either side. Both must mark NULL alike. */
  readonly nullable: boolean;
}

export interface ChunkSum {
  readonly rows: number;
  /** As text: a sum over the rows of a hash of 32 bits at the least that is not linear. Never an XOR: pairs would cancel. */
  readonly sum: string;
}

/**
 * Sums over stretches of rows, computed where they are, so that stretches with equal sums need not be read. Two sides of one
 * `family` give equal sums for equal rows. All rows of the reader are in the stretches.
 */
export interface Digest extends AsyncDisposable {
  readonly family: string;
  readonly facts: DigestFacts;
  /** Pure: whether values of the two types have a form in common here. */
  comparable(own: LogicalType, other: LogicalType): boolean;
  /** A key of the stretch with about `rows` rows up to it, and no more; null: so many are not left behind it. */
  border(range: ChunkRange, rows: number): Promise<KeyTuple | null>;
  sum(range: ChunkRange, columns: readonly SummedColumn[]): Promise<ChunkSum>;
  /** A split for a lane of this reader: the rows of the stretch. */
  split(range: ChunkRange): Split;
}
