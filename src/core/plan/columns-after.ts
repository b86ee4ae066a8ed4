/** What the steps of a job make of the reader's columns. */
import type { TransformSpec } from '../../job/transform-spec.js';
import { internSchema, type PlanColumn } from '../../plugin-api/index.js';

/** Null: not known before rows come. @throws SyncError where a step does not fit the columns. */
export async function columnsAfter(
  transform: readonly TransformSpec[],
  columns: readonly PlanColumn[],
): Promise<readonly PlanColumn[] | null> {
  if (transform.length === 0) return columns;
  const typed = columns.flatMap((c) => (c.type === null ? [] : [{ ...c, type: c.type }]));
  if (typed.length < columns.length) return null;
  const { RowTransform } = await import('../transform/row-transform.js');
  const { columns: out } = (await RowTransform.load(transform)).output(internSchema(typed));
  return out.map(({ name, type, role }) => ({ name, type, role }));
}
