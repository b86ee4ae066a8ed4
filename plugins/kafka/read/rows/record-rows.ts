/** Records become rows. */
import type { BatchBuilder, RowSchema } from 'syncx/plugin-api';
import type { RecordSlot } from '../../wire/record-reader.js';

/** Makes the rows of one partition. */
export interface RecordRows {
  readonly schema: RowSchema;
  /** Appends the record's row, rejects it, or passes over it, as {@link NullValues} say. */
  append(slot: RecordSlot, builder: BatchBuilder): void;
}

/** What becomes of a record without a value. */
export type NullValues =
  | { readonly are: 'row' | 'reject' }
  /** `skipped`: one was passed over. */
  | { readonly are: 'skip'; readonly skipped: (offset: number) => void };
