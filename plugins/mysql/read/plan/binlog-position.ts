import { errnoOf, isDenied } from '../../connect/mysql-errors.js';
import type { Session } from '../../connect/session.js';

const ER_PARSE = 1064;
/**
 * Where the server's binlog ends, with the ids of the transactions in it: equal to an earlier answer where nothing was
 * written since. Null: there is no binlog, or the user may not ask.
 */
export async function binlogPosition(session: Session): Promise<string | null> {
  const doing = "look up the server's binlog position";
  const rows = await session
    .query('show master status', doing)
    .catch((e: unknown) => {
      if (errnoOf(e) !== ER_PARSE) throw e;
      return session.query('show binary log status', doing); // its name from MySQL 8.4 on
    })
    .catch((e: unknown) => {
      if (!isDenied(e)) throw e;
      return [];
    });
  const [row] = rows;
  if (row === undefined) return null;
  const [file, at] = row;
  const [gtid] = session.server.mariadb ? await session.query('select @@gtid_binlog_pos', doing) : [[row[4] ?? '']];
  return `${file ?? ''}:${at ?? ''} ${(gtid?.[0] ?? '').replace(/\s/g, '')}`.trim();
}
