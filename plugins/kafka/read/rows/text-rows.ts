import { internSchema, type BatchBuilder, OP_INSERT, type ColumnInit, type RowSchema } from 'syncx/plugin-api';
import { fromRecord, unnamed, type ColumnSpec } from 'syncx/plugin-kit';
import type { RecordSlot } from '../../wire/record-reader.js';
import { PickedRows, type PickFault } from './picked-rows.js';
import type { Place } from './record-cells.js';
import type { NullValues } from './record-rows.js';

/** Columns that stand for the value, and others. */
export class TextRows extends PickedRows {
  readonly schema: RowSchema;
  readonly #columns: readonly ColumnSpec[];

  constructor(columns: readonly ColumnSpec[], place: Place, nulls: NullValues) {
    super({ wanted: columns, place, nulls, text: true });
    this.#columns = columns;
    this.schema = internSchema(
      columns.map((c, i): ColumnInit => ({
        name: c.name ?? unnamed(i),
        type: c.type,
        nullable: true,
        role: c.meta === null ? 'data' : 'meta',
      })),
    );
  }

  protected pick(r: RecordSlot, builder: BatchBuilder): PickFault | null {
    for (let i = 0; i < this.#columns.length; i++) {
      const column = this.#columns[i];
      if (column !== undefined && fromRecord(column)) builder.appendBytes(r.buffer, r.valueStart, r.valueEnd);
      else this.other(builder, i);
    }
    builder.endRow(OP_INSERT, r.timestamp);
    return null;
  }
}
