/** Whether the rows that will come fit the table, asked before anything of it is changed. */
import { internSchema, type PlanColumn, type RowSchema } from 'syncx/plugin-api';
import { keyOption, wantedColumns, type WriterOptions } from '../writer-options.js';
import { bindColumns } from './rows/bind-columns.js';
import { firstWord, isPlainDml } from './split-sql.js';
import { statementsOf, type Target } from './target.js';

/** Null: types or columns are not known yet. */
export function schemaOf(from: readonly PlanColumn[] | null): RowSchema | null {
  if (from === null) return null;
  const known = from.flatMap((c) => (c.type === null ? [] : [{ name: c.name, type: c.type, role: c.role ?? 'data' }]));
  return known.length === from.length ? internSchema(known) : null;
}

/** Other statements may change its columns. */
const keepsColumns = (statement: string): boolean => isPlainDml(statement) || firstWord(statement) === 'truncate';

/** @throws SyncError COLUMN_MISMATCH as for the first row. */
export function assertRowsFit(o: WriterOptions, { facts }: Target, rows: readonly (readonly PlanColumn[])[]): void {
  if (facts === null || !statementsOf(o.preSql).every(keepsColumns)) return;
  const key = keyOption(o);
  for (const columns of rows) {
    const schema = schemaOf(columns);
    if (schema === null) continue;
    bindColumns(schema, facts, {
      columns: wantedColumns(o),
      uniqueKey: key.length === 0 ? null : key,
      warn: () => undefined,
    });
  }
}
