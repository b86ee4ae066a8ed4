/** Tables: which there are, how large, and by what keys their rows are told apart. */
import { SyncError } from 'syncx/plugin-api';
import type { Session } from '../connect/session.js';
import type { Side } from '../connect/mysql-errors.js';
import { quoteText, showTable, tableCandidates, type TableName } from '../sql/names.js';
import { columnsOf, type MysqlColumn } from './columns.js';

export interface TableKey {
  readonly name: string;
  readonly columns: readonly string[];
  /** Unique over rows without NULL in it; the primary key always. */
  readonly unique: boolean;
  /** All columns are NOT NULL: with `unique`, it tells every row apart. */
  readonly notNull: boolean;
}

export interface TableFacts {
  readonly name: TableName;
  readonly columns: readonly MysqlColumn[];
  /** PRIMARY first, then unique ones, then others; each in its order of columns. No prefix keys. */
  readonly keys: readonly TableKey[];
  /** Of all kinds, those that are not in `keys` too. */
  readonly uniqueKeys: number;
  readonly engine: string | null;
  readonly view: boolean;
  /** The server's estimates; null: it has none (views). */
  readonly rows: number | null;
  readonly bytes: number | null;
}

/** The first unique key without NULLs, the primary one before others; null: rows cannot be told apart. */
export function rowKeyOf(facts: TableFacts): TableKey | null {
  return facts.keys.find((k) => k.unique && k.notNull) ?? null;
}

async function basicFacts(
  session: Session,
  t: TableName,
): Promise<Pick<TableFacts, 'engine' | 'view' | 'rows' | 'bytes'> | null> {
  const [row] = await session.query(
    `select engine, table_type, table_rows, data_length from information_schema.tables
     where table_schema = ${quoteText(t.database)} and table_name = ${quoteText(t.table)}`,
    `look up ${showTable(t)}`,
  );
  if (row === undefined) return null;
  const [engine, type, rows, bytes] = row;
  const view = type !== 'BASE TABLE';
  const number = (text: string | null | undefined): number | null =>
    text === null || text === undefined || view ? null : Number(text);
  return { engine: engine ?? null, view, rows: number(rows), bytes: number(bytes) };
}

async function keysOf(
  session: Session,
  t: TableName,
  columns: readonly MysqlColumn[],
): Promise<Pick<TableFacts, 'keys' | 'uniqueKeys'>> {
  const rows = await session.query(
    `select index_name, non_unique, column_name, sub_part, index_type from information_schema.statistics
     where table_schema = ${quoteText(t.database)} and table_name = ${quoteText(t.table)} order by index_name, seq_in_index`,
    `look up the keys of ${showTable(t)}`,
  );
  const byName = new Map<string, { columns: string[]; unique: boolean; usable: boolean }>();
  for (const [index, nonUnique, column, part, type] of rows) {
    const key = byName.get(index ?? '') ?? { columns: [], unique: nonUnique === '0', usable: true };
    byName.set(index ?? '', key);
    key.columns.push(column ?? '');
    // Neither a part of a text nor a full-text or spatial key has an order; a functional key has no column.
    if (part !== null || column === null || type !== 'BTREE') key.usable = false;
  }
  const nullable = new Set(columns.filter((c) => c.nullable).map((c) => c.name));
  const rank = (k: TableKey): number => (k.name === 'PRIMARY' ? 0 : k.unique && k.notNull ? 1 : k.unique ? 2 : 3);
  const keys = [...byName]
    .filter(([, k]) => k.usable)
    .map(([name, k]): TableKey => ({
      name,
      columns: k.columns,
      unique: k.unique,
      notNull: !k.columns.some((c) => nullable.has(c)),
    }))
    .sort((a, b) => rank(a) - rank(b));
  return { keys, uniqueKeys: [...byName.values()].filter((k) => k.unique).length };
}

/** Null: there is no such table, or the user may not see it. */
export async function lookUpTable(session: Session, name: TableName): Promise<TableFacts | null> {
  const basic = await basicFacts(session, name);
  if (basic === null) return null;
  const columns = await columnsOf(session, name);
  const keys = basic.view ? { keys: [], uniqueKeys: 0 } : await keysOf(session, name, columns);
  return { name, columns, ...keys, ...basic };
}

/**
 * The table that a job's text means: `table`, `db.table`, either in backticks, or a name with dots in it.
 * @throws SyncError SOURCE_MISSING (reading) or SINK_IO, `never` (writing) where there is none.
 */
export async function findTable(
  session: Session,
  text: string,
  database: string | null,
  side: Side,
): Promise<TableFacts> {
  const candidates = tableCandidates(text, database);
  for (const name of candidates) {
    const facts = await lookUpTable(session, name);
    if (facts !== null) return facts;
  }
  const [first] = candidates;
  const what =
    first !== undefined
      ? `there is no table ${showTable(first)}, or the user may not see it`
      : database === null
        ? `no database is given for the table \`${text}\``
        : `\`${text}\` is no name of a table`;
  const hint =
    first !== undefined
      ? 'Check the name, the database in jdbcUrl, and the rights of the user.'
      : database === null
        ? 'Name one in jdbcUrl, or write the table as database.table.'
        : 'A name with a backtick stands in backticks, and its own is doubled: `a``b`.';
  throw new SyncError(side === 'source' ? 'SOURCE_MISSING' : 'SINK_IO', what, {
    place: text,
    hint,
    retry: 'never',
    blame: 'config',
  });
}

/** Base tables of a database, by name. @throws SyncError SOURCE_MISSING where there is no such database. */
export async function listTables(session: Session, database: string): Promise<readonly string[]> {
  const doing = `list the tables of ${database}`;
  const rows = await session.query(
    `select table_name from information_schema.tables where table_schema = ${quoteText(database)} and table_type = 'BASE TABLE' order by table_name`,
    doing,
  );
  if (rows.length === 0) {
    const [known] = await session.query(
      `select 1 from information_schema.schemata where schema_name = ${quoteText(database)}`,
      doing,
    );
    if (known === undefined) {
      throw new SyncError('SOURCE_MISSING', `there is no database ${database}, or the user may not see it`, {
        place: database,
        hint: 'Check jdbcUrl.',
      });
    }
  }
  return rows.map(([name]) => name ?? '');
}

/** By the server's rule: names of columns are the same whatever their case. */
export function columnNamed<C extends { readonly name: string }>(columns: readonly C[], name: string): C | undefined {
  return columns.find((c) => c.name === name) ?? columns.find((c) => c.name.toLowerCase() === name.toLowerCase());
}
