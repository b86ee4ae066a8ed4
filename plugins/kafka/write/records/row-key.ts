/** Keys of records. */
import {
  ABSENT_FLAG,
  END_MASK,
  NULL_FLAG,
  OP_UPDATE_AFTER,
  OP_UPDATE_BEFORE,
  SyncError,
  type RowBatch,
  type RowSchema,
  type Section,
} from 'syncx/plugin-api';
import { ByteBuffer, jsonLinesOutput, type RecordEncoder } from 'syncx/plugin-kit';
import { Cells, indexOf } from './row-cells.js';
import { newRecord, type RowRecords } from './row-records.js';

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

type KeyOf = (batch: RowBatch, section: Section, row: number) => Buffer | null;

function keyOf(schema: RowSchema, names: readonly string[]): KeyOf {
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

/** The key of a row: of one column its cell as it stands, of several a JSON object of them. */
export class RowKeys {
  /** False: records have no key. */
  readonly keyed: boolean;
  readonly of: KeyOf;
  readonly #columns: readonly number[];
  readonly #width: number;

  /** @throws SyncError COLUMN_MISMATCH */
  constructor(schema: RowSchema, names: readonly string[]) {
    this.keyed = names.length > 0;
    this.of = keyOf(schema, names);
    this.#columns = names.map((n) => indexOf(schema, n));
    this.#width = schema.columns.length;
  }

  /** Whether the row after an update has another key than the row before it. A cell that one of them lacks did not change. */
  changed(batch: RowBatch, section: Section, before: number): boolean {
    return this.#columns.some((column) => {
      const a = section.firstCell + before * this.#width + column;
      const b = a + this.#width;
      const flags = (batch.ends[a] ?? 0) | (batch.ends[b] ?? 0);
      return (flags & ABSENT_FLAG) === 0 && !sameCell(batch, a, b);
    });
  }
}

/** Whether two cells of a batch are equal. */
export function sameCell({ data, ends }: RowBatch, a: number, b: number): boolean {
  const [x, y] = [ends[a] ?? 0, ends[b] ?? 0];
  if (((x | y) & (NULL_FLAG | ABSENT_FLAG)) !== 0) return (x & ~END_MASK) === (y & ~END_MASK);
  const startA = a === 0 ? 0 : (ends[a - 1] ?? 0) & END_MASK;
  const startB = b === 0 ? 0 : (ends[b - 1] ?? 0) & END_MASK;
  const length = x - startA;
  if (length !== y - startB) return false;
  for (let i = 0; i < length; i++) if (data[startA + i] !== data[startB + i]) return false;
  return true;
}

/** @throws SyncError PLUGIN_BROKEN where the row is one half of an update, and the other one is not beside it. */
export function checkUpdate(batch: RowBatch, section: Section, before: number): void {
  const at = section.firstRow + before;
  const whole = before >= 0 && before + 1 < section.rows;
  if (whole && batch.ops?.[at] === OP_UPDATE_BEFORE && batch.ops[at + 1] === OP_UPDATE_AFTER) return;
  throw new SyncError('PLUGIN_BROKEN', 'an update-before is not directly followed by its update-after');
}
