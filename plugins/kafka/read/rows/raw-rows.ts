import { OP_INSERT, internSchema, type BatchBuilder, type LogicalType } from 'syncx/plugin-api';
import type { RecordSlot } from '../../wire/record-reader.js';
import { NO_TIME, appendHeaders, appendKey, isTimed, rejected, type Place } from './record-cells.js';
import type { RecordRows } from './record-rows.js';

const BINARY: LogicalType = { is: 'binary' };

/** The record as bytes: nothing of it is lost, and the writer's codec raw makes the same of it. */
export class RawRows implements RecordRows {
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
    appendHeaders(builder, r);
    this.#place.time.append(builder, r.timestamp);
    builder.endRow(OP_INSERT, r.timestamp);
  }
}
