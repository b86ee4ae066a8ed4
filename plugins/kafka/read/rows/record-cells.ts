/** Cells of a record beside its value, and what is told of records that are no rows. */
import { isUtf8 } from 'node:buffer';
import type { BatchBuilder, RejectedRow } from 'syncx/plugin-api';
import { showBytes, type ColumnSpec } from 'syncx/plugin-kit';
import { headersOf } from '../../wire/record-headers.js';
import type { RecordSlot } from '../../wire/record-reader.js';
import type { TimeCell } from './time-cell.js';

/** What rows say of the partition that they come from. */
export interface Place {
  readonly topic: string;
  /** Digits. */
  readonly partition: string;
  /** Of its records: of {@link isTimed} ones only. */
  readonly time: TimeCell;
}

/** Appends a constant, or what is known of a record beside its value. */
export function appendOther(builder: BatchBuilder, column: ColumnSpec, r: RecordSlot, place: Place): void {
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
      place.time.append(builder, r.timestamp);
      return;
    case 'key':
      appendKey(builder, r);
      return;
    case 'headers':
      appendHeaders(builder, r);
      return;
    default:
      if (column.value === null) builder.appendNull();
      else builder.appendText(column.value);
  }
}

export const appendKey = (builder: BatchBuilder, r: RecordSlot): void => {
  if (r.keyStart < 0) builder.appendNull();
  else builder.appendBytes(r.buffer, r.keyStart, r.keyEnd);
};

/** False: its time stands in no cell. */
export const isTimed = (r: RecordSlot): boolean => r.timestamp <= LAST_MS;

/** The last moment that a timestamp cell has. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

export function appendHeaders(builder: BatchBuilder, r: RecordSlot): void {
  if (r.headers === 0) builder.appendBytes(NO_HEADERS);
  else builder.appendText(headersJson(r));
}

const NO_HEADERS = Buffer.from('[]');

/** `[{"key":"a","value":"AP8="}]`, in their order; values are base64, or null. */
function headersJson(r: RecordSlot): string {
  return JSON.stringify(headersOf(r).map(({ key, value }) => ({ key, value: value?.toString('base64') ?? null })));
}

const placeOf = ({ topic, partition }: Place, r: RecordSlot): string => `${topic}-${partition}@${String(r.offset)}`;

export function rejected(r: RecordSlot, place: Place, column: string | null, reason: string): RejectedRow {
  const value = r.valueStart < 0 ? Buffer.alloc(0) : r.buffer.subarray(r.valueStart, r.valueEnd);
  return { row: showBytes(value), column, code: 'ROW_INVALID', reason, place: placeOf(place, r) };
}

export const isText = (r: RecordSlot, start: number, end: number): boolean =>
  start < 0 || isUtf8(r.buffer.subarray(start, end));

export const NO_TIME = 'the timestamp is beyond the year 9999';
export const NO_TEXT = 'the value is not valid UTF-8';
export const NO_VALUE = 'the record has no value (a tombstone)';
export const NO_KEY = 'the key is not valid UTF-8';
