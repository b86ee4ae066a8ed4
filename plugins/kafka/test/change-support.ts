/** Rows with operations as tests write and see them. */
import assert from 'node:assert/strict';
import {
  BatchBuilder,
  OP_DELETE,
  OP_INSERT,
  OP_UPDATE_AFTER,
  OP_UPDATE_BEFORE,
  toObjects,
  type RejectedRow,
  type RowBatch,
  type SimpleValue,
} from 'syncx/plugin-api';
import { columnSpecs, type ColumnOption, csvDialect } from 'syncx/plugin-kit';
import { batchProblems } from 'syncx/plugin-testkit';
import { codecRows, type ChangeCodec, type ChangeSettings } from '../read/rows/codec-rows.js';
import { newRecordSlot } from '../wire/record-reader.js';

const SIGNS = { [OP_INSERT]: '+', [OP_UPDATE_BEFORE]: '-U', [OP_UPDATE_AFTER]: '+U', [OP_DELETE]: '-' } as const;

/** Operation, cells by column name. */
export type Shown = readonly [string, Record<string, SimpleValue>];

export interface Read {
  readonly rows: readonly Shown[];
  /** Of each row's section. */
  readonly tables: readonly (string | null)[];
  readonly rejected: readonly RejectedRow[];
  readonly notes: readonly string[];
  readonly batch: RowBatch;
}

export type Value = string | Uint8Array | null | object;

const bytes = (v: Value): Buffer | null => {
  if (v === null || v instanceof Uint8Array) return v === null ? null : Buffer.from(v);
  return Buffer.from(typeof v === 'string' ? v : JSON.stringify(v));
};

/** For codecs that are no csv. */
export const PLAIN_CSV = csvDialect({ fieldDelimiter: ',', quoteChar: '"', escapeChar: '', nullFormat: '' });

/** Reads values as records of `t-0`, from offset 0 on. */
export function readChanges(
  codec: ChangeCodec,
  column: readonly ColumnOption[],
  values: readonly Value[],
  included: ChangeSettings['included'] = { database: null, table: null },
): Read {
  const notes: string[] = [];
  const note: ChangeSettings['note'] = (what, table, place) => void notes.push(`${what} ${String(table)} ${place}`);
  const rows = codecRows(
    { codec, columns: columnSpecs(column), csv: PLAIN_CSV, changes: { included, note }, avro: null },
    { topic: 't', partition: 0 },
    { are: 'row' },
  );
  const builder = new BatchBuilder(rows.schema);
  values.forEach((value, offset) => {
    const buffer = bytes(value);
    const at = buffer === null ? { valueStart: -1, valueEnd: -1 } : { valueStart: 3, valueEnd: buffer.length + 3 };
    // Something stands around it, as in a batch of records.
    const around = Buffer.concat([Buffer.from('{"}'), buffer ?? Buffer.alloc(0), Buffer.from('"}]')]);
    rows.append({ ...newRecordSlot(), buffer: around, offset, timestamp: 1000 + offset, ...at }, builder);
  });
  const batch = builder.finish('t-0', { offset: values.length }, 1);
  assert.deepEqual(batchProblems(batch), []);
  return { ...shown(batch), rejected: batch.rejected ?? [], notes, batch };
}

export function shown(batch: RowBatch): Pick<Read, 'rows' | 'tables'> {
  const signs = batch.ops ?? new Uint8Array(batch.rows);
  const rows = [...toObjects(batch)].map((row, i): Shown => [SIGNS[(signs[i] ?? 0) as 0 | 1 | 2 | 3], row]);
  const tables = batch.sections.flatMap((s) => Array.from({ length: s.rows }, () => s.schema.table));
  return { rows, tables };
}

/** The reasons, each with its place. */
export const reasons = (read: Read): readonly string[] =>
  read.rejected.map((r) => `${String(r.place)}: ${r.column === null ? '' : `${r.column}: `}${r.reason}`);
