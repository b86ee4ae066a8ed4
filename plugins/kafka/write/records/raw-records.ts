import type { RejectedRow, RowBatch, RowSchema, Section } from 'syncx/plugin-api';
import { KeyedRecords } from './keyed-records.js';
import { CellTime } from './cell-time.js';
import { NO_HEADERS_CELL, headersIn } from './header-cells.js';
import { Cells, indexOf, isThere, putCell, refused } from './row-cells.js';
import type { RecordOptions, RecordToWrite } from './row-records.js';

/** Rows as the reader's codec raw makes them: value, and key, headers and timestamp where they are there. */
export class RawRecords extends KeyedRecords {
  readonly #cells = new Cells();
  readonly #time = new CellTime();
  readonly #value: number;
  readonly #key: number;
  readonly #headers: number;
  readonly #timestamp: number;

  constructor(schema: RowSchema, o: RecordOptions) {
    super(schema, o.keyColumns);
    const at = (name: string): number => schema.columns.findIndex((c) => c.name === name);
    this.#value = indexOf(schema, 'value');
    this.#key = o.keyColumns.length > 0 ? -1 : at('key');
    this.#headers = at('headers');
    this.#timestamp = at('timestamp');
  }

  protected value(
    batch: RowBatch,
    section: Section,
    row: number,
    to: RecordToWrite,
    reject: (r: RejectedRow) => void,
  ): boolean {
    const view = this.#cells.view(batch, section, row);
    const has = (column: number): boolean => column >= 0 && isThere(view, column);
    putCell(to, view, this.#value);
    if (this.#key >= 0) to.key = has(this.#key) ? view.bytes(this.#key) : null;
    if (has(this.#timestamp)) {
      to.timestamp = this.#time.read(view.data, view.start(this.#timestamp), view.end(this.#timestamp));
      if (Number.isNaN(to.timestamp)) {
        reject(refused(batch, section, row, 'timestamp', 'is no time that a record can have'));
        return false;
      }
    }
    if (this.#headers < 0) return true;
    to.headers = headersIn(view, this.#headers);
    if (to.headers !== null) return true;
    reject(refused(batch, section, row, 'headers', NO_HEADERS_CELL));
    return false;
  }
}
