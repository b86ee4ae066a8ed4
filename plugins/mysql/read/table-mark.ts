/**
 * Whether a table is still the one that the run was planned with. TRUNCATE, DROP with CREATE, and RENAME leave a table of
 * the same name and columns: splits that are read behind it are then of other rows, or of none.
 *
 * What servers show of it, measured (MariaDB 10.11, MySQL 5.5):
 * - the number that InnoDB has for a table (right PROCESS; MySQL from 5.6): another one after TRUNCATE, DROP with CREATE, and
 *   whatever rebuilds the table; the same after changes in place;
 * - `create_time`: of InnoDB not changed by TRUNCATE, but by any ALTER TABLE; of MyISAM by TRUNCATE too;
 * - the next AUTO_INCREMENT: falls only by TRUNCATE, DROP with CREATE, and where it is set.
 */
import { createHash } from 'node:crypto';
import { SyncError, isSyncError } from 'syncx/plugin-api';
import { isDenied } from '../connect/mysql-errors.js';
import type { Session } from '../connect/session.js';
import { atLeast } from '../connect/session-setup.js';
import { quoteTable, quoteText, showTable, type TableName } from '../sql/names.js';

/** Of a base table, as the plan found it; kept in checkpoints. Null: the server does not say it, or not to this user. */
export interface TableMark {
  /** `create_time`. */
  readonly created: string | null;
  /** The next AUTO_INCREMENT; digits. */
  readonly counter: string | null;
  /** InnoDB's number of the table. */
  readonly id: string | null;
  /** Hash of SHOW CREATE TABLE. */
  readonly definition: string | null;
}

/** Null: the server has no such list. */
function innodbTables(session: Session): string | null {
  const { server } = session;
  if (server.mariadb || !atLeast(server, 8, 0)) return atLeast(server, 5, 6) ? 'innodb_sys_tables' : null;
  return 'innodb_tables';
}

/** Names with other characters have another form there, and partitioned tables a row for each part. */
const PLAIN_NAME = /^[A-Za-z0-9_]+$/;

async function idOf(session: Session, t: TableName): Promise<string | null> {
  const list = innodbTables(session);
  if (list === null || !PLAIN_NAME.test(t.database) || !PLAIN_NAME.test(t.table)) return null;
  const name = quoteText(`${t.database}/${t.table}`);
  try {
    const rows = await session.query(
      `select table_id from information_schema.${list} where name = ${name}`,
      `look up ${showTable(t)}`,
    );
    return rows[0]?.[0] ?? null;
  } catch (e) {
    if (isDenied(e)) return null;
    throw e;
  }
}

async function definitionOf(session: Session, t: TableName): Promise<string | null> {
  try {
    const [row] = await session.query(`show create table ${quoteTable(t)}`, `look up ${showTable(t)}`);
    const text = (row?.[1] ?? '').replace(/ AUTO_INCREMENT=\d+/, '');
    return createHash('sha256').update(text).digest('base64url').slice(0, 22);
  } catch (e) {
    if (isDenied(e)) return null;
    throw e;
  }
}

type Facts = Omit<TableMark, 'definition'>;

/** Null: there is no such table. */
async function factsOf(session: Session, t: TableName, withId: boolean): Promise<Facts | null> {
  const [row] = await session.query(
    `select create_time, auto_increment from information_schema.tables
     where table_schema = ${quoteText(t.database)} and table_name = ${quoteText(t.table)}`,
    `look up ${showTable(t)}`,
  );
  if (row === undefined) return null;
  const [created, counter] = row;
  return { created: created ?? null, counter: counter ?? null, id: withId ? await idOf(session, t) : null };
}

/** Servers look through all tables for one's number; of very many that takes long, and it is asked at the end of each split. */
const PATIENCE_MS = 250;

/** Null: there is no such table any more. */
export async function markOf(session: Session, t: TableName): Promise<TableMark | null> {
  const facts = await factsOf(session, t, false);
  if (facts === null) return null;
  const began = performance.now();
  const id = await idOf(session, t);
  const dear = performance.now() - began > PATIENCE_MS;
  return { ...facts, id: dear ? null : id, definition: await definitionOf(session, t) };
}

const changed = (t: TableName, what: string, cause?: unknown): SyncError =>
  new SyncError('SOURCE_CHANGED', `the table ${showTable(t)} ${what} after the run began`, {
    place: showTable(t),
    ...(cause === undefined ? {} : { cause }),
    hint: 'The run may have rows of both tables, or lack some. Start a new one with --fresh.',
  });

/**
 * @returns `altered`: another definition, on what must be the same rows.
 * @throws SyncError SOURCE_CHANGED naming the table, where it is another one.
 */
export async function checkMark(session: Session, t: TableName, then: TableMark): Promise<'same' | 'altered'> {
  const now = await factsOf(session, t, then.id !== null);
  if (now === null) throw changed(t, 'was dropped');
  if (then.counter !== null && now.counter !== null && BigInt(now.counter) < BigInt(then.counter))
    throw changed(t, 'was emptied (TRUNCATE) or created anew');
  const known = then.id !== null && now.id !== null;
  if (known ? then.id === now.id : then.created === now.created) return 'same';
  const definition = await definitionOf(session, t).catch((e: unknown) => {
    throw isSyncError(e) && e.code === 'SOURCE_MISSING' ? changed(t, 'was dropped', e) : e;
  });
  if (definition === then.definition)
    throw changed(t, 'was emptied (TRUNCATE), created anew, or rebuilt (OPTIMIZE TABLE)');
  return 'altered';
}
