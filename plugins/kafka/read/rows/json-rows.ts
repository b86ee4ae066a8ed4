import type { BatchBuilder, RowSchema } from 'syncx/plugin-api';
import { JsonPicker, skipSpace, type OtherCell, type WantedColumn } from 'syncx/plugin-kit';
import type { RecordSlot } from '../../wire/record-reader.js';
import { NO_KEY, NO_TEXT, NO_TIME, appendOther, isText, isTimed, rejected, type Place } from './record-cells.js';
import type { RecordRows } from './record-rows.js';

/** The value as JSON. A record without a value (a tombstone) is no row. */
export class JsonRows implements RecordRows {
  readonly #picker: JsonPicker;
  readonly #other: OtherCell;
  readonly #place: Place;
  readonly #keyed: boolean;
  readonly #timed: boolean;
  #record: RecordSlot | null = null;

  constructor(columns: readonly WantedColumn[] | null, place: Place) {
    this.#place = place;
    this.#picker = new JsonPicker(columns, 'value');
    const { wanted } = this.#picker;
    this.#keyed = wanted.some((c) => c.meta === 'key');
    this.#timed = wanted.some((c) => c.meta === 'timestamp');
    this.#other = (builder, i) => {
      const column = wanted[i];
      if (column !== undefined && this.#record !== null) appendOther(builder, column, this.#record, place);
    };
  }

  get schema(): RowSchema {
    return this.#picker.schema;
  }

  append(r: RecordSlot, builder: BatchBuilder): void {
    const { buffer, valueStart, valueEnd } = r;
    if (valueStart < 0) return;
    const fault = this.#fault(r) ?? this.#pick(r, builder, skipSpace(buffer, valueStart, valueEnd));
    if (fault !== null) builder.reject(rejected(r, this.#place, fault.column, fault.reason));
  }

  #fault(r: RecordSlot): { readonly column: null; readonly reason: string } | null {
    if (!isText(r, r.valueStart, r.valueEnd)) return { column: null, reason: NO_TEXT };
    if (this.#keyed && !isText(r, r.keyStart, r.keyEnd)) return { column: null, reason: NO_KEY };
    if (this.#timed && !isTimed(r)) return { column: null, reason: NO_TIME };
    return null;
  }

  #pick(r: RecordSlot, builder: BatchBuilder, first: number): { column: string | null; reason: string } | null {
    if (first === r.valueEnd) return { column: null, reason: 'the value is empty, not JSON' };
    this.#record = r;
    return this.#picker.pick(builder, r.buffer, first, r.valueEnd, this.#other);
  }
}
