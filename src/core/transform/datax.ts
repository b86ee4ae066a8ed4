/** DataX's transformers, as its own documentation has them; where they differ stands in docs/transforms.md. */
import { hash } from 'node:crypto';
import { cellKind, formatType, NULL_FLAG, ABSENT_FLAG, type LogicalType } from '../../plugin-api/index.js';
import type { Decimal } from '../../expr/numbers.js';
import { compareExact, decimalOf, type Int } from '../../expr/numbers.js';
import { RowFault } from '../../expr/faults.js';
import type { RegexEngine } from '../../expr/regex.js';
import { cellReader, temporalOf, typeOf } from '../../expr/types.js';
import type { DataxSpec } from '../../job/transform-spec.js';
import type { Frame, Slot } from './frame.js';
import { misfit } from './layout.js';

/** The new value of a cell; it stays as it is where null is returned. `text` null: the cell is NULL. */
export type Rewrite = (text: string | null) => string | null;

const number = (text: string | undefined): number => Number(text ?? '0');

/** Java counts UTF-16 units; a character above U+FFFF must not be cut in two. */
function whole(text: string): string {
  if (/\p{Cs}/u.test(text)) throw new RowFault('a character would be cut in two');
  return text;
}

export function rewriteOf(spec: DataxSpec): Rewrite {
  const [a = '', b = '', c = ''] = spec.paras;
  switch (spec.op) {
    case 'dx_substr': {
      const [from, length] = [number(a), number(b)];
      return (text) => {
        if (text === null) return null;
        inside(text, from);
        return whole(text.substring(from, from + length));
      };
    }
    case 'dx_replace': {
      const [from, length] = [number(a), number(b)];
      return (text) => {
        if (text === null) return null;
        inside(text, from);
        return whole(text.slice(0, from) + c + text.slice(from + length));
      };
    }
    case 'dx_pad': {
      const length = number(b);
      const left = a.toLowerCase() === 'l';
      return (given) => {
        const text = given ?? '';
        const cut = text.slice(0, length);
        return whole(left ? cut.padStart(length, c) : cut.padEnd(length, c));
      };
    }
    case 'dx_digest': {
      const algorithm = a.toLowerCase();
      const upper = b.toLowerCase() === 'touppercase';
      return (text) => {
        const hex = hash(algorithm, text ?? '', 'hex');
        return upper ? hex.toUpperCase() : hex;
      };
    }
    case 'dx_filter':
      throw new RangeError('dx_filter rewrites nothing');
  }
}

function inside(text: string, from: number): void {
  if (from > text.length)
    throw new RowFault(`it starts at ${String(from)}, which is past the end of a text of ${String(text.length)}`);
}

/** Whether the row of a cell goes; `flag`: that of the frame's loaded cell. */
type Removes = (f: Frame, flag: number) => boolean;

/** A row that the condition is true of is REMOVED. @returns whether the row stays. */
export function filterOf(
  spec: DataxSpec,
  type: LogicalType,
  slot: Slot,
  regex: RegexEngine | null,
  place: string,
): (f: Frame) => boolean {
  const removes = removesOf(spec, type, regex, place);
  return (f) => {
    const flag = f.load(slot);
    if (flag === ABSENT_FLAG) throw new RowFault('the row has no value of the column: it is a partial image');
    return !removes(f, flag);
  };
}

function removesOf(spec: DataxSpec, type: LogicalType, regex: RegexEngine | null, place: string): Removes {
  const [code = '', value = ''] = spec.paras;
  const op = code.trim().toLowerCase();
  if (op === 'like' || op === 'not like') {
    if (!regex) throw new RangeError('the patterns are not loaded');
    const re = regex.compile(value, 0);
    const like = op === 'like';
    return (f, flag) => (flag !== NULL_FLAG && re.whole(f.text())) === like;
  }
  const test = TESTS[op];
  if (!test) throw misfit(place, `dx_filter knows no operator ${JSON.stringify(code)}`, null);
  const isNull = value.toLowerCase() === 'null';
  const forNull = op === '!=' ? !isNull : (op === '=' || op === '==') && isNull;
  const order = isNull && cellKind(type) !== 'text' ? () => NaN : orderOf(type, value, place);
  return (f, flag) => (flag === NULL_FLAG ? forNull : test(order(f)));
}

const TESTS: Readonly<Record<string, (n: number) => boolean>> = {
  '>': (n) => n > 0,
  '>=': (n) => n >= 0,
  '<': (n) => n < 0,
  '<=': (n) => n <= 0,
  '=': (n) => n === 0,
  '==': (n) => n === 0,
  '!=': (n) => n !== 0,
};

/** Compares the loaded cell with the value: numbers exactly, dates by their milliseconds, all else as text. */
function orderOf(type: LogicalType, value: string, place: string): (f: Frame) => number {
  const kind = typeOf(type);
  const read = cellReader(kind);
  const wanted = `its value ${JSON.stringify(value)} cannot be compared with a column of type ${formatType(type)}`;
  switch (kind) {
    case 'int':
    case 'decimal': {
      const to = decimalOf(value);
      if (to === null) throw misfit(place, wanted, null);
      return (f) => compareExact(read(f.buf, f.start, f.end) as Int | Decimal, to);
    }
    case 'float': {
      const to = Number(value);
      if (value.trim() === '' || Number.isNaN(to)) throw misfit(place, wanted, null);
      return (f) => {
        const n = read(f.buf, f.start, f.end) as number;
        return n < to ? -1 : n > to ? 1 : n === to ? 0 : NaN;
      };
    }
    case 'date':
    case 'datetime':
    case 'timestamp': {
      const text = temporalOf(kind, value) ?? temporalOf('datetime', value) ?? temporalOf('date', value);
      const to = /^-?\d+$/.test(value) ? Number(value) : text === null ? NaN : millis(text);
      if (Number.isNaN(to)) throw misfit(place, wanted, 'give milliseconds since 1970, or a date as the cells have it');
      return (f) => millis(f.text()) - to;
    }
    case 'binary':
      throw misfit(place, wanted, null);
    default:
      return (f) => {
        const text = f.text();
        return text < value ? -1 : text > value ? 1 : 0;
      };
  }
}

/** A wall clock counts as UTC. Days outside of the calendar are no time. */
function millis(cell: string): number {
  const n = Date.parse(`${cell.slice(0, 10)}T${cell.length > 10 ? cell.slice(11) : '00:00:00'}Z`);
  if (Number.isNaN(n)) throw new RowFault(`'${cell}' is no day of the calendar`);
  return n;
}
