import { cellKind, float64Text, type CellKind, type LogicalType } from '../plugin-api/index.js';
import { canonicalCell } from '../cells/cell-form.js';
import { ExprError, RowFault } from './faults.js';
import { Decimal, decimalToText, readDecimal, readInt, type Int } from './numbers.js';

/** `any`: a column whose type is not known yet (a job file is checked before anything connects). */
export type ExprType =
  | 'int'
  | 'decimal'
  | 'float'
  | 'bool'
  | 'text'
  | 'date'
  | 'datetime'
  | 'timestamp'
  | 'time'
  | 'binary'
  | 'null'
  | 'any';

/** Dates and times are their canonical text, without zeros at the end of a fraction. */
export type Value = null | boolean | Int | string | Decimal;

export type Run<F> = (f: F) => Value;

export interface Typed<F> {
  readonly type: ExprType;
  readonly run: Run<F>;
}

export function typeOf(t: LogicalType): ExprType {
  switch (t.is) {
    case 'year':
      return 'int';
    case 'date':
    case 'datetime':
    case 'timestamp':
    case 'time':
      return t.is;
    default:
      return TYPE_OF_KIND[cellKind(t)];
  }
}

const TYPE_OF_KIND = {
  integer: 'int',
  decimal: 'decimal',
  float: 'float',
  boolean: 'bool',
  text: 'text',
  json: 'text',
  bytes: 'binary',
} as const satisfies Readonly<Record<CellKind, ExprType>>;

/** Reads a canonical cell as a value of its type. */
export function cellReader(type: ExprType): (b: Buffer, start: number, end: number) => Value {
  switch (type) {
    case 'int':
      return readInt;
    case 'decimal':
      return readDecimal;
    case 'float':
      return (b, start, end) => Number(b.toString('latin1', start, end));
    case 'bool':
      return (b, start) => b[start] === 116; // t
    case 'datetime':
    case 'timestamp':
    case 'time':
      return (b, start, end) => trimFraction(b.toString('latin1', start, end));
    default:
      return (b, start, end) => b.toString('utf8', start, end);
  }
}

export function trimFraction(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** The canonical text of a value that is not NULL. */
export function valueText(v: Exclude<Value, null>, type: ExprType): string {
  if (typeof v === 'string') return v;
  if (v instanceof Decimal) return decimalToText(v);
  if (typeof v === 'number') return type === 'float' ? float64Text(v) : String(v);
  return String(v);
}

/** The type that a computed column has where none is asked for. */
export function columnType(type: ExprType): LogicalType {
  switch (type) {
    case 'int':
      return { is: 'int64' };
    case 'decimal':
      return { is: 'decimal', precision: 65, scale: 30 };
    case 'float':
      return { is: 'float64' };
    case 'bool':
      return { is: 'boolean' };
    case 'date':
      return { is: 'date' };
    case 'datetime':
    case 'timestamp':
      return { is: type, fraction: 9 };
    case 'time':
      return { is: 'time', fraction: 9 };
    case 'binary':
      return { is: 'binary' };
    case 'text':
    case 'null':
    case 'any':
      return { is: 'string' };
  }
}

const NAMES: Readonly<Record<ExprType, string>> = {
  int: 'an integer',
  decimal: 'a decimal',
  float: 'a float',
  bool: 'true or false',
  text: 'a text',
  date: 'a date',
  datetime: 'a datetime',
  timestamp: 'a timestamp',
  time: 'a time',
  binary: 'bytes',
  null: 'NULL',
  any: 'a value',
};

export function nameOf(type: ExprType): string {
  return NAMES[type];
}

export function isNumber(t: ExprType): boolean {
  return t === 'int' || t === 'decimal' || t === 'float';
}

export function isDateLike(t: ExprType): boolean {
  return t === 'date' || t === 'datetime' || t === 'timestamp';
}

const CELL: Readonly<Partial<Record<ExprType, LogicalType>>> = {
  date: { is: 'date' },
  datetime: { is: 'datetime', fraction: 9 },
  timestamp: { is: 'timestamp', fraction: 9 },
  time: { is: 'time', fraction: 9 },
};

/** The value of a text of the date or time type; null: it is none. */
export function temporalOf(type: ExprType, text: string): string | null {
  const cell = CELL[type];
  const found = cell ? canonicalCell(cell, text) : null;
  return found === null ? null : trimFraction(found);
}

/** A literal beside a date is a date: `birth >= '1990-01-01'`. */
export function literalAs(type: ExprType, text: string, at: number): string {
  const asIs = temporalOf(type, text);
  if (asIs !== null) return asIs;
  const day = type === 'datetime' || type === 'timestamp' ? temporalOf('date', text) : null;
  if (day !== null) return `${day} 00:00:00`;
  throw new ExprError(`'${text}' is not ${nameOf(type)}`, at);
}

/** Nanoseconds of a time, which is a span and may be negative. */
export function timeNanos(text: string): bigint {
  const m = /^(-?)(\d+):(\d\d):(\d\d)(?:\.(\d+))?$/.exec(text);
  if (m === null) throw new RowFault(`'${text}' is not a time`);
  const seconds = Number(m[2]) * 3600 + Number(m[3]) * 60 + Number(m[4]);
  const nanos = BigInt(seconds) * 1_000_000_000n + BigInt((m[5] ?? '').padEnd(9, '0'));
  return m[1] === '-' ? -nanos : nanos;
}
