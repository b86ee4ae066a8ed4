/** The small closures that expressions are made of. */
import { ExprError } from './faults.js';
import type { FunctionSpec } from './functions.js';
import { decimalOf, toInt } from './numbers.js';
import type { ExprType, Run, Typed, Value } from './types.js';

export function called<F>(spec: FunctionSpec, types: readonly ExprType[], runs: readonly Run<F>[]): Run<F> {
  const f = spec.make(types);
  const [a, b, c] = runs;
  if (!a) throw new RangeError('a function without parameters');
  if (!b)
    return (row) => {
      const x = a(row);
      return x === null ? null : f(x, undefined, undefined);
    };
  if (!c)
    return (row) => {
      const x = a(row);
      if (x === null) return null;
      const y = b(row);
      return y === null ? null : f(x, y, undefined);
    };
  return (row) => {
    const x = a(row);
    if (x === null) return null;
    const y = b(row);
    if (y === null) return null;
    const z = c(row);
    return z === null ? null : f(x, y, z);
  };
}

export function constant<F>(type: ExprType, value: Value): Typed<F> {
  return { type, run: () => value };
}

export function number<F>(text: string, at: number): Typed<F> {
  if (/^-?\d+$/.test(text)) return constant('int', toInt(BigInt(text)));
  const d = decimalOf(text);
  if (d === null) throw new ExprError(`${text} is too large or too small`, at);
  return constant('decimal', d);
}

/** NULL where the value is; what `of` gives is known to be of the test's kind. */
export function test1<F, V extends Value>(of: Run<F>, test: (v: V) => boolean): Typed<F> {
  return {
    type: 'bool',
    run: (f) => {
      const v = of(f);
      return v === null ? null : test(v as V);
    },
  };
}

/** Three-valued: what is unknown (NULL) decides nothing where the other side does. */
export function logic<F>(op: 'and' | 'or', l: Run<F>, r: Run<F>): Typed<F> {
  const decided = op === 'or';
  return {
    type: 'bool',
    run: (f) => {
      const a = l(f);
      if (a === decided) return decided;
      const b = r(f);
      if (b === decided) return decided;
      return a === null || b === null ? null : !decided;
    },
  };
}
