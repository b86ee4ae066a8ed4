/** Records become rows. */
import type { BatchBuilder, RowSchema } from 'syncx/plugin-api';
import type { RecordSlot } from '../../wire/record-reader.js';

/** Makes the rows of one partition. */
export interface RecordRows {
  readonly schema: RowSchema;
  /** Appends the record's row, rejects it, or passes over it, as the codec does with null values. */
  append(slot: RecordSlot, builder: BatchBuilder): void;
}
