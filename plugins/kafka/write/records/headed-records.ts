import type { RejectedRow, RowBatch, RowSchema, Section } from 'syncx/plugin-api';
import type { HeaderToWrite } from '../../wire/batch-writer.js';
import { NO_HEADERS_CELL, headersIn } from './header-cells.js';
import { Cells, indexOf, refused } from './row-cells.js';
import type { RecordToWrite, RowRecords } from './row-records.js';

export interface HeaderOptions {
  /** Of every record; before those of its row. */
  readonly always: readonly HeaderToWrite[];
  /** Column that holds further ones; null: none does. */
  readonly column: string | null;
}

export const NO_HEADERS: HeaderOptions = { always: [], column: null };

/** Records of another codec, with headers. */
export class HeadedRecords implements RowRecords {
  readonly #records: RowRecords;
  readonly #always: readonly HeaderToWrite[];
  readonly #column: number;
  readonly #name: string;
  readonly #cells = new Cells();

  /** @throws SyncError COLUMN_MISMATCH */
  constructor(records: RowRecords, schema: RowSchema, { always, column }: HeaderOptions) {
    this.#records = records;
    this.#always = always;
    this.#name = column ?? '';
    this.#column = column === null ? -1 : indexOf(schema, column);
  }

  record(batch: RowBatch, section: Section, row: number, to: RecordToWrite, reject: (r: RejectedRow) => void): boolean {
    if (!this.#records.record(batch, section, row, to, reject)) return false;
    const own = this.#column < 0 ? [] : headersIn(this.#cells.view(batch, section, row), this.#column);
    if (own === null) {
      reject(refused(batch, section, row, this.#name, NO_HEADERS_CELL));
      return false;
    }
    const all = [...this.#always, ...(to.headers ?? []), ...own];
    to.headers = all.length === 0 ? null : all;
    return true;
  }
}
