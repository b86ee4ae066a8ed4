import {
  defineReader,
  type CursorBounds,
  type JsonValue,
  type PluginContext,
  type Reader,
  type SplitPlanner,
} from 'syncx/plugin-api';
import { endpointsOf, zeroDateOf } from './connect/connection-options.js';
import { cursorTable } from './read/cursor/cursor-tables.js';
import { loadDriver } from './connect/session.js';
import { nextBounds } from './read/cursor/bounds.js';
import { startOf } from './read/cursor/windows.js';
import type { LaneOptions } from './read/lane-options.js';
import { MysqlLaneReader } from './read/lane-reader.js';
import { checkReaderOptions, condition, hasCursor } from './read/plan/check-options.js';
import { explainSplit } from './read/plan/explain-split.js';
import { MysqlPlanner } from './read/plan/planner.js';
import { planShapes } from './read/plan/plan-shapes.js';
import { freshPlan, resumedPlan } from './read/plan/run-plan.js';
import { decodePlan, type SavedPlan } from './read/plan/saved-plan.js';
import { sharedPlanOf, type SharedPlan } from './read/plan/shared-plan.js';
import { SourceSessions } from './read/plan/source-sessions.js';
import { TableLock, checkUnwritten, positionsNow } from './read/plan/table-lock.js';
import { namesOf, wantedColumns } from './read/plan/wanted-columns.js';
import { planColumns } from './read/plan-columns.js';
import { positions } from './read/positions.js';
import { READER_OPTIONS, type ReaderOptions } from './reader-options.js';

function laneOptions(o: ReaderOptions): LaneOptions {
  return {
    connections: o.connection.map((c) => endpointsOf(o, c)),
    where: condition(o.where),
    zeroDate: o.zeroDate ?? o.connection.map((c) => zeroDateOf(o, c)).find((z) => z !== null) ?? 'keep',
    consistent: o.consistent,
    polling: { intervalMs: o.pollingInterval, waitMs: o.increWait },
  };
}

function createReader(options: ReaderOptions, { log, signal, plansOnly = false }: PluginContext): Reader {
  const lanesRead = laneOptions(options);
  void loadDriver().catch(() => undefined); // the first session says what is wrong
  const sessions = new SourceSessions(lanesRead.connections, signal);
  let plan: SavedPlan | null = null;
  let lock: TableLock | null = null;

  const unlock = async (): Promise<void> => {
    const held = lock;
    lock = null;
    await held?.[Symbol.asyncDispose]();
  };

  const locked = async (then: SavedPlan, lanes: number): Promise<SavedPlan> => {
    await unlock();
    if (!options.consistent || then.shapes.length === 0) return then;
    if (plansOnly) {
      if (then.locked !== null) checkUnwritten(then.locked, await positionsNow(sessions, then.shapes));
      return then;
    }
    const taken = (lock = await TableLock.take(sessions, then.shapes, lanes, log, signal));
    try {
      if (then.locked !== null) checkUnwritten(then.locked, taken.at);
    } catch (e) {
      await unlock();
      throw e;
    }
    return { ...then, locked: taken.at };
  };

  const planner = async (saved: JsonValue | null, lanes = 1, bounds?: CursorBounds): Promise<SplitPlanner> => {
    const made =
      saved === null
        ? await freshPlan({ options, sessions, log }, lanes, bounds)
        : await resumedPlan(decodePlan(saved), sessions);
    const ready = (plan = await locked(made, lanes));
    const held = lock;
    return new MysqlPlanner(ready, sessions, held === null ? null : () => held.release());
  };

  const bounds = async (lower: JsonValue | null): Promise<CursorBounds> => {
    const tables = (await planShapes(options, sessions)).map((p) => cursorTable(p, options));
    const waitMs = plansOnly ? null : options.increWait;
    return nextBounds(lower, tables, { sessions, log, signal, waitMs, start: (t) => startOf(options, t) });
  };

  return {
    positions,
    replayable: true,
    planner,
    ...(hasCursor(options) ? { bounds } : {}),
    columns: () => (plan?.shapes ?? []).map(planColumns),
    shared: () => {
      lock?.watch();
      const shared: SharedPlan = {
        shapes: plan?.shapes ?? [],
        snapshot: lock === null ? null : { token: lock.token },
      };
      return shared as unknown as JsonValue;
    },
    openLane: async (lane, shared) => {
      const { shapes, snapshot } = sharedPlanOf(shared);
      const reader = new MysqlLaneReader(lanesRead, lane, shapes);
      if (snapshot !== null) await reader.openSnapshots(snapshot.token);
      return reader;
    },
    explain: async () => {
      const { explainSource } = await import('./read/explain-source.js'); // only for plans
      return explainSource(options, sessions);
    },
    digest: async () => {
      const { openDigest } = await import('./verify/digest.js'); // only for comparisons
      return openDigest(options, lanesRead.zeroDate, sessions);
    },
    explainSplit: (split) => explainSplit(split, plan?.shapes ?? []),
    close: async () => {
      await unlock();
      await sessions[Symbol.asyncDispose]();
    },
  };
}

export const reader = defineReader({
  name: 'mysql',
  aliases: ['mysqld', 'mariadb'],
  summary: 'Reads tables and queries of MySQL and MariaDB: all, or what is new since the last run.',
  options: READER_OPTIONS,
  boundedness: (o) => (o.polling ? 'unbounded' : 'bounded'),
  replayable: true,
  cursor: hasCursor,
  check: checkReaderOptions,
  columns: (o) => namesOf(wantedColumns(o)),
  create: (o, context) => Promise.resolve(createReader(o, context)),
});
