/** From a table or query to the shape that lanes read: columns under the job's names, and the key that orders rows. */
import { SyncError, cellKind, type LogicalType } from 'syncx/plugin-api';
import type { MysqlColumn } from '../../catalog/columns.js';
import { columnNamed, rowKeyOf, type TableFacts } from '../../catalog/tables.js';
import { showTable } from '../../sql/names.js';
import { isConstant, isOwn, type ConstantColumn, type Shape, type ShapeColumn } from '../split-spec.js';
import type { WantedColumn, WantedSql } from './wanted-columns.js';

/** By what a table is split; `index`: one that begins with the column, or null. */
export interface SplitKey {
  readonly columns: readonly ShapeColumn[];
  readonly index: string | null;
}

export interface PlannedShape {
  readonly shape: Shape;
  /** Null for a query. */
  readonly facts: TableFacts | null;
  /** Null: one lane reads it all. */
  readonly splitKey: SplitKey | null;
}

/** Beside whole numbers and decimals. */
const ORDERED: ReadonlySet<LogicalType['is']> = new Set<LogicalType['is']>([
  'string',
  'binary',
  'date',
  'year',
  'time',
  'datetime',
  'timestamp',
]);

/** Whether a literal of our making compares with the column exactly as its values do with each other. */
export function isOrderable(type: LogicalType): boolean {
  const kind = cellKind(type);
  return kind === 'integer' || kind === 'decimal' || ORDERED.has(type.is);
}

export const shapeColumn = (c: MysqlColumn, name = c.name): ShapeColumn => ({
  name,
  rawType: c.rawType,
  nullable: c.nullable,
  json: c.type.is === 'json' && c.rawType.toLowerCase() !== 'json',
  ...(c.type.is === 'string' && c.charset !== null ? { charset: c.charset } : {}),
});

const columnsOfKey = (facts: TableFacts, names: readonly string[]): readonly MysqlColumn[] =>
  names.flatMap((n) => columnNamed(facts.columns, n) ?? []);

/** The first key that tells every row apart and whose values can stand in SQL; empty: none. */
export function rowKeyColumns(facts: TableFacts): readonly ShapeColumn[] {
  const key = facts.keys.find(
    (k) => k.unique && k.notNull && columnsOfKey(facts, k.columns).every((c) => isOrderable(c.type)),
  );
  return key === undefined ? [] : columnsOfKey(facts, key.columns).map((c) => shapeColumn(c));
}

/** Those of `wanted` that are no columns of `all`, but SQL. */
export const expressionsOf = (all: readonly ShapeColumn[], wanted: readonly WantedColumn[]): readonly WantedSql[] =>
  wanted.flatMap((w) => (w.is === 'sql' && columnNamed(all, w.text) === undefined ? [w] : []));

/** Where the columns are from, for messages, and its expressions as the server describes them. */
export interface ColumnSource {
  readonly place: string;
  readonly described: readonly ShapeColumn[];
}

export function chooseColumns(
  all: readonly ShapeColumn[],
  wanted: readonly WantedColumn[],
  { place, described }: ColumnSource,
): readonly (ShapeColumn | ConstantColumn)[] {
  const named = new Set(
    wanted.flatMap((w) =>
      w.is === 'star' ? [] : [(w.is === 'constant' ? w.column.name : w.is === 'sql' ? w.text : w.name).toLowerCase()],
    ),
  );
  return wanted.flatMap((w): readonly (ShapeColumn | ConstantColumn)[] => {
    if (w.is === 'star') return all.filter((c) => !named.has(c.name.toLowerCase()));
    if (w.is === 'constant') return [w.column];
    const expression = w.is === 'sql' ? described.find((c) => c.name === w.name) : undefined;
    if (expression !== undefined) return [expression];
    const name = w.is === 'sql' ? w.text : w.name;
    return [{ ...namedColumn(all, name, place, 'reader.parameter.column'), name: w.name }];
  });
}

/** @throws SyncError COLUMN_MISMATCH */
export function namedColumn<C extends { readonly name: string }>(
  all: readonly C[],
  name: string,
  place: string,
  option: string,
): C {
  const column = columnNamed(all, name);
  if (column !== undefined) return column;
  const names = all.map((c) => `\`${c.name}\``);
  const shown = names.length > 30 ? `${names.slice(0, 30).join(', ')} …` : names.join(', ');
  throw new SyncError('COLUMN_MISMATCH', `${place} has no column \`${name}\``, {
    place: option,
    hint: `It has ${shown}.`,
  });
}

