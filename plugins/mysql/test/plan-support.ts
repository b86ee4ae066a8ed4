/** Plans of the reader, as tests look at them: all splits, and which rows of the table each has. */
import type {
  CursorBounds,
  JsonObject,
  JsonValue,
  Logger,
  PluginContext,
  Reader,
  Split,
  SplitPlanner,
} from 'syncx/plugin-api';
import { fillOptions, testContext } from 'syncx/plugin-testkit';
import { fromOf } from '../read/plan/plan-shapes.js';
import { sharedPlanOf } from '../read/plan/shared-plan.js';
import { splitConditions } from '../read/select-sql.js';
import { splitSpecOf, type Shape } from '../read/split-spec.js';
import { reader as definition } from '../reader.js';
import type { TestDatabase } from './servers.js';

export const never: PluginContext['signal'] = new AbortController().signal;

export interface Logged {
  readonly level: 'info' | 'warn';
  readonly fields: JsonObject;
  readonly message: string;
}

export interface TestReader extends AsyncDisposable {
  readonly reader: Reader;
  readonly logged: readonly Logged[];
  /** Of the last plan. */
  shapes(): readonly Shape[];
}

export function jobOptions(
  db: TestDatabase,
  table: string | readonly string[] | null,
  options: JsonObject,
): JsonObject {
  const { username, password, jdbcUrl } = db;
  const connection = [{ jdbcUrl, ...(table === null ? {} : { table }) }];
  return { username, password, connection, ...options };
}

export async function openReader(
  db: TestDatabase,
  table: string | readonly string[] | null,
  options: JsonObject = {},
  context: Partial<PluginContext> = {},
): Promise<TestReader> {
  const logged: Logged[] = [];
  const log: Logger = {
    debug: () => undefined,
    info: (fields, message) => void logged.push({ level: 'info', fields, message }),
    warn: (fields, message) => void logged.push({ level: 'warn', fields, message }),
    error: () => undefined,
  };
  const filled = fillOptions(definition, jobOptions(db, table, options));
  const reader = await definition.create(filled, { ...testContext(), log, ...context });
  return {
    reader,
    logged,
    shapes: () => sharedPlanOf(reader.shared?.() ?? null).shapes,
    [Symbol.asyncDispose]: async () => reader.close?.(),
  };
}

export async function drain(planner: SplitPlanner): Promise<readonly Split[]> {
  const splits: Split[] = [];
  for (;;) {
    const split = await planner.next(never);
    if (split === 'end') return splits;
    splits.push(split);
  }
}

/** Values of a column in the rows of each split, sorted. */
export async function rowsOf(
  db: TestDatabase,
  shapes: readonly Shape[],
  splits: readonly Split[],
  column: string,
  where: string | null = null,
): Promise<readonly (readonly string[])[]> {
  const out: (readonly string[])[] = [];
  for (const split of splits) {
    const spec = splitSpecOf(split);
    const shape = shapes[spec.shape];
    if (shape === undefined) throw new Error(`no shape ${String(spec.shape)}`);
    const conditions = splitConditions(spec, where);
    const filter = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
    const rows = await db.rows(`select ${column} from ${fromOf(shape)}${filter}`);
    out.push(rows.map(([v]) => v ?? 'NULL').sort());
  }
  return out;
}

/** All splits of a fresh plan, and the rows of each. */
export async function planned(
  db: TestDatabase,
  table: string | readonly string[],
  column: string,
  options: JsonObject & { readonly lanes?: number } = {},
  bounds?: CursorBounds,
): Promise<{
  readonly splits: readonly Split[];
  readonly rows: readonly (readonly string[])[];
  readonly logged: readonly Logged[];
}> {
  const { lanes = 3, ...own } = options;
  await using r = await openReader(db, table, own);
  const splits = await drain(await r.reader.planner(null, lanes, bounds));
  return {
    splits,
    rows: await rowsOf(db, r.shapes(), splits, column, (own['where'] as string | undefined) ?? null),
    logged: r.logged,
  };
}

export const snapshotOf = (planner: SplitPlanner): JsonValue =>
  JSON.parse(JSON.stringify(planner.snapshot(1))) as JsonValue;
