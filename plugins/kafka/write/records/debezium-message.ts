import type { RejectedRow, RowSchema } from 'syncx/plugin-api';
import { chooseColumns, type ByteBuffer } from 'syncx/plugin-kit';
import { UNAVAILABLE } from '../../read/rows/debezium-changes.js';
import { tableParts, type ChangeMessage, type RowChange } from './change-records.js';
import { RowImages, jsonAsText } from './row-images.js';

const BEFORE = Buffer.from('{"before":');
const NO_BEFORE = Buffer.from('{"before":null');
const AFTER = Buffer.from(',"after":');
const NO_AFTER = Buffer.from(',"after":null');
const OPS = { insert: 'c', update: 'u', delete: 'd' } as const;

/**
 * Debezium's envelope without a schema, as Flink writes it: `{"before": {…}, "after": {…}, "source": {"db", "table"}, "op":
 * "u", "ts_ms": …}`. Numbers keep their digits, times are texts, JSON is text, bytes are base64.
 */
export class DebeziumMessage implements ChangeMessage {
  readonly #images: RowImages;
  readonly #source: string;

  /** @throws SyncError COLUMN_MISMATCH */
  constructor(schema: RowSchema, columns: readonly string[] | null) {
    const choice = chooseColumns(schema, columns);
    this.#images = new RowImages(schema, choice, { as: jsonAsText, latin1: false, absent: UNAVAILABLE });
    const [db, table] = tableParts(schema.table);
    this.#source = table === null ? '' : `,"source":${JSON.stringify({ db, table })}`;
  }

  append(out: ByteBuffer, c: RowChange, reject: (r: RejectedRow) => void): boolean {
    const { batch, section, op, row, time } = c;
    if (op === 'insert') out.append(NO_BEFORE);
    else {
      out.append(BEFORE);
      if (!this.#images.append(out, batch, section, row, reject)) return false;
    }
    if (op === 'delete') out.append(NO_AFTER);
    else {
      out.append(AFTER);
      if (!this.#images.append(out, batch, section, op === 'update' ? row + 1 : row, reject)) return false;
    }
    out.append(Buffer.from(`${this.#source},"op":"${OPS[op]}","ts_ms":${String(time)}}`));
    return true;
  }
}
