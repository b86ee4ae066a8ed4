import { SyncError, type RowSchema } from 'syncx/plugin-api';

export function sameColumns(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i]);
}

/**
 * Indexes of the columns to write. `*` leaves meta columns (file name, offset …) out; naming one writes it.
 * @throws SyncError COLUMN_MISMATCH
 */
export function projectionOf(schema: RowSchema, wanted: readonly string[] | null): readonly number[] {
  if (wanted === null) return schema.columns.flatMap((c, i) => (c.role === 'data' ? [i] : []));
  return wanted.map((name) => {
    const at = schema.columns.findIndex((c) => c.name === name);
    if (at >= 0) return at;
    throw new SyncError(
      'COLUMN_MISMATCH',
      `the column \`${name}\` is to be written, but the reader has none of that name`,
      {
        place: 'writer.parameter.column',
        hint: `The reader delivers ${schema.columns.map((c) => `\`${c.name}\``).join(', ')}.`,
      },
    );
  });
}
