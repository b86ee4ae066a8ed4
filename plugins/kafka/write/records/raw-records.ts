import type { RejectedRow, RowBatch, RowSchema, Section } from 'syncx/plugin-api';
import type { HeaderToWrite } from '../../wire/batch-writer.js';
import { KeyedRecords } from './keyed-records.js';
import { Cells, indexOf, putCell, refused } from './row-cells.js';
import type { RecordOptions, RecordToWrite } from './row-records.js';

/** Rows as the reader's codec raw makes them: value, and key, headers and timestamp where they are there. */
export class RawRecords extends KeyedRecords {
  readonly #cells = new Cells();
  readonly #value: number;
  readonly #key: number;
  readonly #headers: number;
  readonly #timestamp: number;

  constructor(schema: RowSchema, o: RecordOptions) {
    super(schema, o.keyColumns);
    const at = (name: string): number => schema.columns.findIndex((c) => c.name === name);
    this.#value = indexOf(schema, 'value');
    this.#key = o.keyColumns.length > 0 ? -1 : at('key');
    this.#headers = at('headers');
    this.#timestamp = at('timestamp');
  }

  protected value(
    batch: RowBatch,
    section: Section,
    row: number,
    to: RecordToWrite,
    reject: (r: RejectedRow) => void,
  ): boolean {
    const cell = (column: number): Uint8Array | null =>
      column < 0 ? null : this.#cells.of(batch, section, row, column);
    putCell(to, cell(this.#value));
    if (this.#key >= 0) to.key = cell(this.#key);
    const time = cell(this.#timestamp);
    if (time !== null) {
      to.timestamp = Date.parse(`${Buffer.from(time).toString('latin1').replace(' ', 'T')}Z`);
      if (Number.isNaN(to.timestamp)) {
        reject(refused(batch, section, row, 'timestamp', 'is no time that a record can have'));
        return false;
      }
    }
    const headers = cell(this.#headers);
    if (headers === null) return true;
    const parsed = parseHeaders(Buffer.from(headers).toString());
    if (parsed === null) {
      reject(refused(batch, section, row, 'headers', 'is no JSON list of {"key", "value"}'));
      return false;
    }
    to.headers = parsed;
    return true;
  }
}

/** As headersJson of the reader makes them. Null: they are not. */
export function parseHeaders(text: string): readonly HeaderToWrite[] | null {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(list)) return null;
  const headers: HeaderToWrite[] = [];
  for (const entry of list as readonly { readonly key?: unknown; readonly value?: unknown }[]) {
    const { key, value } = entry;
    if (typeof key !== 'string' || (value !== null && typeof value !== 'string')) return null;
    headers.push({ key, value: value === null ? null : Buffer.from(value, 'base64') });
  }
  return headers;
}
