import type { Split, SplitFacts } from 'syncx/plugin-api';
import { splitSpecOf, type Shape } from '../split-spec.js';
import { nullPredicate, rangePredicate, windowPredicate } from './key-predicate.js';
import { showShape } from './shapes.js';

const SHOWN = 300;

/** `shapes`: of the plan that the split is of. */
export function explainSplit(split: Split, shapes: readonly Shape[]): SplitFacts {
  const spec = splitSpecOf(split);
  const shape = shapes[spec.shape];
  const conditions = [
    ...(spec.range === null ? [] : [rangePredicate(spec.range)]),
    ...(spec.nullsOf === null ? [] : [nullPredicate(spec.nullsOf)]),
    ...(spec.window === null ? [] : [windowPredicate(spec.window, true)]),
  ].filter((c) => c !== 'true');
  const text = conditions.join(' and ');
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  const name = shape === undefined ? split.id : showShape(shape);
  return { what: shown === '' ? name : `${name} where ${shown}`, rows: null, bytes: split.weight };
}
