/** The SELECT that reads a split, or what is left of it. */
import { keyLiteral, type KeyValue } from '../sql/literals.js';
import { quoteName } from '../sql/names.js';
import { nullPredicate, rangePredicate, tuplePredicate, windowPredicate } from './plan/key-predicate.js';
import type { ReadShape } from './read-shape.js';
import type { SplitSpec } from './split-spec.js';

export interface SelectParts {
  /** The job's `where`; null: none. */
  readonly where: string | null;
  /** The last key that was read; null: from the split's start. */
  readonly after: readonly KeyValue[] | null;
}

/** What decides which rows are in the split, without the position in it; for counts too. */
export function splitConditions(spec: SplitSpec, where: string | null): readonly string[] {
  return [
    ...(where === null ? [] : [`(${where})`]),
    ...(spec.range === null ? [] : [rangePredicate(spec.range)]),
    ...(spec.nullsOf === null ? [] : [nullPredicate(spec.nullsOf)]),
    ...(spec.window === null ? [] : [windowPredicate(spec.window)]),
  ].filter((c) => c !== '');
}
