import { formatType, type LogicalType } from './logical-type.js';

export interface Column {
  readonly name: string;
  readonly type: LogicalType;
  readonly nullable: boolean;
  /** The source's own word for the type (`bigint(20) unsigned`), or null where it has none. */
  readonly rawType: string | null;
  /** `meta`: topic, offset, file name, op time …; not part of `*`. */
  readonly role: 'data' | 'meta';
}

/**
 * The columns of a section of rows. Immutable and interned: two schemas of one process with the same columns, table and
 * keys are the same object, so writers may compare and cache by `id`.
 */
export interface RowSchema {
  /** Unique in the process, never persisted. */
  readonly id: number;
  /** Source table, topic …, where rows have one. */
  readonly table: string | null;
  readonly columns: readonly Column[];
  /** Indexes into `columns`, in key order; empty: no key known. */
  readonly key: readonly number[];
}

/** A change of columns in mid-stream (DDL). The engine quiesces before a writer sees it. */
export interface SchemaChange {
  readonly is: 'schema';
  readonly splitId: string;
  readonly table: string;
  readonly before: RowSchema | null;
  readonly after: RowSchema | null;
  /** The statement as the source wrote it, or null. */
  readonly statement: string | null;
}

export interface ColumnInit {
  readonly name: string;
  readonly type: LogicalType;
  readonly nullable?: boolean;
  readonly rawType?: string | null;
  readonly role?: 'data' | 'meta';
}

// Interning is the one process-wide table of the contract. It holds schemas only, never data, and grows with the number
// of distinct schemas that a process sees.
const interned = new Map<string, RowSchema>();

/** @throws RangeError on duplicate column names or a key index out of range. */
export function internSchema(
  columns: readonly ColumnInit[],
  table: string | null = null,
  key: readonly number[] = [],
): RowSchema {
  const cols = columns.map((c): Column =>
    Object.freeze({
      name: c.name,
      type: Object.freeze(c.type),
      nullable: c.nullable ?? true,
      rawType: c.rawType ?? null,
      role: c.role ?? 'data',
    }),
  );
  const text = JSON.stringify([
    table,
    key,
    cols.map((c) => [
      c.name,
      formatType(c.type),
      'labels' in c.type ? c.type.labels : 0,
      c.nullable,
      c.rawType,
      c.role,
    ]),
  ]);
  const known = interned.get(text);
  if (known) return known;
  if (new Set(cols.map((c) => c.name)).size !== cols.length) {
    throw new RangeError(`duplicate column name in ${cols.map((c) => c.name).join(', ')}`);
  }
  if (key.some((k) => k < 0 || k >= cols.length)) throw new RangeError(`key column out of range: ${key.join(', ')}`);
  const schema = Object.freeze({
    id: interned.size + 1,
    table,
    columns: Object.freeze(cols),
    key: Object.freeze([...key]),
  });
  interned.set(text, schema);
  return schema;
}
