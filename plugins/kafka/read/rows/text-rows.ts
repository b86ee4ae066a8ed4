import { OP_INSERT, internSchema, type BatchBuilder, type ColumnInit, type RowSchema } from 'syncx/plugin-api';
import { fromRecord, unnamed, type ColumnSpec } from 'syncx/plugin-kit';
import type { RecordSlot } from '../../wire/record-reader.js';
import { NO_KEY, NO_TEXT, NO_TIME, appendOther, isText, isTimed, rejected, type Place } from './record-cells.js';
import type { RecordRows } from './record-rows.js';

/** Columns that stand for the value, and others. */
export class TextRows implements RecordRows {
  readonly schema: RowSchema;
  readonly #columns: readonly ColumnSpec[];
  readonly #place: Place;
  readonly #keyed: boolean;
  readonly #timed: boolean;

  constructor(columns: readonly ColumnSpec[], place: Place) {
    this.#place = place;
    this.#columns = columns;
    this.#keyed = columns.some((c) => c.meta === 'key');
    this.#timed = columns.some((c) => c.meta === 'timestamp');
    this.schema = internSchema(
      columns.map((c, i): ColumnInit => ({
        name: c.name ?? unnamed(i),
        type: c.type,
        nullable: true,
        role: c.meta === null ? 'data' : 'meta',
      })),
    );
  }

  append(r: RecordSlot, builder: BatchBuilder): void {
    const { valueStart, valueEnd } = r;
    if (this.#timed && !isTimed(r)) builder.reject(rejected(r, this.#place, null, NO_TIME));
    else if (!isText(r, valueStart, valueEnd)) builder.reject(rejected(r, this.#place, 'message', NO_TEXT));
    else if (this.#keyed && !isText(r, r.keyStart, r.keyEnd)) builder.reject(rejected(r, this.#place, null, NO_KEY));
    else {
      for (const c of this.#columns) {
        if (!fromRecord(c)) appendOther(builder, c, r, this.#place);
        else if (valueStart < 0) builder.appendNull();
        else builder.appendBytes(r.buffer, valueStart, valueEnd);
      }
      builder.endRow(OP_INSERT, r.timestamp);
    }
  }
}
