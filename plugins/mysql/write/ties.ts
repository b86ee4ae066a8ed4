/** What ties a table to others, so that it matters in which order its rows are written. */
import type { Session } from '../connect/session.js';
import { quoteText, showTable, type TableName } from '../sql/names.js';

/**
 * As sentences about the table, as far as the user may see them; empty: none.
 * @param from Where tables that refer to it are looked for. Old servers open all of them to tell.
 */
export async function tiesOf(
  session: Session,
  name: TableName,
  from: 'its database' | 'anywhere',
): Promise<readonly string[]> {
  const [db, table] = [quoteText(name.database), quoteText(name.table)];
  const triggers = await session.query(
    `select trigger_name from information_schema.triggers where event_object_schema = ${db} and event_object_table = ${table}`,
    `look up the triggers of ${showTable(name)}`,
  );
  const sql =
    from === 'anywhere'
      ? `select constraint_name, table_name from information_schema.key_column_usage where referenced_table_name is not null
         and ((table_schema = ${db} and table_name = ${table}) or (referenced_table_schema = ${db} and referenced_table_name = ${table}))`
      : `select constraint_name, table_name from information_schema.referential_constraints
         where constraint_schema = ${db} and (table_name = ${table} or referenced_table_name = ${table})`;
  const keys = await session.query(sql, `look up the foreign keys of ${showTable(name)}`);
  return [
    ...triggers.map(([trigger]) => `it has the trigger ${trigger ?? ''}`),
    ...keys.map(([key, of]) => `it is part of the foreign key ${key ?? ''} of ${of ?? ''}`),
  ];
}
