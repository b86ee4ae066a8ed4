/** The functions of expressions. NULL for any argument gives NULL; what is otherwise stands in special-forms.ts. */
import { createHash } from 'node:crypto';
import { canonicalCell } from '../cells/cell-form.js';
import { datePrinter, unprintable } from '../cells/date-print.js';
import { RowFault } from './faults.js';
import {
  asDecimal,
  Decimal,
  decimalOf,
  floatToDecimal,
  roundDecimal,
  toFloat,
  toInt,
  wholeDecimal,
  type Int,
} from './numbers.js';
import { temporalOf, valueText, type ExprType, type Value } from './types.js';

/** `number`: int, decimal or float; `day`: date, datetime or timestamp; `clock`: datetime, timestamp or time. */
export type Param = 'text' | 'int' | 'number' | 'day' | 'clock' | 'scalar';

type Given = Exclude<Value, null>;

export interface FunctionSpec {
  readonly params: readonly Param[];
  /** How many of the parameters may be left out, from the last. */
  readonly optional: number;
  readonly returns: ExprType | ((types: readonly ExprType[]) => ExprType);
  /** Arguments that are left out are undefined. */
  readonly make: (types: readonly ExprType[]) => (a: Given, b: Given | undefined, c: Given | undefined) => Value;
}

/** A longer text is refused before it fills the memory. */
const LONGEST = 1 << 26;

const points = (text: string): readonly string[] => [...text];
/** Most texts are of characters of one unit each: then units are characters. */
const simple = (text: string): boolean => !/[\ud800-\udfff]/.test(text);

function substr(text: string, from: number, count: number | undefined): string {
  if (from === 0) throw new RowFault('substr counts from 1');
  if (count !== undefined && count < 0) throw new RowFault('substr was asked for less than no characters');
  const chars = simple(text) ? text : points(text);
  // A start before the first character is that far from the end, as in SQL.
  const begin = from > 0 ? from - 1 : Math.max(0, chars.length + from);
  const end = count === undefined ? chars.length : begin + count;
  const cut = chars.slice(begin, end);
  return typeof cut === 'string' ? cut : cut.join('');
}

function pad(text: string, length: number, fill: string, left: boolean): string {
  if (length > LONGEST) throw new RowFault('a text would be too long');
  const chars = points(text);
  const missing = length - chars.length;
  if (missing <= 0) return chars.slice(0, Math.max(0, length)).join('');
  const fills = points(fill);
  if (fills.length === 0) throw new RowFault('there is nothing to pad with');
  const padding = Array.from({ length: missing }, (_, i) => fills[i % fills.length] ?? '').join('');
  return left ? padding + text : text + padding;
}

function replaceAll(text: string, what: string, by: string): string {
  if (what === '') return text;
  const parts = text.split(what);
  if (text.length + (parts.length - 1) * by.length > LONGEST) throw new RowFault('a text would be too long');
  return parts.join(by);
}

/** A small whole number: a position, a count. */
function small(v: Given | undefined): number {
  if (typeof v !== 'number') throw new RowFault(`${String(v)} is too large for a position or length`);
  return v;
}

const text1 = (f: (t: string) => Value): FunctionSpec => ({
  params: ['text'],
  optional: 0,
  returns: 'text',
  make: () => (a) => f(a as string),
});
const test2 = (f: (a: string, b: string) => boolean): FunctionSpec => ({
  params: ['text', 'text'],
  optional: 0,
  returns: 'bool',
  make: () => (a, b) => f(a as string, b as string),
});
/** A part of a date: `cell.slice(from, to)` as a number. */
const dayPart = (from: number, to: number): FunctionSpec => ({
  params: ['day'],
  optional: 0,
  returns: 'int',
  make: () => (a) => Number((a as string).slice(from, to)),
});
const clockPart = (group: number): FunctionSpec => ({
  params: ['clock'],
  optional: 0,
  returns: 'int',
  make: () => (a) => {
    const m = /(\d+):(\d\d):(\d\d)/.exec(a as string);
    return Number(m?.[group]);
  },
});

/** Why a text is no pattern of `format`; null: it is one. */
export function patternFault(pattern: string): string | null {
  const part = unprintable(pattern);
  return part === null ? null : `'${pattern}' is not a pattern of dates: ${part} is none of yyyy MM dd HH mm ss S`;
}

function refuse(v: Given, type: ExprType, wanted: string): never {
  throw new RowFault(`'${valueText(v, type)}' is not ${wanted}`);
}

/** To an exact number; null: it is none. */
function exact(v: Given, type: ExprType): Decimal | null {
  if (v instanceof Decimal) return v;
  if (typeof v === 'string') return decimalOf(v);
  if (typeof v === 'boolean') return new Decimal(v ? 1n : 0n, 0);
  if (type === 'float') return Number.isFinite(v) ? floatToDecimal(v as number) : null;
  return asDecimal(v);
}

function whole(v: Given, type: ExprType): Int {
  if (type === 'int') return v as Int;
  const d = exact(v, type);
  if (d === null) return refuse(v, type, 'an integer');
  const n = wholeDecimal(d, false);
  return n === wholeDecimal(d, true) ? n : refuse(v, type, 'an integer');
}

function bool(v: Given, type: ExprType): boolean {
  if (typeof v === 'boolean') return v;
  const t = valueText(v, type).toLowerCase();
  if (t === 'true' || t === '1') return true;
  if (t === 'false' || t === '0') return false;
  return refuse(v, type, 'true or false');
}

function float(v: Given, type: ExprType): number {
  if (type === 'float') return v as number;
  if (typeof v === 'string') return Number(canonicalCell({ is: 'float64' }, v) ?? refuse(v, type, 'a number'));
  if (typeof v === 'boolean') return v ? 1 : 0;
  return toFloat(v);
}

