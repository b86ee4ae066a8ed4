/** Which topic rows go to: a fixed one, or one that is named after the table that they come from. */
import { SyncError, type RowSchema } from 'syncx/plugin-api';

/** Names in `${…}` that stand for a part of the rows' table. */
export const TABLE_PARTS = ['table', 'database'] as const;
type TablePart = (typeof TABLE_PARTS)[number];

const PART = /\$\{(table|database)\}/g;
const PLACE = 'writer.parameter.topic';

export const isTopicTemplate = (topic: string): boolean => topic.search(PART) >= 0;

/** What is left of `${…}` behind the parts that are known; null: nothing. */
export const unknownPart = (topic: string): string | null => /\$\{[^}]*\}?/.exec(topic.replace(PART, ''))?.[0] ?? null;

/**
 * The topic of rows of that schema. A reader names tables as `table` or `database.table`.
 * @throws SyncError COLUMN_MISMATCH where the rows are of no table, or of no database where its name is asked for.
 */
export function topicOf(topic: string, schema: RowSchema): string {
  return topic.replace(PART, (_, part: TablePart) => partOf(schema.table, part));
}

function partOf(table: string | null, part: TablePart): string {
  if (table === null) throw nameless('the rows are of no table', part);
  const dot = table.indexOf('.');
  if (part === 'table') return table.slice(dot + 1);
  if (dot < 0) throw nameless(`the rows are of the table ${table}, with no database`, part);
  return table.slice(0, dot);
}

function nameless(why: string, part: TablePart): SyncError {
  return new SyncError('COLUMN_MISMATCH', `${why}, so \${${part}} in topic does not tell where they go`, {
    place: PLACE,
    blame: 'config',
    hint: 'Name the topic to write.',
  });
}
