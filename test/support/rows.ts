/** Rows as tests write them, to batches and back. */
import {
  BatchBuilder,
  internSchema,
  OP_INSERT,
  parseType,
  toObjects,
  type LogicalType,
  type RowBatch,
  type RowOp,
  type RowSchema,
  type SimpleValue,
} from '../../src/plugin-api/index.js';

export type TestRow = Readonly<Record<string, SimpleValue>>;

export function typeNamed(name: string): LogicalType {
  const type = parseType(name);
  if (!type) throw new Error(`no type ${name}`);
  return type;
}

/** `{ id: 'bigint' }` */
export function schemaOf(columns: Readonly<Record<string, string>>, key: readonly number[] = []): RowSchema {
  return internSchema(
    Object.entries(columns).map(([name, type]) => ({ name, type: typeNamed(type) })),
    null,
    key,
  );
}

export interface BatchParts {
  readonly ops?: readonly RowOp[];
  readonly times?: readonly number[];
  readonly position?: RowBatch['position'];
}

/** A value that a row lacks is ABSENT. */
export function batchOf(schema: RowSchema, rows: readonly TestRow[], parts: BatchParts = {}): RowBatch {
  const b = new BatchBuilder(schema);
  append(b, schema, rows, parts);
  return b.finish('s', parts.position === undefined ? 7 : parts.position, 11);
}

export function append(b: BatchBuilder, schema: RowSchema, rows: readonly TestRow[], parts: BatchParts = {}): void {
  rows.forEach((row, i) => {
    for (const c of schema.columns) {
      const v = row[c.name];
      if (v === undefined) b.appendAbsent();
      else if (v === null) b.appendNull();
      else if (typeof v === 'string') b.appendText(v);
      else b.appendBytes(v);
    }
    b.endRow(parts.ops?.[i] ?? OP_INSERT, parts.times?.[i]);
  });
}

export function rowsOf(batch: RowBatch): readonly TestRow[] {
  return [...toObjects(batch)];
}
