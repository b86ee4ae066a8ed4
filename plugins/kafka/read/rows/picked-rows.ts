import { OP_INSERT, type BatchBuilder, type RowSchema } from 'syncx/plugin-api';
import { fromRecord, type ColumnSpec, type OtherCell } from 'syncx/plugin-kit';
import type { RecordSlot } from '../../wire/record-reader.js';
import { NO_VALUE, appendOther, rejected, type Place } from './record-cells.js';
import { RecordCheck } from './record-check.js';
import type { NullValues, RecordRows } from './record-rows.js';

export interface PickFault {
  readonly column: string | null;
  readonly reason: string;
}

export interface PickedOptions {
  readonly wanted: readonly ColumnSpec[];
  readonly place: Place;
  readonly nulls: NullValues;
  /** False: values may be any bytes. */
  readonly text: boolean;
}

/** Rows whose cells are picked from the value, with constants and what else is known of the record between them. */
export abstract class PickedRows implements RecordRows {
  abstract readonly schema: RowSchema;
  /** For the columns that are not in the value. */
  protected readonly other: OtherCell;
  readonly #o: PickedOptions;
  readonly #check: RecordCheck;
  #record: RecordSlot | null = null;

  constructor(o: PickedOptions) {
    this.#o = o;
    const { wanted, place } = o;
    this.#check = new RecordCheck(wanted, o.text);
    this.other = (builder, i) => {
      const column = wanted[i];
      if (column !== undefined && this.#record !== null) appendOther(builder, column, this.#record, place);
    };
  }

  append(r: RecordSlot, builder: BatchBuilder): void {
    this.#record = r;
    const fault = this.#fault(r) ?? (r.valueStart < 0 ? this.#appendNull(r, builder) : this.pick(r, builder));
    if (fault !== null) builder.reject(rejected(r, this.#o.place, fault.column, fault.reason));
  }

  /**
   * Appends the row of the value, which is there; {@link other} knows of the record.
   * @returns why it has none, and nothing was appended; null: it has.
   */
  protected abstract pick(r: RecordSlot, builder: BatchBuilder): PickFault | null;

  #fault(r: RecordSlot): PickFault | null {
    const reason = this.#check.fault(r);
    return reason === null ? null : { column: null, reason };
  }

  #appendNull(r: RecordSlot, builder: BatchBuilder): PickFault | null {
    const { nulls, wanted } = this.#o;
    switch (nulls.are) {
      case 'skip':
        nulls.skipped(r.offset);
        return null;
      case 'reject':
        return { column: null, reason: NO_VALUE };
      case 'row':
        wanted.forEach((c, i) => {
          if (fromRecord(c)) builder.appendNull();
          else this.other(builder, i);
        });
        builder.endRow(OP_INSERT, r.timestamp);
        return null;
    }
  }
}
