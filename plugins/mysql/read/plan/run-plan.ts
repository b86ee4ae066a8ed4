/** From a job's options to the plan of a run, fresh or saved. */
import type { CursorBounds, Logger } from 'syncx/plugin-api';
import type { ReaderOptions } from '../../reader-options.js';
import { cursorTable } from '../cursor/cursor-tables.js';
import { pollingWindow, tellNulls, windowOf } from '../cursor/windows.js';
import type { CursorWindow } from '../split-spec.js';
import { cursorColumn } from './check-options.js';
import { planFeed } from './plan-feed.js';
import { compareShapes, markShapes, planShapes } from './plan-shapes.js';
import type { Feed, SavedPlan } from './saved-plan.js';
import type { PlannedShape } from './shapes.js';
import type { SourceSessions } from './source-sessions.js';

export interface RunPlanner {
  readonly options: ReaderOptions;
  readonly sessions: SourceSessions;
  readonly log: Logger;
}

/** `undefined`: nothing is to be read of the table; null: everything. */
async function windowFor(
  p: PlannedShape,
  bounds: CursorBounds | undefined,
  { options, sessions, log }: RunPlanner,
): Promise<CursorWindow | null | undefined> {
  if (cursorColumn(options) === null) return null;
  const table = cursorTable(p, options);
  await tellNulls(table, sessions, log);
  if (options.polling) return pollingWindow(table, options, sessions);
  return (await windowOf(table, bounds ?? { lower: null, upper: null }, options, sessions)) ?? undefined;
}

/** Of a new run. All that may take long comes before any lock: ranges are open at both ends, so none needs one. */
export async function freshPlan(r: RunPlanner, lanes: number, bounds: CursorBounds | undefined): Promise<SavedPlan> {
  const planned = await markShapes(await planShapes(r.options, r.sessions), r.sessions);
  const windows: (CursorWindow | null)[] = [];
  const feeds: Feed[] = [];
  for (const [i, p] of planned.entries()) {
    const window = await windowFor(p, bounds, r);
    windows.push(window ?? null);
    if (window === undefined) continue;
    feeds.push(
      await planFeed(p, i, window, {
        options: r.options,
        lanes,
        log: r.log,
        on: (ask) => r.sessions.on(p.shape.connection, ask),
      }),
    );
  }
  return { format: 1, shapes: planned.map((p) => p.shape), windows, feeds, locked: null };
}

/** Of a run that goes on: as it was, where the tables still are. @throws SyncError SOURCE_CHANGED */
export async function resumedPlan(saved: SavedPlan, sessions: SourceSessions): Promise<SavedPlan> {
  await compareShapes(saved.shapes, sessions);
  return saved;
}
