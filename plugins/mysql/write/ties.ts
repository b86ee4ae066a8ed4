/** What ties a table to others, so that it matters in which order its rows are written. */
import type { Session } from '../connect/session.js';
import { quoteText, showTable, type TableName } from '../sql/names.js';

/** As sentences about the table, as far as the user may see them; empty: none. */
export async function tiesOf(session: Session, name: TableName): Promise<readonly string[]> {
  const [db, table] = [quoteText(name.database), quoteText(name.table)];
  const triggers = await session.query(
    `select trigger_name from information_schema.triggers where event_object_schema = ${db} and event_object_table = ${table}`,
    `look up the triggers of ${showTable(name)}`,
  );
  const keys = await session.query(
    `select constraint_name, table_name from information_schema.key_column_usage where referenced_table_name is not null
     and ((table_schema = ${db} and table_name = ${table}) or (referenced_table_schema = ${db} and referenced_table_name = ${table}))`,
    `look up the foreign keys of ${showTable(name)}`,
  );
  return [
    ...triggers.map(([trigger]) => `it has the trigger ${trigger ?? ''}`),
    ...keys.map(([key, of]) => `it is part of the foreign key ${key ?? ''} of ${of ?? ''}`),
  ];
}
