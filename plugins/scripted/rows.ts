import { internSchema, type BatchBuilder, type ColumnInit, type RowSchema } from 'syncx/plugin-api';

export const TABLE = 'scripted';
export const COLUMNS = ['id', 'split', 'n', 'text'] as const;

const BASE: readonly ColumnInit[] = [
  { name: 'id', type: { is: 'string' }, nullable: false },
  { name: 'split', type: { is: 'string' }, nullable: false },
  { name: 'n', type: { is: 'int64' }, nullable: false },
  { name: 'text', type: { is: 'string' } },
];

export function schemaWith(added: readonly string[]): RowSchema {
  return internSchema([...BASE, ...added.map((name): ColumnInit => ({ name, type: { is: 'string' } }))], TABLE, [0]);
}

// What trips writers of text formats: quotes, separators, line ends, non-ASCII, edges of spaces, words that look special.
const TEXTS = ['plain', '', 'say "hi", ok', 'two\nlines\r\n', '🙂 é', ' edges ', 'NULL', '\\N\ttab\\', '0'] as const;

/** The text of row n: NULL in every 7th row, else one of a few awkward texts, longer by `padding`. */
export function textOf(n: number, padding: number): string | null {
  if (n % 7 === 0) return null;
  return (TEXTS[n % TEXTS.length] ?? '') + 'x'.repeat(padding);
}

/** Row n of a split as `toObjects` and `readTarget` give it. Rows are numbered from 1. */
export function scriptedRow(
  split: string,
  n: number,
  more: { readonly added?: readonly string[]; readonly padding?: number } = {},
): Record<string, string | null> {
  const row: Record<string, string | null> = {
    id: `${split}:${String(n)}`,
    split,
    n: String(n),
    text: textOf(n, more.padding ?? 0),
  };
  for (const name of more.added ?? []) row[name] = `${name} ${String(n)}`;
  return row;
}

export function appendRow(b: BatchBuilder, split: string, n: number, added: readonly string[], padding: number): void {
  b.appendText(`${split}:${String(n)}`);
  b.appendText(split);
  b.appendText(String(n));
  const text = textOf(n, padding);
  if (text === null) b.appendNull();
  else b.appendText(text);
  for (const name of added) b.appendText(`${name} ${String(n)}`);
  b.endRow();
}
