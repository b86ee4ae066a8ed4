/** Which cell of a row goes to which column of the target. */
import { SyncError, formatType, type RowSchema } from 'syncx/plugin-api';
import { chooseColumns } from 'syncx/plugin-kit';
import type { MysqlColumn } from '../../catalog/columns.js';
import { columnNamed, type TableFacts, type TableKey } from '../../catalog/tables.js';
import { showTable } from '../../sql/names.js';
import { cellCodec, type CellCodec } from './cell-codec.js';

export interface BoundColumn {
  /** Index into the columns of the rows' schema. */
  readonly source: number;
  readonly target: MysqlColumn;
  readonly codec: CellCodec;
}

export interface RowKey {
  readonly columns: readonly BoundColumn[];
  /** A unique key of the table is within: two rows of the target never share these values, but for NULLs. */
  readonly unique: boolean;
}

export interface Binding {
  readonly schema: RowSchema;
  /** Cells of a row. */
  readonly width: number;
  readonly columns: readonly BoundColumn[];
  /** Null: rows cannot be told apart. */
  readonly key: RowKey | null;
}

export interface BindOptions {
  /** The writer's option `column`; null: `*`. */
  readonly columns: readonly string[] | null;
  readonly uniqueKey: readonly string[] | null;
  /** Told once a column. */
  readonly warn: (column: string, message: string) => void;
}

const list = (columns: readonly { readonly name: string }[]): string => columns.map((c) => `\`${c.name}\``).join(', ');

function mismatch(table: TableFacts, message: string, hint: string): SyncError {
  return new SyncError('COLUMN_MISMATCH', message, { place: showTable(table.name), hint });
}

/** The server's names of columns are the same whatever their case: so are ours, where the rows have just one such name. */
function wantedNames(schema: RowSchema, wanted: readonly string[] | null): readonly string[] | null {
  if (wanted === null) return null;
  const names = wanted.map((name) => {
    if (schema.columns.some((c) => c.name === name)) return name;
    const alike = schema.columns.filter((c) => c.name.toLowerCase() === name.toLowerCase());
    return alike.length === 1 ? (alike[0]?.name ?? name) : name;
  });
  // All or none: else columns go by position, under the writer's names.
  return names.every((n) => n === '*' || schema.columns.some((c) => c.name === n)) ? names : wanted;
}

/** @throws SyncError COLUMN_MISMATCH where rows of the schema do not fit the table. */
export function bindColumns(schema: RowSchema, table: TableFacts, options: BindOptions): Binding {
  const { projection, names } = chooseColumns(schema, wantedNames(schema, options.columns));
  const columns: BoundColumn[] = [];
  for (const [i, source] of projection.entries()) {
    const name = names[i] ?? '';
    const target = columnNamed(table.columns, name);
    if (target === undefined) throw unknownColumn(table, name);
    if (target.generated) {
      const named = options.columns?.some((c) => c.toLowerCase() === name.toLowerCase()) === true;
      if (named) throw generatedColumn(table, target);
      options.warn(target.name, 'is computed by the server, so what the source has for it is not written');
      continue;
    }
    if (columns.some((c) => c.target === target)) {
      const twice = `the column \`${target.name}\` of ${showTable(table.name)} would be written twice`;
      throw mismatch(table, twice, 'Name the columns in the writer, each once.');
    }
    columns.push({ source, target, codec: codecOf(schema, source, target, table) });
  }
  checkLeftOut(columns, table);
  return { schema, width: schema.columns.length, columns, key: keyOf(columns, table, options) };
}

/** What can be told before there are rows. @throws SyncError COLUMN_MISMATCH as {@link bindColumns} would. */
export function checkNames(table: TableFacts, names: readonly string[], uniqueKey: readonly string[]): void {
  const written = names.map((name) => {
    const target = columnNamed(table.columns, name);
    if (target === undefined) throw unknownColumn(table, name);
    if (target.generated) throw generatedColumn(table, target);
    return { target };
  });
  if (names.length > 0) checkLeftOut(written, table);
  for (const name of uniqueKey) if (columnNamed(table.columns, name) === undefined) throw unknownColumn(table, name);
}

function unknownColumn(table: TableFacts, name: string): SyncError {
  return mismatch(
    table,
    `the table ${showTable(table.name)} has no column \`${name}\``,
    `It has ${list(table.columns)}. Name the target's columns in the writer's \`column\`, in the order of the reader's.`,
  );
}

function generatedColumn(table: TableFacts, target: MysqlColumn): SyncError {
  const what = `the column \`${target.name}\` of ${showTable(table.name)} is computed by the server and cannot be written`;
  return mismatch(table, what, 'Leave it out of `column`.');
}

function codecOf(schema: RowSchema, source: number, target: MysqlColumn, table: TableFacts): CellCodec {
  const from = schema.columns[source];
  const codec = from === undefined ? null : cellCodec(from.type, { column: target });
  if (from !== undefined && codec !== null) return codec;
  const type = from === undefined ? '' : formatType(from.type);
  throw mismatch(
    table,
    `\`${from?.name ?? ''}\` (${type}) cannot be written to \`${target.name}\` (${target.rawType}) of ${showTable(table.name)}`,
    'Leave the column out, or convert it in the reader or by a transform.',
  );
}

function checkLeftOut(columns: readonly Pick<BoundColumn, 'target'>[], table: TableFacts): void {
  if (columns.length === 0) {
    throw mismatch(
      table,
      `no column is left to be written to ${showTable(table.name)}`,
      `It has ${list(table.columns)}.`,
    );
  }
  const missing = table.columns.filter(
    (t) => !t.hasDefault && !t.nullable && !t.autoIncrement && !t.generated && !columns.some((c) => c.target === t),
  );
  if (missing.length === 0) return;
  throw mismatch(
    table,
    `${showTable(table.name)} needs a value for ${list(missing)}, which has no default and is not written`,
    'Let the reader deliver it (a constant column will do), or give the column a default.',
  );
}

const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

function keyOf(columns: readonly BoundColumn[], table: TableFacts, options: BindOptions): RowKey | null {
  const bound = (names: readonly string[]): BoundColumn[] | null => {
    const found = names.map((n) => columns.find((c) => sameName(c.target.name, n)));
    return found.includes(undefined) ? null : found.filter((c) => c !== undefined);
  };
  const within = (key: TableKey, names: readonly string[]): boolean =>
    key.columns.every((c) => names.some((n) => sameName(n, c)));
  if (options.uniqueKey !== null && options.uniqueKey.length > 0) {
    const named = options.uniqueKey;
    const key = bound(named);
    const missing = named.filter((n) => !columns.some((c) => sameName(c.target.name, n)));
    if (key === null) {
      const what = `\`uniqueKey\` names ${list(missing.map((name) => ({ name })))}, which is not written to ${showTable(table.name)}`;
      throw mismatch(table, what, `Written are ${list(columns.map((c) => c.target))}.`);
    }
    return { columns: key, unique: table.keys.some((k) => k.unique && k.notNull && within(k, named)) };
  }
  for (const key of table.keys.filter((k) => k.unique && k.notNull)) {
    const found = bound(key.columns);
    if (found !== null) return { columns: found, unique: true };
  }
  return null;
}
