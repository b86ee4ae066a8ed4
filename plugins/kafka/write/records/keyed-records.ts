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
import { refused } from './row-cells.js';
import { RowKeys, checkUpdate } from './row-key.js';
import type { RecordToWrite, RowRecords } from './row-records.js';

export const NO_KEY = 'a delete has no key, so that nobody could tell what it means';

/** When the row was made, ms since 1970; now, where the source does not say. */
export function timeOf(batch: RowBatch, section: Section, row: number): number {
  const time = batch.eventTimes?.[section.firstRow + row] ?? Number.NaN;
  return Number.isSafeInteger(time) && time >= 0 ? time : Date.now();
}

/** What codecs whose values are rows have alike: keys, operations, times. */
export abstract class KeyedRecords implements RowRecords {
  readonly #keys: RowKeys;

  constructor(schema: RowSchema, keyColumns: readonly string[]) {
    this.#keys = new RowKeys(schema, keyColumns);
  }

  record(batch: RowBatch, section: Section, row: number, to: RecordToWrite, reject: (r: RejectedRow) => void): boolean {
    const op = batch.ops?.[section.firstRow + row] ?? OP_INSERT;
    if (op !== OP_INSERT && !this.#keys.keyed) {
      throw new SyncError('JOB_INVALID', 'the writer got an update or delete, and its records have no key', {
        place: 'writer.parameter.keyColumns',
        blame: 'config',
        hint: 'Name keyColumns: an update is then a record with the new row, a delete one without a value.',
      });
    }
    if (op === OP_UPDATE_BEFORE) {
      checkUpdate(batch, section, row);
      // Else whoever goes by keys would see the row under its old one for ever.
      if (!this.#keys.changed(batch, section, row)) return false;
    }
    to.timestamp = timeOf(batch, section, row);
    to.headers = null;
    to.key = this.#keys.of(batch, section, row);
    if (op === OP_DELETE || op === OP_UPDATE_BEFORE) {
      if (to.key === null) {
        reject(refused(batch, section, row, null, NO_KEY));
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
