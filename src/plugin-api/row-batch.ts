import type { JsonValue } from './json.js';
import type { Position } from './position.js';
import type { RowSchema } from './row-schema.js';
import type { ErrorCode } from './error-codes.js';

/** Low bits of an entry of `ends`: the end offset of the cell in `data`. */
export const END_MASK = 0x3fff_ffff;
/** Flag bit of an entry of `ends`: the cell is SQL NULL (its length is 0). */
export const NULL_FLAG = 0x8000_0000;
/** Flag bit of an entry of `ends`: the source sent no value for the cell (a partial row image). */
export const ABSENT_FLAG = 0x4000_0000;
/** Hard limit of `data`, in bytes: the flags need the two upper bits. */
export const MAX_BATCH_BYTES = END_MASK;

export const OP_INSERT = 0;
export const OP_UPDATE_BEFORE = 1;
export const OP_UPDATE_AFTER = 2;
export const OP_DELETE = 3;
export type RowOp = typeof OP_INSERT | typeof OP_UPDATE_BEFORE | typeof OP_UPDATE_AFTER | typeof OP_DELETE;

/** Rows `firstRow` to `firstRow + rows - 1` of the batch, of one schema; their cells start at cell `firstCell`. */
export interface Section {
  readonly schema: RowSchema;
  readonly firstRow: number;
  readonly firstCell: number;
  readonly rows: number;
}

/** A row that could not be read or written: it is counted, kept in the dirty file, and never dropped in silence. */
export interface RejectedRow {
  /** The row, as text or as an object by column name: enough for a person to mend it. */
  readonly row: JsonValue;
  readonly column: string | null;
  readonly code: ErrorCode;
  readonly reason: string;
  /** file:line:column, topic-partition-offset …; null where the source has no places. */
  readonly place: string | null;
}

/**
 * The unit that flows: cells packed as canonical bytes (docs/specs/cells.md), row-major.
 *
 * Cell `i` is `data[end(i-1) .. end(i)]`, where `end(i) = ends[i] & END_MASK` and `end(-1) = 0`.
 * The buffers belong to the batch and do not change until the writer's `write` has resolved; who keeps them copies them.
 */
export interface RowBatch {
  readonly is: 'batch';
  readonly splitId: string;
  /** One for batch readers; interleaved changes of many tables have many. Empty where `rows` is 0. */
  readonly sections: readonly Section[];
  readonly rows: number;
  readonly data: Uint8Array;
  readonly ends: Uint32Array;
  /** One {@link RowOp} a row; null: all are inserts. An update-before is directly followed by its update-after. */
  readonly ops: Uint8Array | null;
  /** Safe point AFTER this batch. Null: inside a source transaction, no checkpoint here. `rows` 0 with a position: idle progress. */
  readonly position: Position | null;
  /** Milliseconds since 1970, a row each, where the source has them. */
  readonly eventTimes: Float64Array | null;
  /** Rows of this stretch of the source that could not be turned into cells. Null: none. */
  readonly rejected: readonly RejectedRow[] | null;
  /** Bytes consumed at the source for this batch (before decompression where it matters to the user's link). */
  readonly sourceBytes: number;
}
