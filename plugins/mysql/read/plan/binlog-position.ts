import { errnoOf, isDenied } from '../../connect/mysql-errors.js';
import type { Session } from '../../connect/session.js';

const ER_PARSE = 1064;
const doing = "look up the server's binlog position";

type Rows = readonly (readonly (string | null)[])[];

/** The first that the server knows: names change with its versions. Denied: null. */
async function firstKnown(session: Session, statements: readonly string[]): Promise<Rows | null> {
  for (const [i, sql] of statements.entries()) {
    try {
      return await session.query(sql, doing);
    } catch (e) {
      if (isDenied(e)) return null;
      if (errnoOf(e) !== ER_PARSE || i === statements.length - 1) throw e;
    }
  }
  return null;
}

/** The two names are of one thing. */
const LOGGING = "show variables where variable_name in ('log_slave_updates', 'log_replica_updates', 'wsrep_on')";

/** Whether rows may come from other servers that the binlog does not hold: in a replica, or in a Galera cluster. */
async function hasUnlogged(session: Session): Promise<boolean> {
  const variables = (await session.query(LOGGING, doing)).map(([name, value]) => `${name ?? ''}=${value ?? ''}`);
  if (!variables.some((v) => /_updates=OFF$/i.test(v))) return false;
  if (variables.some((v) => /^wsrep_on=ON$/i.test(v))) return true;
  const { mariadb } = session.server;
  const primaries = await firstKnown(
    session,
    mariadb ? ['show all slaves status'] : ['show slave status', 'show replica status'],
  );
  if (primaries !== null) return primaries.length > 0;
  if (!mariadb) return true;
  // MariaDB has a right of its own for that; this is set in each server that ever was a replica.
  return (await session.query("select 1 from dual where @@gtid_slave_pos <> ''", doing)).length > 0;
}

/**
 * Where the server's binlog ends, with the ids of the transactions in it: equal to an earlier answer where nothing was
 * written since. Null: there is no binlog, or not of all that is written, or the user may not ask.
 */
export async function binlogPosition(session: Session): Promise<string | null> {
  // The second is its name from MySQL 8.4 on.
  const [row] = (await firstKnown(session, ['show master status', 'show binary log status'])) ?? [];
  if (row === undefined) return null;
  const [file, at, onlyOf, notOf] = row;
  if ((onlyOf ?? '') + (notOf ?? '') !== '' || (await hasUnlogged(session))) return null;
  const [gtid] = session.server.mariadb ? await session.query('select @@gtid_binlog_pos', doing) : [[row[4] ?? '']];
  return `${file ?? ''}:${at ?? ''} ${(gtid?.[0] ?? '').replace(/\s/g, '')}`.trim();
}
