import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SimpleValue } from 'syncx/plugin-api';
import { listNames } from './durable.js';
import { simpleRow, type StoredRow } from './row-json.js';
import { Store } from './store.js';

export interface TargetRow {
  readonly runId: string;
  readonly lane: number;
  readonly epoch: number;
  readonly table: string | null;
  readonly op: StoredRow['op'];
  /** As `toObjects` gives it: text, bytes, null; no entry for an absent cell. */
  readonly values: Readonly<Record<string, SimpleValue>>;
}

/**
 * The committed rows of a scripted target, lane by lane in the order of their commits.
 * @throws Error where the pieces of a lane leave a gap or overlap: the engine restored a wrong writer state.
 */
export async function readTarget(folder: string): Promise<readonly TargetRow[]> {
  const store = new Store(folder);
  const rows: TargetRow[] = [];
  for (const { runId, lane } of await store.logs()) {
    let next = 0;
    for (const { commit } of await store.entries(runId, lane)) {
      if (!commit) continue;
      const { epoch, file, first } = commit;
      if (first >= 0 && first !== next) {
        const where = `run ${runId}, lane ${String(lane)}, epoch ${String(epoch)}`;
        throw new Error(`${where}: begins at row ${String(first)} of the lane, ${String(next)} rows are committed`);
      }
      next += commit.rows;
      const text = await readFile(join(store.data, file), 'utf8');
      for (const line of text.split('\n')) {
        if (line === '') continue;
        const { table, op, cells } = JSON.parse(line) as StoredRow;
        rows.push({ runId, lane, epoch, table, op, values: simpleRow({ table, op, cells }) });
      }
    }
  }
  return rows;
}

/** Files of rows that no commit names: after a sweep there are none. */
export async function strayFiles(folder: string): Promise<readonly string[]> {
  const store = new Store(folder);
  const visible = new Set<string>();
  for (const { runId } of await store.logs()) for (const f of await store.visibleFiles(runId)) visible.add(f);
  return (await listNames(store.data)).filter((f) => !visible.has(f));
}

/** The runs whose `begin`, and whose `complete`, was called. */
export async function runsOf(folder: string): Promise<{ begun: readonly string[]; complete: readonly string[] }> {
  const names = await listNames(new Store(folder).runs);
  const those = (end: string): string[] => names.filter((n) => n.endsWith(end)).map((n) => n.slice(0, -end.length));
  return { begun: those('.begun'), complete: those('.complete') };
}
