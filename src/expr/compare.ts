import { ExprError } from './faults.js';
import { compareExact, Decimal, toFloat, type Int } from './numbers.js';
import type { Compare } from './parse.js';
import { isDateLike, isNumber, nameOf, timeNanos, type ExprType, type Run, type Value } from './types.js';

/** Negative, zero or positive; NaN: not comparable (a NaN among floats). Neither value is NULL. */
export type Order = (a: Exclude<Value, null>, b: Exclude<Value, null>) => number;

/** By Unicode code point, which is also the order of the bytes; JavaScript's own goes by UTF-16 unit. */
export function compareText(a: string, b: string): number {
  const n = Math.min(a.length, b.length);
  for (let i = 0; i < n; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // Surrogates stand for what is above U+FFFF.
    const xs = x >= 0xd800 && x <= 0xdfff;
    const ys = y >= 0xd800 && y <= 0xdfff;
    return xs === ys ? x - y : xs ? 1 : -1;
  }
  return a.length - b.length;
}

const textOrder: Order = (a, b) => compareText(a as string, b as string);
const plainOrder: Order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const exactOrder: Order = (a, b) => compareExact(a as Int | Decimal, b as Int | Decimal);
const floatOrder: Order = (a, b) => {
  // A bigint and a double compare exactly in JavaScript; a decimal becomes the nearest double.
  const x = a instanceof Decimal ? toFloat(a) : (a as Int);
  const y = b instanceof Decimal ? toFloat(b) : (b as Int);
  return x < y ? -1 : x > y ? 1 : x >= y ? 0 : NaN;
};
const timeOrder: Order = (a, b) => plainOrder(timeNanos(a as string), timeNanos(b as string));
const day = (v: string): string => (v.length === 10 ? `${v} 00:00:00` : v);
const dayOrder: Order = (a, b) => plainOrder(day(a as string), day(b as string));

const WORDS: Readonly<Partial<Record<ExprType, string>>> = {
  int: 'int',
  decimal: 'decimal',
  float: 'float',
  bool: 'bool',
  date: 'date',
  datetime: 'datetime',
  timestamp: 'timestamp',
};

/** @throws ExprError where the two types are not comparable. */
export function orderOf(a: ExprType, b: ExprType, at: number): Order {
  if (a === 'null' || b === 'null') throw new ExprError('nothing equals NULL', at, 'write "is null" or "is not null"');
  if (a === 'any' || b === 'any') return plainOrder;
  if (isNumber(a) && isNumber(b)) {
    if (a === 'float' || b === 'float') return floatOrder;
    return a === 'int' && b === 'int' ? plainOrder : exactOrder;
  }
  if (a === b) {
    if (a === 'text') return textOrder;
    if (a === 'time') return timeOrder;
    if (a === 'bool' || isDateLike(a)) return plainOrder;
  }
  if ((a === 'date' && isDateLike(b)) || (b === 'date' && isDateLike(a))) return dayOrder;
  const to = a === 'text' ? WORDS[b] : b === 'text' ? WORDS[a] : undefined;
  const hint = to === undefined ? null : `write ${to}(…) around the text`;
  throw new ExprError(`${nameOf(a)} cannot be compared with ${nameOf(b)}`, at, hint);
}

/** NULL where either side is. */
export function comparison<F>(op: Compare, order: Order, l: Run<F>, r: Run<F>): Run<F> {
  if (order === plainOrder || order === textOrder) {
    // Equal values have one form, so that no order is needed.
    if (op === '=' || op === '<>') {
      const wanted = op === '=';
      return (f) => {
        const a = l(f);
        if (a === null) return null;
        const b = r(f);
        return b === null ? null : (a === b) === wanted;
      };
    }
  }
  const test = TESTS[op];
  return (f) => {
    const a = l(f);
    if (a === null) return null;
    const b = r(f);
    return b === null ? null : test(order(a, b));
  };
}

const TESTS: Readonly<Record<Compare, (n: number) => boolean>> = {
  '=': (n) => n === 0,
  '<>': (n) => n !== 0,
  '<': (n) => n < 0,
  '<=': (n) => n <= 0,
  '>': (n) => n > 0,
  '>=': (n) => n >= 0,
};
