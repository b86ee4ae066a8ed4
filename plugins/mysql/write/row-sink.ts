/** The seam between a lane and what makes statements of its rows. */
import type { RowBatch, WriteResult } from 'syncx/plugin-api';
import type { Statements } from './statements.js';

export interface RowSink {
  /** May keep rows (copies) for the next statement. */
  write(batch: RowBatch, to: Statements): Promise<WriteResult>;
  /** All rows are in the transaction when it resolves. */
  flush(to: Statements): Promise<WriteResult>;
  /** Forgets rows that were not sent: their epoch is aborted. */
  clear(): void;
}
