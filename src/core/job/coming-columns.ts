/** What is compared before a run begins: afterwards `begin` may have emptied the target for rows that do not fit it. */
import type { JobSpec } from '../../job/job-spec.js';
import { SyncError, type PlanColumn, type Reader } from '../../plugin-api/index.js';
import { columnsAfter } from '../plan/columns-after.js';
import { mapColumns } from '../plan/map-columns.js';

/**
 * The columns that the writer will get, a list for each kind of rows; empty: not known before they come.
 * @throws SyncError COLUMN_MISMATCH where they fit the writer's neither by name nor by number.
 */
export async function comingColumns(job: JobSpec, reader: Reader): Promise<readonly (readonly PlanColumn[])[]> {
  const wanted = job.writer.definition.columns?.(job.writer.options) ?? null;
  const coming: (readonly PlanColumn[])[] = [];
  for (const read of reader.columns?.() ?? []) {
    const columns = await columnsAfter(job.transform, read);
    if (columns === null) continue;
    if (wanted !== null) assertFit(columns, wanted);
    coming.push(columns);
  }
  return coming;
}

function assertFit(columns: readonly PlanColumn[], wanted: readonly string[]): void {
  const [problem] = mapColumns(columns, { wanted, target: null, losses: [] }).problems;
  if (problem === undefined) return;
  // Names of some targets are the same in any case: that is for the writer to say.
  const folded = new Set(columns.map((c) => c.name.toLowerCase()));
  if (wanted.every((name) => folded.has(name.toLowerCase()))) return;
  const { code, message, place, hint } = problem;
  throw new SyncError(code, message, {
    ...(place === undefined ? {} : { place }),
    ...(hint === undefined ? {} : { hint }),
  });
}
