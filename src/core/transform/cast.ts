import { isUtf8 } from 'node:buffer';
import { cellKind, formatType, type LogicalType } from '../../plugin-api/index.js';
import { AS_IS, cellForm } from '../../cells/cell-form.js';
import { datePattern } from '../../cells/date-pattern.js';
import { datePrinter } from '../../cells/date-print.js';
import { isJson } from '../../cells/json-scan.js';
import type { Frame } from './frame.js';

/** Writes the frame's loaded cell, as one of the other type, to the register. False: it is no value of that type. */
export type Caster = (f: Frame, register: number) => boolean;

const asIs: Caster = (f, register) => {
  f.setBytes(register, f.buf, f.start, f.end);
  return true;
};

/** By the cell's text. */
function byText(of: (text: string) => string | null): Caster {
  return (f, register) => {
    const text = of(f.text());
    if (text === null) return false;
    f.setText(register, text);
    return true;
  };
}

type Moment = LogicalType & { readonly is: 'date' | 'datetime' | 'timestamp' | 'time' };

function isMoment(t: LogicalType): t is Moment {
  return t.is === 'date' || t.is === 'datetime' || t.is === 'timestamp' || t.is === 'time';
}

const BOOLEANS: Readonly<Record<string, string>> = { true: 'true', false: 'false', '1': 'true', '0': 'false' };
const boolean = byText((text) => {
  const key = text.toLowerCase();
  return Object.hasOwn(BOOLEANS, key) ? (BOOLEANS[key] ?? null) : null;
});

/** As a text source's cell of the type is read, docs/specs/cells.md. */
function canonical(to: LogicalType, text: (cell: string) => string = (cell) => cell): Caster {
  const form = cellForm(to);
  if (form === null) return asIs;
  return (f, register) => {
    if (form.scan(f.buf, f.start, f.end)) return asIs(f, register);
    const cell = Buffer.from(text(f.text()));
    const mended = form.scan(cell, 0, cell.length) ? AS_IS : form.mend(cell, 0, cell.length);
    if (mended === null) return false;
    f.setCopy(register, mended === AS_IS ? cell : mended);
    return true;
  };
}

/** Zeros behind the last digit of a fraction add nothing: a number with many of them may fit where its text does not. */
function trimZeros(text: string): string {
  const plain = /e/i.test(text) ? wholeText(text) : text;
  return plain.includes('.') ? plain.replace(/\.?0+$/, '') : plain;
}

/** `1e+21` as plain digits; only whole numbers are written so large. */
function wholeText(text: string): string {
  const n = Number(text);
  return Number.isInteger(n) ? BigInt(n).toString() : text;
}

function cutFraction(digits: number): (text: string) => string {
  return (text) => {
    const point = text.indexOf('.');
    if (point < 0) return text;
    return digits === 0 ? text.slice(0, point) : text.slice(0, point + 1 + digits);
  };
}

function moment(from: Moment, to: LogicalType): Caster | null {
  const cut = 'fraction' in to ? cutFraction(to.fraction) : (text: string): string => text;
  switch (to.is) {
    case 'year':
      return from.is === 'time' ? null : byText((text) => text.slice(0, 4));
    case 'date':
      return from.is === 'time' ? null : byText((text) => text.slice(0, 10));
    case 'datetime':
    case 'timestamp':
      if (from.is === 'time') return null;
      return from.is === 'date' ? byText((text) => `${text} 00:00:00`) : byText(cut);
    case 'time':
      if (from.is === 'date') return null;
      return from.is === 'time' ? byText(cut) : byText((text) => cut(text.slice(11)));
    case 'string':
      return asIs;
    default:
      return null;
  }
}

function withFormat(from: LogicalType, to: LogicalType, format: string): Caster | null {
  if (cellKind(from) === 'text' && !isMoment(from) && (isMoment(to) || to.is === 'year')) {
    const parse = datePattern(format, to);
    return (f, register) => {
      const cell = parse(f.buf, f.start, f.end);
      if (cell === null) return false;
      f.setCopy(register, cell);
      return true;
    };
  }
  if (isMoment(from) && from.is !== 'time' && to.is === 'string') return byText(datePrinter(format));
  return null;
}

/** Null: no value of the one type is one of the other. */
export function casterOf(from: LogicalType, to: LogicalType, format: string | undefined): Caster | null {
  if (format !== undefined) return withFormat(from, to, format);
  if (formatType(from) === formatType(to)) return asIs;
  if (to.is === 'geometry' || from.is === 'geometry') return null;
  if (from.is === 'binary') {
    return to.is === 'string' ? (f, r) => isUtf8(f.buf.subarray(f.start, f.end)) && asIs(f, r) : null;
  }
  if (isMoment(from)) return moment(from, to);
  // Also where a cell is true already: the check of cells may mend letter case, in place.
  if (to.is === 'boolean') return boolean;
  if (to.is === 'string' || to.is === 'binary' || to.is === 'enum' || to.is === 'set') return asIs;
  if (to.is === 'json') return (f, register) => isJson(f.buf, f.start, f.end) && asIs(f, register);
  switch (cellKind(from)) {
    case 'boolean':
      return cellKind(to) === 'integer' ? byText((text) => (text === 'true' ? '1' : '0')) : null;
    case 'integer':
    case 'decimal':
    case 'float':
      if (isMoment(to)) return null;
      return cellKind(to) === 'float' || to.is === 'year' ? canonical(to) : canonical(to, trimZeros);
    default:
      return canonical(to);
  }
}
