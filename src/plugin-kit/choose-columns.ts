import { SyncError, type RowSchema } from '../plugin-api/index.js';
import type { ColumnChoice } from './formats/record-encoder.js';

/**
 * Which columns of the rows a writer's `column` option means.
 *
 * `null` (`*`): all data columns; meta columns (file name, offset …) only where they are named. Where the rows have all
 * the names, columns go by name; else, where both sides have equally many, by position (the rule of FlinkX and DataX),
 * under the writer's names. A `*` among names stands for all data columns; then all go by name.
 * @throws SyncError COLUMN_MISMATCH
 */
export function chooseColumns(schema: RowSchema, wanted: readonly string[] | null): ColumnChoice {
  const data = schema.columns.flatMap((c, i) => (c.role === 'data' ? [i] : []));
  if (wanted === null) return { projection: data, names: data.map((i) => schema.columns[i]?.name ?? '') };
  if (wanted.includes('*')) return besideAll(schema, data, wanted);
  const byName = wanted.map((name) => schema.columns.findIndex((c) => c.name === name));
  if (!byName.includes(-1)) return { projection: byName, names: wanted };
  if (data.length === wanted.length) return { projection: data, names: wanted };
  const missing = wanted.find((_, k) => byName[k] === -1) ?? '';
  throw new SyncError(
    'COLUMN_MISMATCH',
    `the writer has ${String(wanted.length)} columns and the reader ${String(data.length)}, and the reader has no column \`${missing}\``,
    {
      place: 'writer.parameter.column',
      hint: `The reader delivers ${schema.columns.map((c) => `\`${c.name}\``).join(', ')}. Name some of these, or as many as there are.`,
    },
  );
}

function besideAll(schema: RowSchema, data: readonly number[], wanted: readonly string[]): ColumnChoice {
  const projection = wanted.flatMap((name) => {
    if (name === '*') return data;
    const at = schema.columns.findIndex((c) => c.name === name);
    if (at >= 0 && !data.includes(at)) return [at];
    const missing = `the writer names the column \`${name}\` beside \`*\`, and the reader does not deliver it`;
    const twice = `the writer names the column \`${name}\` beside \`*\`, which writes it already`;
    throw new SyncError('COLUMN_MISMATCH', at < 0 ? missing : twice, {
      place: 'writer.parameter.column',
      hint:
        at < 0
          ? `The reader delivers ${schema.columns.map((c) => `\`${c.name}\``).join(', ')}.`
          : 'Leave it out, or name all columns in the wanted order.',
    });
  });
  return { projection, names: projection.map((i) => schema.columns[i]?.name ?? '') };
}
