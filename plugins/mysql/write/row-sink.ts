import type { RowBatch, WriteResult } from 'syncx/plugin-api';
import type { RowWriter } from './rows/row-writer.js';

/** The row writer as a lane sees it: what came of the rows, after each call. */
export class RowSink {
  readonly #rows: RowWriter;

  constructor(rows: RowWriter) {
    this.#rows = rows;
  }

  /** May keep rows (copies) for the next statement. */
  async write(batch: RowBatch, signal: AbortSignal): Promise<WriteResult> {
    await this.#rows.write(batch, signal);
    return this.#taken();
  }

  /** All rows are in the transaction when it resolves. */
  async flush(): Promise<WriteResult> {
    await this.#rows.flush();
    return this.#taken();
  }

  /** Forgets rows that were not sent: their epoch is aborted. */
  clear(): void {
    this.#rows.clear();
  }

  #taken(): WriteResult {
    return { rejected: this.#rows.takeRejected(), bytes: this.#rows.takeBytes() };
  }
}
