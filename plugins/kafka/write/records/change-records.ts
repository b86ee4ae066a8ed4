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
import { ByteBuffer } from 'syncx/plugin-kit';
import { NO_KEY, timeOf } from './keyed-records.js';
import { refused } from './row-cells.js';
import { RowKeys, checkUpdate } from './row-key.js';
import type { RecordOptions, RecordToWrite, RowRecords } from './row-records.js';

/** The change of one row. */
export interface RowChange {
  readonly batch: RowBatch;
  readonly section: Section;
  readonly op: 'insert' | 'update' | 'delete';
  /** Of an update the row as it was; the one as it is now is behind it. */
  readonly row: number;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** How a format writes changes. */
export interface ChangeMessage {
  /** Appends the value of the record. False: the row was rejected. */
  append(out: ByteBuffer, change: RowChange, reject: (r: RejectedRow) => void): boolean;
}

/**
 * Records that tell of changes. Their key is that of the source's table, where it is known and the job names none. Both rows of an update make one. Where it changes the key, whoever goes by keys must hear
 * that the old one is gone: as with Debezium it is a delete of the old row and an insert of the new one.
 */
export class ChangeRecords implements RowRecords {
  readonly #keys: RowKeys;
  readonly #tombstones: boolean;
  readonly #ordered: boolean;
  readonly #message: ChangeMessage;
  readonly #out = new ByteBuffer(0);

  /** @throws SyncError COLUMN_MISMATCH */
  constructor(schema: RowSchema, o: RecordOptions, message: ChangeMessage) {
    const own = schema.key.map((k) => schema.columns[k]?.name ?? '');
    this.#keys = new RowKeys(schema, o.keyColumns.length > 0 ? o.keyColumns : own);
    this.#ordered = this.#keys.keyed || o.onePartition;
    this.#tombstones = o.tombstones;
    this.#message = message;
    this.#out.reserve(1 << 16);
  }

  record(batch: RowBatch, section: Section, row: number, to: RecordToWrite, reject: (r: RejectedRow) => void): boolean {
    const ops = batch.ops?.[section.firstRow + row] ?? OP_INSERT;
    let op: RowChange['op'] = 'insert';
    let at = row;
    if (ops !== OP_INSERT && !this.#ordered) throw unordered();
    if (ops === OP_DELETE) op = 'delete';
    else if (ops !== OP_INSERT) {
      const before = ops === OP_UPDATE_BEFORE ? row : row - 1;
      checkUpdate(batch, section, before);
      const moved = this.#keys.changed(batch, section, before);
      if (ops === OP_UPDATE_BEFORE) {
        if (!moved) return false; // told with the row behind it
        op = 'delete';
      } else if (!moved) {
        op = 'update';
        at = before;
      }
    }
    to.timestamp = timeOf(batch, section, row);
    to.headers = null;
    to.key = this.#keys.of(batch, section, row);
    to.tombstone = op === 'delete' && this.#tombstones;
    if (to.tombstone && to.key === null) {
      reject(refused(batch, section, row, null, NO_KEY));
      return false;
    }
    const out = this.#out;
    out.length = 0;
    if (!this.#message.append(out, { batch, section, op, row: at, time: to.timestamp }, reject)) return false;
    to.value = out.data;
    to.valueStart = 0;
    to.valueEnd = out.length;
    return true;
  }
}

function unordered(): SyncError {
  const message =
    'the writer got an update or delete, and its records have no key, so that they would not stay in order';
  return new SyncError('JOB_INVALID', message, {
    place: 'writer.parameter.keyColumns',
    blame: 'config',
    hint: 'Name keyColumns, or the one partition that all records go to.',
  });
}

/** `database.table`, or the table alone, in two; null: not known. */
export function tableParts(table: string | null): readonly [database: string | null, table: string | null] {
  const dot = table?.indexOf('.') ?? -1;
  return table === null || dot < 0 ? [null, table] : [table.slice(0, dot), table.slice(dot + 1)];
}
