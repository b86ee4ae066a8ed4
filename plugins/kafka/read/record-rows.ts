/** Records become rows: the codecs that take one record for one row. */
import { isUtf8 } from 'node:buffer';
import {
  OP_INSERT,
  internSchema,
  type BatchBuilder,
  type ColumnInit,
  type LogicalType,
  type RejectedRow,
  type RowSchema,
} from 'syncx/plugin-api';
import {
  JsonPicker,
  fromRecord,
  isSpec,
  showBytes,
  skipSpace,
  unnamed,
  type ColumnSpec,
  type OtherCell,
  type WantedColumn,
} from 'syncx/plugin-kit';
import { headersOf } from '../wire/record-headers.js';
import type { RecordSlot } from '../wire/record-reader.js';

/** Makes the rows of one partition. */
export interface RecordRows {
  readonly schema: RowSchema;
  /** Appends the record's row, rejects it, or passes over it, as the codec does with null values. */
  append(slot: RecordSlot, builder: BatchBuilder): void;
}

export type Codec = 'json' | 'text' | 'raw';

const BINARY: LogicalType = { is: 'binary' };

/** What rows say of the partition that they come from. */
interface Place {
  readonly topic: string;
  /** Digits. */
  readonly partition: string;
}

/** Appends a constant, or what is known of a record beside its value. */
function appendOther(builder: BatchBuilder, column: ColumnSpec, r: RecordSlot, place: Place): void {
  switch (column.meta) {
    case 'topic':
      builder.appendText(place.topic);
      return;
    case 'partition':
      builder.appendText(place.partition);
      return;
    case 'offset':
      builder.appendText(String(r.offset));
      return;
    case 'timestamp':
      appendTime(builder, r.timestamp);
      return;
    case 'key':
      appendKey(builder, r);
      return;
    case 'headers':
      builder.appendText(headersJson(r));
      return;
    default:
      if (column.value === null) builder.appendNull();
      else builder.appendText(column.value);
  }
}

const appendKey = (builder: BatchBuilder, r: RecordSlot): void => {
  if (r.keyStart < 0) builder.appendNull();
  else builder.appendBytes(r.buffer, r.keyStart, r.keyEnd);
};

/** False: its time stands in no cell. */
const isTimed = (r: RecordSlot): boolean => r.timestamp <= LAST_MS;

/** The last moment that a timestamp cell has. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** NULL: the record has none. Of {@link isTimed} records only. */
function appendTime(builder: BatchBuilder, ms: number): void {
  if (ms >= 0) builder.appendText(new Date(ms).toISOString().slice(0, 23).replace('T', ' '));
  else builder.appendNull();
}

/** `[{"key":"a","value":"AP8="}]`, in their order; values are base64, or null. */
export function headersJson(r: RecordSlot): string {
  if (r.headers === 0) return '[]';
  return JSON.stringify(headersOf(r).map(({ key, value }) => ({ key, value: value?.toString('base64') ?? null })));
}

const placeOf = ({ topic, partition }: Place, r: RecordSlot): string => `${topic}-${partition}@${String(r.offset)}`;

function rejected(r: RecordSlot, place: Place, column: string | null, reason: string): RejectedRow {
  const value = r.valueStart < 0 ? Buffer.alloc(0) : r.buffer.subarray(r.valueStart, r.valueEnd);
  return { row: showBytes(value), column, code: 'ROW_INVALID', reason, place: placeOf(place, r) };
}

/** The record as bytes: nothing of it is lost, and the writer's codec raw makes the same of it. */
class RawRows implements RecordRows {
  readonly #place: Place;
  readonly schema = internSchema([
    { name: 'value', type: BINARY, nullable: true },
    { name: 'key', type: BINARY, nullable: true },
    { name: 'headers', type: { is: 'json' }, nullable: true },
    { name: 'timestamp', type: { is: 'timestamp', fraction: 3 }, nullable: true },
  ]);

  constructor(place: Place) {
    this.#place = place;
  }

  append(r: RecordSlot, builder: BatchBuilder): void {
    if (!isTimed(r)) {
      builder.reject(rejected(r, this.#place, 'timestamp', NO_TIME));
      return;
    }
    if (r.valueStart < 0) builder.appendNull();
    else builder.appendBytes(r.buffer, r.valueStart, r.valueEnd);
    appendKey(builder, r);
    builder.appendText(headersJson(r));
    appendTime(builder, r.timestamp);
    builder.endRow(OP_INSERT, r.timestamp);
  }
}

const isText = (r: RecordSlot, start: number, end: number): boolean =>
  start < 0 || isUtf8(r.buffer.subarray(start, end));

/** Columns that stand for the value, and others. */
class TextRows implements RecordRows {
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

const NO_TIME = 'the timestamp is beyond the year 9999';
const NO_TEXT = 'the value is not valid UTF-8';
const NO_KEY = 'the key is not valid UTF-8';

/** The value as JSON. A record without a value (a tombstone) is no row. */
class JsonRows implements RecordRows {
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

const MESSAGE: ColumnSpec = {
  name: 'message',
  index: null,
  type: { is: 'string' },
  value: null,
  format: null,
  meta: null,
};

/** @param columns null: `*`. */
export function recordRows(
  codec: Codec,
  columns: readonly WantedColumn[] | null,
  topic: string,
  partition: number,
): RecordRows {
  const place: Place = { topic, partition: String(partition) };
  if (codec === 'raw') return new RawRows(place);
  if (codec === 'json') return new JsonRows(columns, place);
  return new TextRows(
    (columns ?? ['*']).map((c) => (isSpec(c) ? c : MESSAGE)),
    place,
  );
}
