import { OP_INSERT, type BatchBuilder, type RowOp, type RowSchema } from 'syncx/plugin-api';
import { JsonPicker, skipSpace, type WantedColumn } from 'syncx/plugin-kit';
import type { RecordSlot } from '../../wire/record-reader.js';
import { PickedRows, type PickFault } from './picked-rows.js';
import type { Place } from './record-cells.js';
import type { NullValues } from './record-rows.js';

/** The value as JSON. */
export class JsonRows extends PickedRows {
  readonly #picker: JsonPicker;
  readonly #kind: { op: RowOp; time: number } = { op: OP_INSERT, time: 0.5 };

  constructor(columns: readonly WantedColumn[] | null, place: Place, nulls: NullValues) {
    const picker = new JsonPicker(columns, 'value');
    super({ wanted: picker.wanted, place, nulls, text: true });
    this.#picker = picker;
  }

  get schema(): RowSchema {
    return this.#picker.schema;
  }

  protected pick({ buffer, valueStart, valueEnd, timestamp }: RecordSlot, builder: BatchBuilder): PickFault | null {
    const first = skipSpace(buffer, valueStart, valueEnd);
    if (first === valueEnd) return EMPTY;
    this.#kind.time = timestamp;
    return this.#picker.pick(builder, buffer, first, valueEnd, this.other, this.#kind);
  }
}

const EMPTY: PickFault = { column: null, reason: 'the value is empty, not JSON' };
