import type { BatchBuilder, RowSchema } from 'syncx/plugin-api';
import { CsvPicker, type ColumnSpec, type CsvDialect } from 'syncx/plugin-kit';
import type { RecordSlot } from '../../wire/record-reader.js';
import { PickedRows, type PickFault } from './picked-rows.js';
import type { Place } from './record-cells.js';
import type { NullValues } from './record-rows.js';

/** The value as one line of CSV, with its line end or without; within quotes lines may end. */
export class CsvRows extends PickedRows {
  readonly #picker: CsvPicker;

  constructor(dialect: CsvDialect, columns: readonly ColumnSpec[], place: Place, nulls: NullValues) {
    super({ wanted: columns, place, nulls, text: true });
    this.#picker = new CsvPicker(dialect, columns);
  }

  get schema(): RowSchema {
    return this.#picker.schema;
  }

  protected pick({ buffer, valueStart, valueEnd, timestamp }: RecordSlot, builder: BatchBuilder): PickFault | null {
    return this.#picker.pick(builder, buffer, valueStart, valueEnd, this.other, timestamp);
  }
}
