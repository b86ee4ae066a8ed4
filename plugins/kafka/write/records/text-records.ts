import type { RowBatch, RowSchema, Section } from 'syncx/plugin-api';
import { chooseColumns } from 'syncx/plugin-kit';
import { KeyedRecords } from './keyed-records.js';
import { Cells, mismatch, putCell } from './row-cells.js';
import type { RecordOptions, RecordToWrite } from './row-records.js';

/** The one column is the value. */
export class TextRecords extends KeyedRecords {
  readonly #cells = new Cells();
  readonly #column: number;

  constructor(schema: RowSchema, o: RecordOptions) {
    super(schema, o.keyColumns);
    const { projection } = chooseColumns(schema, o.columns);
    const rest =
      o.columns === null ? projection.filter((i) => !o.keyColumns.includes(schema.columns[i]?.name ?? '')) : projection;
    const [only, ...more] = rest;
    if (only === undefined || more.length > 0) {
      const message = `codec text writes one column, and these are ${String(rest.length)}`;
      throw mismatch(message, 'Name the one in column, or write codec json.');
    }
    this.#column = only;
  }

  protected value(batch: RowBatch, section: Section, row: number, to: RecordToWrite): boolean {
    putCell(to, this.#cells.view(batch, section, row), this.#column);
    return true;
  }
}
