import type { RejectedRow, RowBatch, RowSchema, RowView, Section } from 'syncx/plugin-api';
import type { HeaderToWrite } from '../../wire/batch-writer.js';
import { KeyedRecords } from './keyed-records.js';
import { CellTime } from './cell-time.js';
import { Cells, indexOf, isThere, putCell, refused } from './row-cells.js';
import type { RecordOptions, RecordToWrite } from './row-records.js';

/** Rows as the reader's codec raw makes them: value, and key, headers and timestamp where they are there. */
export class RawRecords extends KeyedRecords {
  readonly #cells = new Cells();
  readonly #time = new CellTime();
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
    const view = this.#cells.view(batch, section, row);
    const has = (column: number): boolean => column >= 0 && isThere(view, column);
    putCell(to, view, this.#value);
    if (this.#key >= 0) to.key = has(this.#key) ? view.bytes(this.#key) : null;
    if (has(this.#timestamp)) {
      to.timestamp = this.#time.read(view.data, view.start(this.#timestamp), view.end(this.#timestamp));
      if (Number.isNaN(to.timestamp)) {
        reject(refused(batch, section, row, 'timestamp', 'is no time that a record can have'));
        return false;
      }
    }
    if (!has(this.#headers) || isEmptyList(view, this.#headers)) return true;
    const parsed = parseHeaders(view.text(this.#headers) ?? '');
    if (parsed === null) {
      reject(refused(batch, section, row, 'headers', 'is no JSON list of {"key", "value"}'));
      return false;
    }
    to.headers = parsed;
    return true;
  }
}

const OPEN = 0x5b;
const CLOSE = 0x5d;

function isEmptyList(view: RowView, column: number): boolean {
  const start = view.start(column);
  return view.end(column) - start === 2 && view.data[start] === OPEN && view.data[start + 1] === CLOSE;
}

/** As the reader makes them. Null: they are not. */
function parseHeaders(text: string): readonly HeaderToWrite[] | null {
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
