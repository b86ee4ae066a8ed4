/** Rows become records, as the codec says. */
import {
  OP_DELETE,
  OP_INSERT,
  OP_UPDATE_BEFORE,
  RowView,
  SyncError,
  type RejectedRow,
  type RowBatch,
  type RowSchema,
  type Section,
} from 'syncx/plugin-api';
import { ByteBuffer, chooseColumns, jsonLinesOutput, showRow, type RecordEncoder } from 'syncx/plugin-kit';
import type { HeaderToWrite } from '../wire/batch-writer.js';

export type WriteCodec = 'json' | 'text' | 'raw';

/** One record, used again for the next one; its buffers hold until then. Null: an end before its start. */
export interface RecordToWrite {
  key: Uint8Array | null;
  value: Uint8Array;
  valueStart: number;
  valueEnd: number;
  /** ms since 1970. */
  timestamp: number;
  headers: readonly HeaderToWrite[] | null;
}

export interface RecordOptions {
  readonly codec: WriteCodec;
  /** Null: all data columns. */
  readonly columns: readonly string[] | null;
  /** Empty: records have no key. */
  readonly keyColumns: readonly string[];
}

const NONE = Buffer.alloc(0);

export const newRecord = (): RecordToWrite => ({
  key: null,
  value: NONE,
  valueStart: 0,
  valueEnd: -1,
  timestamp: 0,
  headers: null,
});

/** Makes the records of rows of one schema. */
export interface RowRecords {
  /** False: the row gives no record: it was rejected, or is the old image of one that changed. */
  record(batch: RowBatch, section: Section, row: number, to: RecordToWrite, reject: (r: RejectedRow) => void): boolean;
}

function mismatch(message: string, hint: string): SyncError {
  return new SyncError('COLUMN_MISMATCH', message, { place: 'writer.parameter.column', blame: 'config', hint });
}

function indexOf(schema: RowSchema, name: string): number {
  const at = schema.columns.findIndex((c) => c.name === name);
  if (at >= 0) return at;
  const names = schema.columns.map((c) => `\`${c.name}\``).join(', ');
  throw mismatch(`the reader has no column \`${name}\``, `It delivers ${names}.`);
}

const JSON_FORMAT = jsonLinesOutput();

/** One row at a time: the encoder stops behind a row once its buffer has reached its target. */
function oneRow(encoder: RecordEncoder): { readonly out: ByteBuffer; encode: RowRecords['record'] } {
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

/** Cells of rows that come one after another: one view serves a section. */
class Cells {
  #view: RowView | null = null;
  #section: Section | null = null;

  /** Null: NULL, or not sent. */
  of(batch: RowBatch, section: Section, row: number, column: number): Uint8Array | null {
    let view = this.#view;
    if (view?.batch !== batch || this.#section !== section) {
      view = this.#view = new RowView(batch, section);
      this.#section = section;
    }
    view.at(row);
    return view.isNull(column) || view.isAbsent(column) ? null : view.bytes(column);
  }
}

/** What all codecs have alike: keys, operations, times. */
abstract class KeyedRecords implements RowRecords {
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

function refused(batch: RowBatch, section: Section, row: number, column: string | null, reason: string): RejectedRow {
  return { row: showRow(batch, section, row), column, code: 'ROW_INVALID', reason, place: null };
}

class JsonRecords extends KeyedRecords {
  readonly #one: ReturnType<typeof oneRow>;

  constructor(schema: RowSchema, o: RecordOptions) {
    super(schema, o.keyColumns);
    this.#one = oneRow(JSON_FORMAT.encoder(schema, chooseColumns(schema, o.columns)));
  }

  protected value(
    batch: RowBatch,
    section: Section,
    row: number,
    to: RecordToWrite,
    reject: (r: RejectedRow) => void,
  ): boolean {
    const { out, encode } = this.#one;
    if (!encode(batch, section, row, to, reject)) return false;
    to.value = out.data;
    to.valueStart = 0;
    to.valueEnd = out.length - 1; // without the line end
    return true;
  }
}

/** The one column is the value. */
class TextRecords extends KeyedRecords {
  readonly #cells = new Cells();
  readonly #column: number;

  constructor(schema: RowSchema, o: RecordOptions) {
    super(schema, o.keyColumns);
    const { projection } = chooseColumns(schema, o.columns);
    const rest =
      o.columns === null ? projection.filter((i) => !o.keyColumns.includes(schema.columns[i]?.name ?? '')) : projection;
    const [only, ...more] = rest;
    if (only === undefined || more.length > 0) {
      const message = `codec text writes one column, and these are ${String(rest.length)}`;
      throw mismatch(message, 'Name the one in column, or write codec json.');
    }
    this.#column = only;
  }

  protected value(batch: RowBatch, section: Section, row: number, to: RecordToWrite): boolean {
    putCell(to, this.#cells.of(batch, section, row, this.#column));
    return true;
  }
}

function putCell(to: RecordToWrite, cell: Uint8Array | null): void {
  to.value = cell ?? NONE;
  to.valueStart = 0;
  to.valueEnd = cell === null ? -1 : cell.length;
}

/** Rows as the reader's codec raw makes them: value, and key, headers and timestamp where they are there. */
class RawRecords extends KeyedRecords {
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

/** @throws SyncError COLUMN_MISMATCH */
export function rowRecords(schema: RowSchema, o: RecordOptions): RowRecords {
  if (o.codec === 'json') return new JsonRecords(schema, o);
  return o.codec === 'raw' ? new RawRecords(schema, o) : new TextRecords(schema, o);
}
