/** The operators on numbers. Integers and decimals stay exact; where a float is among them the result is one. */
import { RowFault } from './faults.js';
import {
  addDecimals,
  addInts,
  asDecimal,
  Decimal,
  divideDecimals,
  multiplyDecimals,
  multiplyInts,
  remainderDecimals,
  remainderInts,
  subtractInts,
  toFloat,
  type Int,
} from './numbers.js';
import type { Arithmetic } from './parse.js';
import type { Run, Typed, Value } from './types.js';

/** NULL where either side is. Both sides are numbers. */
export function arithmetic<F>(op: Arithmetic, l: Typed<F>, r: Typed<F>): Typed<F> {
  const [a, b] = [l.run, r.run];
  const types = [l.type, r.type];
  const both = (f: (x: Exclude<Value, null>, y: Exclude<Value, null>) => Value): Run<F> => {
    return (row) => {
      const x = a(row);
      if (x === null) return null;
      const y = b(row);
      return y === null ? null : f(x, y);
    };
  };
  if (types.includes('float')) {
    const f = FLOATS[op];
    return { type: 'float', run: both((x, y) => f(toFloat(x as Int | Decimal), toFloat(y as Int | Decimal))) };
  }
  if (op !== '/' && !types.includes('decimal')) {
    const f = INTS[op];
    return { type: 'int', run: both((x, y) => f(x as Int, y as Int)) };
  }
  const f = DECIMALS[op];
  return { type: 'decimal', run: both((x, y) => f(asDecimal(x as Int | Decimal), asDecimal(y as Int | Decimal))) };
}

export function negated<F>({ type, run }: Typed<F>): Typed<F> {
  return {
    type,
    run: (f) => {
      const v = run(f);
      if (v === null) return null;
      if (v instanceof Decimal) return new Decimal(-v.digits, v.scale);
      return type === 'float' ? -(v as number) : subtractInts(0, v as Int);
    },
  };
}

const zeroCheck = (n: number): number => {
  if (n === 0) throw new RowFault('division by zero');
  return n;
};
const FLOATS: Readonly<Record<Arithmetic, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / zeroCheck(b),
  '%': (a, b) => a % zeroCheck(b),
};
const INTS: Readonly<Record<Exclude<Arithmetic, '/'>, (a: Int, b: Int) => Int>> = {
  '+': addInts,
  '-': subtractInts,
  '*': multiplyInts,
  '%': remainderInts,
};
const DECIMALS: Readonly<Record<Arithmetic, (a: Decimal, b: Decimal) => Decimal>> = {
  '+': addDecimals,
  '-': (a, b) => addDecimals(a, new Decimal(-b.digits, b.scale)),
  '*': multiplyDecimals,
  '/': divideDecimals,
  '%': remainderDecimals,
};
