import {
  OP_DELETE,
  OP_INSERT,
  OP_UPDATE_AFTER,
  OP_UPDATE_BEFORE,
  internSchema,
  type BatchBuilder,
  type RowOp,
  type RowSchema,
} from 'syncx/plugin-api';
import { skipSpace, type JsonFault, type OtherCell, type RowKind, type WantedColumn } from 'syncx/plugin-kit';
import type { RecordSlot } from '../../wire/record-reader.js';
import { clear, newChange, type ChangeFormat } from './change.js';
import { ChangeTables, type ChangeTable, type Included, type RowShape } from './change-tables.js';
import { appendOther, rejected, type Place } from './record-cells.js';
import { RecordCheck } from './record-check.js';
import type { RecordRows } from './record-rows.js';

export interface ChangeOptions {
  readonly columns: readonly WantedColumn[] | null;
  readonly included: Included;
  /** Hears of records that are no changes of rows: what they say, and of which table. */
  readonly note: (what: string, table: string | null, place: string) => void;
}

/**
 * Rows with operations, of records that tell of changes. A record may have several rows, which come together or, where one
 * is bad, not at all: the record is then one dirty row. A record without a value (the tombstone behind a delete) is no row.
 */
export class ChangeRows implements RecordRows {
  readonly schema: RowSchema;
  readonly #format: ChangeFormat;
  readonly #place: Place;
  readonly #o: ChangeOptions;
  readonly #tables: ChangeTables;
  readonly #check: RecordCheck;
  readonly #change = newChange();
  readonly #other: OtherCell;
  readonly #kind: { op: RowOp; time: number } = { op: OP_INSERT, time: 0.5 };
  readonly #places: [number, number, number, number] = [0, 0, 0, 0];
  #record: RecordSlot | null = null;
  #table: ChangeTable | null = null;
  #shape: RowShape | null = null;

  constructor(format: ChangeFormat, place: Place, options: ChangeOptions) {
    const columns = options.columns ?? (['*'] as const);
    this.#format = format;
    this.#place = place;
    this.#o = options;
    this.#tables = new ChangeTables(format, columns, options.included);
    this.#check = new RecordCheck(columns, true);
    // Of batches without rows; each row's section has the schema of its table.
    this.schema = internSchema([{ name: 'json', type: { is: 'json' } }]);
    this.#other = (builder, i) => {
      const column = this.#shape?.picker.wanted[i];
      if (column === undefined || this.#record === null) return;
      if (column.meta === 'database') appendName(builder, this.#table?.database ?? null);
      else if (column.meta === 'table') appendName(builder, this.#table?.table ?? null);
      else appendOther(builder, column, this.#record, place);
    };
  }

  append(r: RecordSlot, builder: BatchBuilder): void {
    if (r.valueStart < 0) return;
    const fault = this.#check.fault(r) ?? this.#read(r, builder);
    if (fault === null) return;
    if (typeof fault === 'string') builder.reject(rejected(r, this.#place, null, fault));
    else builder.reject(rejected(r, this.#place, fault.column, fault.reason));
  }

  #read(r: RecordSlot, builder: BatchBuilder): JsonFault | string | null {
    const change = this.#change;
    clear(change);
    const { buffer: b, valueEnd } = r;
    const fault = this.#format.open(b, skipSpace(b, r.valueStart, valueEnd), valueEnd, change);
    if (fault !== null) return fault;
    const table = this.#tables.of(b, change);
    if (table.fault !== null) return table.fault;
    if (!table.included) return null;
    const misread = this.#format.read(b, change);
    if (misread !== null) return misread;
    if (change.note !== null)
      this.#o.note(change.note, table.name, `${this.#place.topic}-${this.#place.partition}@${String(r.offset)}`);
    if (change.is === 'none') return null;
    this.#record = r;
    this.#table = table;
    return this.#rows(b, builder, table, r.timestamp);
  }

  #rows(b: Buffer, builder: BatchBuilder, table: ChangeTable, time: number): JsonFault | string | null {
    const { is, images, olds, partialOlds } = this.#change;
    const before = builder.rows;
    for (let i = 0; i < images.length; i += 2) {
      const [start, end] = [images[i] ?? 0, images[i + 1] ?? 0];
      const shape = table.shape(b, start, end);
      if (typeof shape === 'string') return takeBack(builder, before, shape);
      this.#shape = shape;
      builder.startSection(shape.schema);
      const { picker } = shape;
      let fault: JsonFault | null = null;
      if (is === 'update') {
        const [old, oldEnd] = [olds[i] ?? 0, olds[i + 1] ?? 0];
        const kind = this.#as(OP_UPDATE_BEFORE, time);
        if (partialOlds) {
          const at = this.#places;
          [at[0], at[1], at[2], at[3]] = [start, end, old, oldEnd];
          fault = picker.pickOld(builder, b, at, this.#other, kind);
        } else fault = picker.pick(builder, b, old, oldEnd, this.#other, kind);
      }
      const op = is === 'insert' ? OP_INSERT : is === 'update' ? OP_UPDATE_AFTER : OP_DELETE;
      fault ??= picker.pick(builder, b, start, end, this.#other, this.#as(op, time));
      if (fault !== null) return takeBack(builder, before, fault);
    }
    return null;
  }

  #as(op: RowOp, time: number): RowKind {
    this.#kind.op = op;
    this.#kind.time = time;
    return this.#kind;
  }
}

function appendName(builder: BatchBuilder, name: string | null): void {
  if (name === null) builder.appendNull();
  else builder.appendText(name);
}

function takeBack<T>(builder: BatchBuilder, rows: number, fault: T): T {
  builder.dropRow(rows);
  return fault;
}
