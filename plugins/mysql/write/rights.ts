/** What the user may do, as far as the server tells it without doing it. */
import { errnoOf } from '../connect/mysql-errors.js';
import type { Session } from '../connect/session.js';
import { quoteTable, quoteText, type TableName } from '../sql/names.js';

/**
 * Which of these rights on a table that is not there yet the user lacks, by the catalog. What roles give is not shown there,
 * so that with one the answer is none, and the creation itself tells.
 */
export async function lackingByCatalog(
  session: Session,
  t: TableName,
  rights: readonly string[],
): Promise<readonly string[]> {
  if (await hasRole(session)) return [];
  const me = `concat('''', substring_index(current_user(), '@', 1), '''@''', substring_index(current_user(), '@', -1), '''')`;
  const where = `grantee = ${me} and privilege_type in (${rights.map(quoteText).join(', ')})`;
  // Database names of grants are patterns, as those of LIKE.
  const sql = `select privilege_type from information_schema.user_privileges where ${where}
    union select privilege_type from information_schema.schema_privileges where ${where} and ${quoteText(t.database)} like table_schema
    union select privilege_type from information_schema.table_privileges where ${where}
      and table_schema = ${quoteText(t.database)} and table_name = ${quoteText(t.table)}`;
  const has = new Set((await session.query(sql, 'look up the rights of the user')).map(([right]) => right));
  return rights.filter((r) => !has.has(r));
}

async function hasRole(session: Session): Promise<boolean> {
  try {
    const [row] = await session.query('select current_role()', 'ask for the role of the user');
    return (row?.[0] ?? 'NONE') !== 'NONE';
  } catch {
    return false; // servers without roles
  }
}

/** Statements that touch no row; the server checks the right all the same. All but the first do without SELECT. */
const PROBES: readonly (readonly [right: string, sql: (table: string) => string])[] = [
  ['SELECT', (t) => `select 1 from ${t} where 1 = 0`],
  ['INSERT', (t) => `insert into ${t} (%column%) select null from dual where 1 = 0`],
  ['UPDATE', (t) => `update ${t} set %column% = default where 1 = 0`],
  ['DELETE', (t) => `delete from ${t} where 1 = 0`],
];

/** Which of these rights on a table the user lacks. For plans: changes nothing. `column`: one of it, quoted. */
export async function lackingRights(
  session: Session,
  t: TableName,
  column: string,
  rights: readonly string[],
): Promise<readonly string[]> {
  const lacking: string[] = [];
  for (const [right, sql] of PROBES) {
    if (!rights.includes(right)) continue;
    try {
      await session.run(sql(quoteTable(t)).replaceAll('%column%', column), `look for the right to ${right}`);
    } catch (e) {
      const number = errnoOf(e);
      // `INSERT command denied to user …`: one may need the right to read as well.
      const told = /(\w+) command denied/.exec((e as Error).message)?.[1]?.toUpperCase() ?? right;
      if ((number === 1142 || number === 1143) && !lacking.includes(told)) lacking.push(told);
    }
  }
  return lacking;
}
