import { type LogicalType, type LogicalName } from 'syncx/plugin-api';
import { canonicalCell, cellCheck, type CellCheck } from 'syncx/plugin-kit';
import { always, isFreeText, isInteger, type CellFit, type Mend, type Target } from './cell-fit.js';
import { floatKeeps, fractionFits, isNumberText, plainDecimal, wholeNumber } from './number-fits.js';

const BOOLEAN: CellFit = always('boolean', 'number');

function canonical(t: LogicalType): Mend {
  return (data, start, end) => {
    const text = canonicalCell(t, data.toString('latin1', start, end));
    return text === null ? null : Buffer.from(text, 'latin1');
  };
}

/** INT and its kin. Out of range: the server refuses it. */
export function integerFit(from: LogicalType, { column }: Target): CellFit {
  const holds = column.rawType;
  if (from.is === 'boolean') return BOOLEAN;
  if (isInteger(from) || from.is === 'year') return always('bare', holds);
  const check = cellCheck(column.type);
  if (isFreeText(from)) return { form: 'bare', check, mend: canonical(column.type), holds, lettersToServer: true };
  return { form: 'bare', check, mend: wholeNumber, holds };
}

/** A decimal, bare: too many digits before the point are the server's to refuse, those behind it would be rounded. */
export function decimalFit(from: LogicalType, { column }: Target): CellFit {
  const holds = column.rawType;
  const scale = column.type.is === 'decimal' ? column.type.scale : 0;
  if (from.is === 'boolean') return BOOLEAN;
  if (isInteger(from) || from.is === 'year') return always('bare', holds);
  if (from.is === 'decimal' && from.scale <= scale) return always('bare', holds);
  const fits = fractionFits(scale);
  if (from.is === 'decimal') return { form: 'bare', check: fits, mend: null, holds };
  const mend: Mend = (data, start, end) => {
    const plain = plainDecimal(data, start, end);
    return plain !== null && fits(plain, 0, plain.length) ? plain : null;
  };
  return { form: 'bare', check: null, mend, holds, lettersToServer: isFreeText(from) };
}

/** FLOAT(7,2): rounds to so many digits of a fraction. Null: it has all. */
function displayScale(rawType: string): number | null {
  const m = /^(?:float|double|real)\(\d+,(\d+)\)/i.exec(rawType);
  return m?.[1] === undefined ? null : Number(m[1]);
}

/** Types of which every value is one of the float's. */
const IN_SINGLE: ReadonlySet<LogicalName> = new Set(['int8', 'uint8', 'int16', 'uint16', 'year', 'float32']);
const IN_DOUBLE: ReadonlySet<LogicalName> = new Set(['int32', 'uint32', 'float64']);

const GREATEST = '3.4028235e+38';

/**
 * The shortest text of the greatest FLOAT is a number above it, which the server refuses as out of range; so it gets one
 * that is exact. Null: the cell is another one.
 */
function greatestSingle(data: Buffer, start: number, end: number): Buffer | null {
  if (end - start < GREATEST.length || end - start > GREATEST.length + 1) return null;
  const text = data.toString('latin1', start, end);
  return text.replace(/^-/, '') === GREATEST ? Buffer.from(text.replace(GREATEST, '3.4028234663852886e+38')) : null;
}

/** FLOAT and DOUBLE: the number that is read back must be the same; of a text, which has no width, the nearest one. */
export function floatFit(from: LogicalType, { column }: Target): CellFit {
  const single = column.type.is === 'float32';
  const holds = column.rawType;
  if (from.is === 'boolean') return BOOLEAN;
  const fraction = displayScale(column.rawType);
  const fits = fraction === null ? null : fractionFits(fraction);
  const rounds: CellCheck = (d, s, e) => {
    if (fits === null) return true;
    const plain = plainDecimal(d, s, e);
    return plain !== null && fits(plain, 0, plain.length);
  };
  const number: CellCheck = (d, s, e) => isNumberText(d, s) && rounds(d, s, e);
  const form = 'float';
  if (isFreeText(from)) {
    const scan = cellCheck(column.type);
    const check: CellCheck = (d, s, e) =>
      scan?.(d, s, e) === true && number(d, s, e) && !(single && greatestSingle(d, s, e) !== null);
    const mend: Mend = (data, start, end) => {
      const cell = canonical(column.type)(data, start, end);
      if (cell === null || !number(cell, 0, cell.length)) return null;
      return (single ? greatestSingle(cell, 0, cell.length) : null) ?? cell;
    };
    return { form, check, mend, holds, lettersToServer: true };
  }
  if (single && from.is === 'float32') {
    const check: CellCheck = (d, s, e) => number(d, s, e) && greatestSingle(d, s, e) === null;
    return { form, check, mend: greatestSingle, holds };
  }
  const exact = IN_SINGLE.has(from.is) || (!single && IN_DOUBLE.has(from.is));
  if (exact) return { form, check: number, mend: null, holds };
  const keeps = floatKeeps(single);
  return { form, check: (d, s, e) => number(d, s, e) && keeps(d, s, e), mend: null, holds };
}

/** Always bare: a text would be taken for bytes. Below zero must be refused here: bit(64) takes -1 for all ones. */
export function bitFit(from: LogicalType, { column }: Target): CellFit {
  const holds = column.rawType;
  if (from.is === 'boolean') return BOOLEAN;
  const length = column.type.is === 'bit' ? column.type.length : 64;
  if (from.is === 'bit' && from.length <= length) return always('bare', holds);
  const check = cellCheck(column.type);
  if (isInteger(from)) return { form: 'bare', check, mend: null, holds };
  const mend: Mend = (data, start, end) => {
    const whole = isFreeText(from) ? canonical(column.type)(data, start, end) : wholeNumber(data, start, end);
    return whole !== null && check?.(whole, 0, whole.length) !== false ? whole : null;
  };
  return { form: 'bare', check, mend, holds };
}

const isYear: CellCheck = cellCheck({ is: 'year' }) ?? (() => false);

/** Four digits: of fewer ones the server makes another year. YEAR(2) of MySQL 5.5 holds 1970 to 2069. */
export function yearFit(from: LogicalType, { column }: Target): CellFit {
  const two = column.rawType.toLowerCase().startsWith('year(2)');
  const inRange: CellCheck = (d, s, e) => {
    if (!isYear(d, s, e)) return false;
    const year = Number(d.toString('latin1', s, e));
    return !two || (year >= 1970 && year <= 2069);
  };
  if (from.is === 'year' && !two) return always('plain', 'year');
  return {
    form: 'plain',
    check: inRange,
    mend: null,
    holds: `${column.rawType} (four digits)`,
    lettersToServer: isFreeText(from),
  };
}
