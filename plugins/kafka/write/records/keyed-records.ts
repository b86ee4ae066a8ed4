import {
  OP_DELETE,
  OP_INSERT,
  OP_UPDATE_BEFORE,
  SyncError,
  type RejectedRow,
  type RowBatch,
  type RowSchema,
  type Section,
} from 'syncx/plugin-api';
import { ByteBuffer, jsonLinesOutput, type RecordEncoder } from 'syncx/plugin-kit';
import { Cells, indexOf, refused } from './row-cells.js';
import { newRecord, type RecordToWrite, type RowRecords } from './row-records.js';

export const JSON_FORMAT = jsonLinesOutput();

/** One row at a time: the encoder stops behind a row once its buffer has reached its target. */
export function oneRow(encoder: RecordEncoder): { readonly out: ByteBuffer; encode: RowRecords['record'] } {
  const out = new ByteBuffer(0);
  out.reserve(1 << 16);
  return {
    out,
    encode: (batch, section, row, _to, reject) => {
      let good = true;
      out.length = 0;
      encoder.encode(batch, section, row, out, (r) => {
        good = false;
        reject(r);
      });
      return good;
    },
  };
}

/** The key of a row: of one column its cell as it stands, of several a JSON object of them. */
function keyOf(
  schema: RowSchema,
  names: readonly string[],
): (batch: RowBatch, section: Section, row: number) => Buffer | null {
  const [only, ...more] = names;
  if (only === undefined) return () => null;
  if (more.length === 0) {
    const at = indexOf(schema, only);
    const cells = new Cells();
    return (batch, section, row) => {
      const cell = cells.of(batch, section, row, at);
      return cell === null ? null : Buffer.from(cell);
    };
  }
  const projection = names.map((n) => indexOf(schema, n));
  const { out, encode } = oneRow(JSON_FORMAT.encoder(schema, { projection, names }));
  return (batch, section, row) => {
    const none = (): void => undefined; // the value's encoder tells of the cell
    return encode(batch, section, row, newRecord(), none) ? Buffer.from(out.data.subarray(0, out.length - 1)) : null;
  };
}

/** What all codecs have alike: keys, operations, times. */
export abstract class KeyedRecords implements RowRecords {
  readonly #key: (batch: RowBatch, section: Section, row: number) => Buffer | null;
  readonly #keyed: boolean;

  constructor(schema: RowSchema, keyColumns: readonly string[]) {
    this.#keyed = keyColumns.length > 0;
    this.#key = keyOf(schema, keyColumns);
  }

  record(batch: RowBatch, section: Section, row: number, to: RecordToWrite, reject: (r: RejectedRow) => void): boolean {
    const op = batch.ops?.[section.firstRow + row] ?? OP_INSERT;
    if (op !== OP_INSERT && !this.#keyed) {
      throw new SyncError('JOB_INVALID', 'the writer got an update or delete, and its records have no key', {
        place: 'writer.parameter.keyColumns',
        blame: 'config',
        hint: 'Name keyColumns: an update is then a record with the new row, a delete one without a value.',
      });
    }
    if (op === OP_UPDATE_BEFORE) return false;
    const time = batch.eventTimes?.[section.firstRow + row] ?? Number.NaN;
    to.timestamp = Number.isSafeInteger(time) && time >= 0 ? time : Date.now();
    to.headers = null;
    to.key = this.#keyed ? this.#key(batch, section, row) : null;
    if (op === OP_DELETE) {
      if (to.key === null) {
        reject(refused(batch, section, row, null, 'a delete has no key, so that nobody could tell what it means'));
        return false;
      }
      to.valueEnd = to.valueStart - 1;
      return true;
    }
    return this.value(batch, section, row, to, reject);
  }

  protected abstract value(
    batch: RowBatch,
    section: Section,
    row: number,
    to: RecordToWrite,
    reject: (r: RejectedRow) => void,
  ): boolean;
}
