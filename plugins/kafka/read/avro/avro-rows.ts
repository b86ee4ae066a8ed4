import type { BatchBuilder, RowSchema } from 'syncx/plugin-api';
import type { RecordSlot } from '../../wire/record-reader.js';
import { PickedRows, type PickFault } from '../rows/picked-rows.js';
import type { Place } from '../rows/record-cells.js';
import type { NullValues } from '../rows/record-rows.js';
import type { AvroRecord } from './avro-schema.js';
import { AvroPicker, type AvroWanted } from './avro-picker.js';

/** Bytes of Confluent's frame: a zero, and the id of the schema, big-endian. */
const FRAME_BYTES = 5;

/** The value in Avro's binary encoding. */
export class AvroRows extends PickedRows {
  readonly #picker: AvroPicker;
  readonly #ids: ReadonlySet<number> | null;

  /**
   * @param ids of the schema, which stands in the frame of each value; null: there is no frame.
   * @throws SyncError COLUMN_MISMATCH
   */
  constructor(
    record: AvroRecord,
    ids: ReadonlySet<number> | null,
    wanted: AvroWanted,
    place: Place,
    nulls: NullValues,
  ) {
    const picker = new AvroPicker(record, wanted);
    super({ wanted: picker.wanted, place, nulls, text: false });
    this.#picker = picker;
    this.#ids = ids;
  }

  get schema(): RowSchema {
    return this.#picker.schema;
  }

  protected pick({ buffer, valueStart, valueEnd, timestamp }: RecordSlot, builder: BatchBuilder): PickFault | null {
    const fault = this.#ids === null ? null : frameFault(buffer, valueStart, valueEnd, this.#ids);
    if (fault !== null) return { column: null, reason: fault };
    const start = this.#ids === null ? valueStart : valueStart + FRAME_BYTES;
    return this.#picker.pick(builder, buffer, start, valueEnd, this.other, timestamp);
  }
}

function frameFault(b: Buffer, start: number, end: number, ids: ReadonlySet<number>): string | null {
  if (end - start < FRAME_BYTES || b[start] !== 0)
    return 'the value does not begin with a zero and the id of a schema (avroFraming confluent)';
  const id = b.readUInt32BE(start + 1);
  if (ids.has(id)) return null;
  const known = [...ids].join(', ');
  return `the value is of the schema ${String(id)}, and avroSchema is ${known} by avroSchemaId; no registry is asked`;
}
