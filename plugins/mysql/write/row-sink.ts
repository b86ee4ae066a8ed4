/** The seam between a lane and what makes statements of its rows. */
import type { RowBatch, WriteResult } from 'syncx/plugin-api';
import type { RowWriter } from './rows/row-writer.js';

export interface RowSink {
  /** May keep rows (copies) for the next statement. */
  write(batch: RowBatch, signal: AbortSignal): Promise<WriteResult>;
  /** All rows are in the transaction when it resolves. */
  flush(): Promise<WriteResult>;
  /** Forgets rows that were not sent: their epoch is aborted. */
  clear(): void;
}

/** The rows of one table. */
export class TableSink implements RowSink {
  readonly #rows: RowWriter;

  constructor(rows: RowWriter) {
    this.#rows = rows;
  }

  async write(batch: RowBatch, signal: AbortSignal): Promise<WriteResult> {
    await this.#rows.write(batch, signal);
    return this.#told();
  }

  async flush(): Promise<WriteResult> {
    await this.#rows.flush();
    return this.#told();
  }

  clear(): void {
    this.#rows.clear();
  }

  #told(): WriteResult {
    return { rejected: this.#rows.takeRejected(), bytes: this.#rows.takeBytes() };
  }
}
