/** Which tables and queries a job reads. */
import { SyncError } from 'syncx/plugin-api';
import { findTable, listTables, type TableFacts } from '../../catalog/tables.js';
import type { Session } from '../../connect/session.js';
import type { ReaderConnection, ReaderOptions } from '../../reader-options.js';
import { quoteName, showTable } from '../../sql/names.js';
import { given } from './check-options.js';
import type { SourceSessions } from './source-sessions.js';

export type JobSource =
  | { readonly connection: number; readonly facts: TableFacts; readonly query: null }
  | { readonly connection: number; readonly facts: null; readonly query: string };

const listOf = (x: string | readonly string[] | undefined): readonly string[] =>
  x === undefined ? [] : typeof x === 'string' ? [x] : x;

/** Without the semicolon at its end; a comment at its end may not swallow what comes behind it. */
export function queryText(sql: string): string {
  const text = sql.replace(/[;\s]+$/, '');
  return /--|#/.test(text) ? `${text}\n` : text;
}

function queriesOf(o: ReaderOptions, c: ReaderConnection): readonly string[] {
  const custom = given(o.customSql);
  return (custom === null ? listOf(c.querySql) : [custom]).map(queryText);
}

/** In the order of the job; a table that is named twice is read once. @throws SyncError SOURCE_MISSING, JOB_INVALID */
export async function findSources(o: ReaderOptions, sessions: SourceSessions): Promise<readonly JobSource[]> {
  const found: JobSource[] = [];
  for (const [connection, c] of o.connection.entries()) {
    const queries = queriesOf(o, c);
    found.push(...queries.map((query): JobSource => ({ connection, facts: null, query })));
    if (queries.length > 0) continue;
    const database = sessions.databaseOf(connection);
    const tables = await sessions.on(connection, (s) => tablesOf(s, c, database, `connection[${String(connection)}]`));
    found.push(...tables.map((facts): JobSource => ({ connection, facts, query: null })));
  }
  return found;
}

async function tablesOf(
  session: Session,
  c: ReaderConnection,
  database: string | null,
  place: string,
): Promise<readonly TableFacts[]> {
  const names: string[] = [];
  for (const name of listOf(c.table)) {
    if (name.trim() === '*') names.push(...(await matching(session, database, null, `${place}.table`)));
    else names.push(name);
  }
  if (c.tablePattern !== undefined) {
    names.push(...(await matching(session, database, c.tablePattern, `${place}.tablePattern`)));
  }
  const byName = new Map<string, TableFacts>();
  for (const name of names) {
    const facts = await findTable(session, name, database, 'source');
    byName.set(showTable(facts.name), byName.get(showTable(facts.name)) ?? facts);
  }
  return [...byName.values()];
}

async function matching(
  session: Session,
  database: string | null,
  pattern: string | null,
  place: string,
): Promise<readonly string[]> {
  if (database === null) {
    throw new SyncError('JOB_INVALID', 'no database is given whose tables could be read', {
      place,
      hint: 'Name one in jdbcUrl, or as `schema`.',
    });
  }
  const fits = pattern === null ? null : new RegExp(`^(?:${pattern})$`, 'u');
  const all = await listTables(session, database);
  const names = all.filter((name) => fits === null || fits.test(name));
  if (names.length > 0) return names.map(quoteName);
  throw new SyncError(
    'SOURCE_MISSING',
    `no table of ${database} ${pattern === null ? 'is there' : 'fits the pattern'}`,
    {
      place,
      hint: all.length === 0 ? 'Check jdbcUrl, and the rights of the user.' : `It has ${all.slice(0, 10).join(', ')}.`,
    },
  );
}