function splitKeyOf(facts: TableFacts, splitPk: string | null): SplitKey | null {
  const rowKey = rowKeyColumns(facts);
  if (splitPk === null) {
    const first = rowKey[0]?.name;
    const index = facts.keys.find((k) => k.unique && k.notNull && k.columns[0] === first)?.name ?? null;
    return rowKey.length === 0 ? null : { columns: rowKey, index };
  }
  const column = namedColumn(facts.columns, splitPk, showTable(facts.name), 'reader.parameter.splitPk');
  if (!isOrderable(column.type)) return null;
  const index = facts.keys.find((k) => k.columns[0] === column.name)?.name ?? null;
  const key = shapeColumn(column);
  // Where many rows have one value the rest of the key splits them further; numbers are split without looking at rows.
  const columns = rowKey[0]?.name === key.name && !isInteger(column.type) ? rowKey : [key];
  return { columns, index };
}

export const isInteger = (t: LogicalType): boolean => cellKind(t) === 'integer';

/**
 * The split column in front, where it has an index: ranges of it then come in an index's order. Not where it may be NULL,
 * as no position could stand behind such a row.
 */
function orderKeyOf(facts: TableFacts, splitKey: SplitKey | null): readonly ShapeColumn[] {
  const rowKey = rowKeyColumns(facts);
  const [first] = splitKey?.columns ?? [];
  if (rowKey.length === 0 || first === undefined || splitKey?.index === null || first.nullable) return rowKey;
  if (rowKey[0]?.name === first.name) return rowKey;
  const alone = facts.keys.some((k) => k.unique && k.columns.length === 1 && k.columns[0] === first.name);
  return alone ? [first] : [first, ...rowKey.filter((c) => c.name !== first.name)];
}

export function shapeOfTable(
  connection: number,
  facts: TableFacts,
  wanted: readonly WantedColumn[],
  splitPk: string | null,
  described: readonly ShapeColumn[],
): PlannedShape {
  const all = facts.columns.map((c) => shapeColumn(c));
  const splitKey = splitKeyOf(facts, splitPk);
  return {
    facts,
    splitKey,
    shape: {
      connection,
      database: facts.name.database,
      table: facts.name.table,
      query: null,
      columns: chooseColumns(all, wanted, { place: showTable(facts.name), described }),
      orderKey: orderKeyOf(facts, splitKey),
      primaryKey: rowKeyOf(facts)?.columns ?? [],
    },
  };
}

export function shapeOfQuery(
  connection: number,
  query: string,
  all: readonly ShapeColumn[],
  wanted: readonly WantedColumn[],
  described: readonly ShapeColumn[],
): PlannedShape {
  const columns = chooseColumns(all, wanted, { place: 'the query', described });
  const shape = { connection, database: null, table: null, query, columns, orderKey: [], primaryKey: [] };
  return { facts: null, splitKey: null, shape };
}

/** For messages. */
export const showShape = (s: Shape): string =>
  s.database !== null && s.table !== null ? showTable({ database: s.database, table: s.table }) : 'the query';

/**
 * Whether a run that was planned with `then` can go on with the columns that are there now; a new column is none of its own. `described`: its expressions now.
 * @throws SyncError SOURCE_CHANGED naming the column.
 */
export function checkUnchanged(then: Shape, now: readonly ShapeColumn[], described: readonly ShapeColumn[]): void {
  const known = [...then.columns.filter(isOwn), ...then.orderKey];
  const computed = then.columns.filter((c): c is ShapeColumn => !isConstant(c) && c.expression !== undefined);
  for (const c of [...known, ...computed]) {
    const same = c.expression === undefined ? columnNamed(now, c.name) : described.find((d) => d.name === c.name);
    if (same?.rawType === c.rawType && same.json === c.json && (c.nullable || !same.nullable)) continue;
    const what = (x: ShapeColumn): string => `${x.json ? 'json' : x.rawType}${x.nullable ? '' : ' not null'}`;
    const change = same === undefined ? `is gone; it was ${what(c)}` : `was ${what(c)} and is ${what(same)}`;
    throw new SyncError('SOURCE_CHANGED', `the column \`${c.name}\` of ${showShape(then)} ${change}`, {
      place: showShape(then),
      hint: 'The run cannot go on as it began. Undo the change, or start a new run with --fresh.',
    });
  }
}
