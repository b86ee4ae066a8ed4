/** `a`b` → `` `a``b` ``; backticks hold in every sql_mode, ANSI_QUOTES too. */
export const quoteName = (name: string): string => `\`${name.replaceAll('`', '``')}\``;

/** A table by its two names. */
export interface TableName {
  readonly database: string;
  readonly table: string;
}

export const quoteTable = (t: TableName): string => `${quoteName(t.database)}.${quoteName(t.table)}`;

/** For messages and schemas: `shop.orders`. */
export const showTable = (t: TableName): string => `${t.database}.${t.table}`;

/** A string literal; our sessions have no NO_BACKSLASH_ESCAPES. */
export function quoteText(text: string): string {
  return `'${text.replace(/[\0\n\r\x1a'\\]/g, (c) => ESCAPES[c] ?? c)}'`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\n': '\\n',
  '\r': '\\r',
  '\x1a': '\\Z',
  "'": "\\'",
  '\\': '\\\\',
};

const bareName = (part: string): string => (part.startsWith('`') ? part.slice(1, -1).replaceAll('``', '`') : part);
const PART = '(`(?:[^`]|``)+`|[^`.]+)';
const WHOLE = new RegExp(`^${PART}$`);
const TWO_PARTS = new RegExp(`^${PART}\\.${PART}$`);

/**
 * What a job's `table` may mean, the likeliest first: `db.table` (each part may be in backticks), or a table of `database`
 * whose own name has a dot. Which it is, the catalog must tell.
 */
export function tableCandidates(text: string, database: string | null): readonly TableName[] {
  const name = text.trim();
  const candidates: TableName[] = [];
  const two = TWO_PARTS.exec(name);
  if (two?.[1] !== undefined && two[2] !== undefined) {
    candidates.push({ database: bareName(two[1]), table: bareName(two[2]) });
  }
  if (database === null) return candidates;
  if (WHOLE.test(name)) candidates.push({ database, table: bareName(name) });
  // A table whose name has dots: a plain one is looked for first, as `db.table` is only a habit of job files.
  else if (!name.includes('`')) candidates.unshift({ database, table: name });
  return candidates;
}