function date(v: Given, type: ExprType): string {
  if (type === 'date') return v as string;
  if (type === 'datetime' || type === 'timestamp') return (v as string).slice(0, 10);
  const t = valueText(v, type);
  return temporalOf('date', t) ?? temporalOf('datetime', t)?.slice(0, 10) ?? refuse(v, type, 'a date');
}

const moment =
  (to: 'datetime' | 'timestamp') =>
  (v: Given, type: ExprType): string => {
    if (type === 'datetime' || type === 'timestamp') return v as string;
    const t = valueText(v, type);
    const found = temporalOf(to, t);
    if (found !== null) return found;
    const day = temporalOf('date', t);
    return day === null ? refuse(v, type, `a ${to}`) : `${day} 00:00:00`;
  };

const convert = (returns: ExprType, f: (v: Given, type: ExprType) => Value): FunctionSpec => ({
  params: ['scalar'],
  optional: 0,
  returns,
  make:
    ([type = 'any']) =>
    (a) =>
      f(a, type),
});

const first = ([type = 'any']: readonly ExprType[]): ExprType => type;

/** The number a, as an exact one, through `f`, and back to its own type. */
const rounding = (f: (d: Decimal, scale: number) => Decimal): FunctionSpec => ({
  params: ['number', 'int'],
  optional: 1,
  returns: first,
  make:
    ([type = 'any']) =>
    (a, b) => {
      const scale = b === undefined ? 0 : small(b);
      if (scale < 0) throw new RowFault('round was asked for less than no digits');
      if (type === 'int') return a;
      if (type !== 'float') return f(a as Decimal, scale);
      return Number.isFinite(a) ? toFloat(f(floatToDecimal(a as number), scale)) : a;
    },
});
const wholeNumber = (up: boolean): FunctionSpec => ({
  params: ['number'],
  optional: 0,
  returns: 'int',
  make:
    ([type = 'any']) =>
    (a) =>
      type === 'int' ? a : wholeDecimal(type === 'float' ? floatToDecimal(a as number) : (a as Decimal), up),
});

const padding = (left: boolean): FunctionSpec => ({
  params: ['text', 'int', 'text'],
  optional: 1,
  returns: 'text',
  make:
    () =>
    (a, b, c = ' ') =>
      pad(a as string, small(b), c as string, left),
});

const FUNCTIONS_BY_NAME: Readonly<Record<string, FunctionSpec>> = {
  upper: text1((t) => t.toUpperCase()),
  lower: text1((t) => t.toLowerCase()),
  trim: text1((t) => t.trim()),
  ltrim: text1((t) => t.trimStart()),
  rtrim: text1((t) => t.trimEnd()),
  sha256: text1((t) => createHash('sha256').update(t).digest('hex')),
  length: {
    params: ['text'],
    optional: 0,
    returns: 'int',
    make: () => (a) => (simple(a as string) ? (a as string).length : points(a as string).length),
  },
  substr: {
    params: ['text', 'int', 'int'],
    optional: 1,
    returns: 'text',
    make: () => (a, b, c) => substr(a as string, small(b), c === undefined ? undefined : small(c)),
  },
  replace: {
    params: ['text', 'text', 'text'],
    optional: 0,
    returns: 'text',
    make: () => (a, b, c) => replaceAll(a as string, b as string, c as string),
  },
  lpad: padding(true),
  rpad: padding(false),
  startswith: test2((a, b) => a.startsWith(b)),
  endswith: test2((a, b) => a.endsWith(b)),
  contains: test2((a, b) => a.includes(b)),
  year: dayPart(0, 4),
  month: dayPart(5, 7),
  day: dayPart(8, 10),
  hour: clockPart(1),
  minute: clockPart(2),
  second: clockPart(3),
  format: {
    params: ['day', 'text'],
    optional: 0,
    returns: 'text',
    make: () => {
      let known = '';
      let print = datePrinter('');
      return (a, b) => {
        if (b !== known) {
          const wrong = patternFault(b as string);
          if (wrong !== null) throw new RowFault(wrong);
          print = datePrinter((known = b as string));
        }
        return print(a as string);
      };
    },
  },
  abs: {
    params: ['number'],
    optional: 0,
    returns: first,
    make: () => (a) => {
      if (a instanceof Decimal) return a.digits < 0n ? new Decimal(-a.digits, a.scale) : a;
      return (a as Int) < 0 ? (typeof a === 'number' ? -a : toInt(-(a as bigint))) : a;
    },
  },
  round: rounding(roundDecimal),
  floor: wholeNumber(false),
  ceil: wholeNumber(true),
  int: convert('int', whole),
  decimal: convert('decimal', (v, type) => exact(v, type) ?? refuse(v, type, 'a number')),
  float: convert('float', float),
  bool: convert('bool', bool),
  text: convert('text', (v, type) => valueText(v, type)),
  date: convert('date', date),
  datetime: convert('datetime', moment('datetime')),
  timestamp: convert('timestamp', moment('timestamp')),
};

const TABLE = new Map(Object.entries(FUNCTIONS_BY_NAME));

/** By name, in any letter case. */
export function functionOf(name: string): FunctionSpec | null {
  return TABLE.get(name.toLowerCase()) ?? null;
}

/** Their names as the documentation writes them. */
export const FUNCTION_NAMES: readonly string[] = [
  ...[...TABLE.keys()].map((n) => (n === 'startswith' ? 'startsWith' : n === 'endswith' ? 'endsWith' : n)),
  'concat',
  'coalesce',
  'nullif',
  'if',
  'matches',
];
