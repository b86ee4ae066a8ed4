/** How a table is split, decided once for a run. */
import type { Logger } from 'syncx/plugin-api';
import type { Session } from '../../connect/session.js';
import type { ReaderOptions } from '../../reader-options.js';
import { quoteName } from '../../sql/names.js';
import type { CursorWindow, ShapeColumn } from '../split-spec.js';
import { given } from './check-options.js';
import { evenCuts, sampledCuts } from './cuts.js';
import { sizeOf, targetBytes, type Size } from './estimates.js';
import { keyType, windowPredicate } from './key-predicate.js';
import { extremes, keySpace } from './key-queries.js';
import { fromOf } from './plan-shapes.js';
import type { Feed, WholeFeed } from './saved-plan.js';
import { isInteger, showShape, type PlannedShape, type SplitKey } from './shapes.js';

export interface FeedPlan {
  readonly options: ReaderOptions;
  readonly lanes: number;
  readonly log: Logger;
  readonly on: <T>(ask: (session: Session) => Promise<T>) => Promise<T>;
}

type Strategy = 'even' | 'sampled' | 'keyset';

/** Why a table with a wish for another way is not split, or split otherwise. */
function strategyFor(p: PlannedShape, key: SplitKey, { options, log }: FeedPlan): Strategy {
  const [first, second] = key.columns;
  const integer = first !== undefined && second === undefined && isInteger(keyType(first));
  const wish = options.splitStrategy;
  if (integer && wish !== 'keyset') return wish !== 'even' && key.index !== null ? 'sampled' : 'even';
  if (!integer && (wish === 'even' || wish === 'sampled')) {
    const names = key.columns.map((c) => c.name);
    log.info({ table: showShape(p.shape), key: names }, `splitStrategy ${wish} is for integers: the key is walked`);
  }
  return 'keyset';
}

export async function planFeed(
  p: PlannedShape,
  shape: number,
  window: CursorWindow | null,
  plan: FeedPlan,
): Promise<Feed> {
  const { options, lanes } = plan;
  const whole: WholeFeed = { is: 'whole', shape, polls: options.polling, rowBytes: null, rows: null };
  if (options.polling || p.facts === null) return whole;
  const condition = window === null ? 'true' : windowPredicate(window);
  const filter = condition === 'true' ? '' : ` where ${condition}`;
  const size = await plan.on((s) => sizeOf(s, p.facts, p.shape, `select * from ${fromOf(p.shape)}${filter}`));
  const sized = { ...whole, rowBytes: size.rowBytes, rows: size.rows };
  if (lanes < 2 || p.splitKey === null) {
    if (given(options.splitPk) !== null && p.splitKey === null) sayUnsplit(p, plan);
    return sized;
  }
  const target = targetBytes(size.rows * size.rowBytes, lanes, options.splitSize);
  if (size.rows * size.rowBytes <= target) return sized;
  const strategy = strategyFor(p, p.splitKey, plan);
  const rowsOfPart = Math.max(1, Math.floor(target / size.rowBytes));
  if (p.splitKey.index === null) sayUnindexed(p, p.splitKey, plan);
  if (strategy !== 'keyset')
    return (await cutFeed(p, p.splitKey, strategy, size, rowsOfPart, condition, sized, plan)) ?? sized;
  // Without an index each part costs a sort of all rows: as few as there are lanes.
  const step = p.splitKey.index === null ? Math.ceil(size.rows / lanes) : rowsOfPart;
  return {
    is: 'walk',
    shape,
    rowBytes: size.rowBytes,
    columns: p.splitKey.columns,
    part: 0,
    after: null,
    step: Math.max(1, step),
    ended: false,
    nulls: p.splitKey.columns[0]?.nullable ?? false,
  };
}

async function cutFeed(
  p: PlannedShape,
  key: SplitKey,
  strategy: 'even' | 'sampled',
  size: Size,
  rowsOfPart: number,
  condition: string,
  whole: WholeFeed,
  plan: FeedPlan,
): Promise<Feed | null> {
  const column = key.columns[0] as ShapeColumn;
  const ends = await plan.on((s) => extremes(s, p.shape, column, condition));
  if (ends === null) return null;
  const { lo, hi } = ends;
  // In a window estimates of ranges would be of all rows, not of those within.
  const sampled = strategy === 'sampled' && condition === 'true' && key.index !== null;
  const { cuts, rows } = sampled
    ? await sampledCuts(keySpace(plan.on, p.shape, column, key.index), lo, hi, size.rows, rowsOfPart)
    : evenCuts(lo, hi, size.rows, Math.ceil(size.rows / rowsOfPart));
  if (cuts.length === 0) return null;
  return {
    is: 'parts',
    shape: whole.shape,
    rowBytes: size.rowBytes,
    column,
    part: 0,
    from: null,
    cuts: cuts.map(String),
    rows,
    nulls: column.nullable,
  };
}

function sayUnsplit(p: PlannedShape, { options, log }: FeedPlan): void {
  const what = { table: showShape(p.shape), splitPk: options.splitPk ?? '' };
  log.warn(what, 'values of that type cannot bound ranges: one lane reads the table');
}

function sayUnindexed(p: PlannedShape, key: SplitKey, { log }: FeedPlan): void {
  const what = { table: showShape(p.shape), splitPk: key.columns[0]?.name ?? '' };
  log.warn(what, `the column has no index: each range of it costs a scan of the table (${quoteName(what.splitPk)})`);
}
