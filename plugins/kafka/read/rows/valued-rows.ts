import type { BatchBuilder, RowSchema } from 'syncx/plugin-api';
import type { RecordSlot } from '../../wire/record-reader.js';
import { NO_VALUE, rejected, type Place } from './record-cells.js';
import type { NullValues, RecordRows } from './record-rows.js';

/** Rows of records that have a value; the others are passed over, or rejected. */
export class ValuedRows implements RecordRows {
  readonly #rows: RecordRows;
  readonly #place: Place;
  readonly #nulls: NullValues;

  constructor(rows: RecordRows, place: Place, nulls: NullValues) {
    this.#rows = rows;
    this.#place = place;
    this.#nulls = nulls;
  }

  get schema(): RowSchema {
    return this.#rows.schema;
  }

  append(r: RecordSlot, builder: BatchBuilder): void {
    if (r.valueStart >= 0) this.#rows.append(r, builder);
    else if (this.#nulls.are === 'skip') this.#nulls.skipped(r.offset);
    else builder.reject(rejected(r, this.#place, null, NO_VALUE));
  }
}
