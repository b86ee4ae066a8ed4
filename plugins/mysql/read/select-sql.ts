/** The SELECT that reads a split, or what is left of it. */
import type { KeyValue } from '../sql/literals.js';
import { beyond, nullPredicate, rangePredicate, windowPredicate } from './plan/key-predicate.js';
import { scanHint, type Scan } from './pinned-scan.js';
import type { ReadShape } from './read-shape.js';
import type { Shape, SplitSpec } from './split-spec.js';

/** What decides which rows are in the split; for counts too. Each may be joined with others by AND. */
export function splitConditions(spec: SplitSpec, where: string | null): string[] {
  return [
    // On lines of its own: it may end in a comment.
    ...(where === null ? [] : [`(${where}\n)`]),
    ...(spec.range === null ? [] : [rangePredicate(spec.range)]),
    ...(spec.nullsOf === null ? [] : [nullPredicate(spec.nullsOf)]),
    ...(spec.window === null ? [] : [windowPredicate(spec.window)]),
  ].filter((c) => c !== 'true');
}

/** Behind the last key that was read. In a split of NULLs the key's first column is NULL in all rows. */
function afterKey(shape: Shape, key: readonly KeyValue[]): string {
  const known = shape.orderKey.flatMap((column, i) => {
    const value = key[i] ?? null;
    return value === null ? [] : [{ column, value }];
  });
  return beyond(
    known.map((k) => k.column),
    known.map((k) => k.value),
    '>',
    false,
  );
}

/**
 * `after`: the last key that was read; null: from the split's start, which is also where positions count rows. `scan`: of
 * shapes without an order key.
 */
export function selectSql(
  read: ReadShape,
  shape: Shape,
  spec: SplitSpec,
  where: string | null,
  after: readonly KeyValue[] | null,
  scan?: Scan,
): string {
  const selected = [...read.columns, ...read.hidden].filter((c) => c.constant === null).map((c) => c.select);
  const conditions = splitConditions(spec, where);
  if (after !== null) conditions.push(afterKey(shape, after));
  const list = selected.length === 0 ? 'null' : selected.join(', ');
  const filter = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
  const order = read.orderBy.length === 0 ? '' : ` order by ${read.orderBy.join(', ')}`;
  return `select ${list} from ${read.from}${scanHint(scan)}${filter}${order}`;
}
