/** From a fit, the functions that write a cell: into a statement, into a condition on a key, into a line of LOAD DATA. */
import type { LogicalType } from 'syncx/plugin-api';
import type { MysqlColumn } from '../../catalog/columns.js';
import {
  copyBytes,
  fieldHex,
  fieldText,
  quoteBinary,
  quotePlain,
  quoteText,
  REFUSED,
  zeroOrOne,
  type CellWriter,
} from './cell-bytes.js';
import type { CellFit, LiteralForm, Target } from './cell-fit.js';
import { chooseFit } from './choose-fit.js';
import { isMinusZero } from './number-fits.js';

export interface CellCodec {
  readonly literal: CellWriter;
  /** For conditions: nothing goes to the server that it would have to judge. */
  readonly key: CellWriter;
  readonly field: CellWriter;
  /** What LOAD DATA stores, from a variable that takes the field; null: the field itself. */
  readonly fieldValue: ((variable: string) => string) | null;
  /** False: NULL would become a value of the server's choice. */
  readonly nulls: boolean;
  readonly holds: string;
}

/** A bare `-0` is the integer 0. */
const float: CellWriter = (data, start, end, out, at) =>
  isMinusZero(data, start, end) ? quotePlain(data, start, end, out, at) : copyBytes(data, start, end, out, at);

const LITERALS: Readonly<Record<LiteralForm, CellWriter>> = {
  bare: copyBytes,
  plain: quotePlain,
  text: quoteText,
  binary: quoteBinary,
  boolean: zeroOrOne,
  float,
};

const FIELDS: Readonly<Record<LiteralForm, CellWriter>> = {
  bare: copyBytes,
  plain: copyBytes,
  text: fieldText,
  binary: fieldHex,
  boolean: zeroOrOne,
  float: copyBytes,
};

const isLetter = (b: number): boolean => (b | 32) >= 97 && (b | 32) <= 122;

/** @param words Writes what the server is to refuse; null: it is not asked. */
function checked(fit: CellFit, write: CellWriter, words: CellWriter | null): CellWriter {
  const { check, mend } = fit;
  if (check === null && mend === null) return write;
  return (data, start, end, out, at) => {
    if (check?.(data, start, end) === true) return write(data, start, end, out, at);
    const other = mend?.(data, start, end) ?? null;
    if (other !== null) return write(other, 0, other.length, out, at);
    return words !== null && start < end && isLetter(data[start] ?? 0) ? words(data, start, end, out, at) : REFUSED;
  };
}

/** A FLOAT is compared as the double that it is, and 0.1 is another one. */
function singleKey(write: CellWriter): CellWriter {
  return (data, start, end, out, at) => {
    const wrote = write(data, start, end, out, at);
    if (wrote === REFUSED) return REFUSED;
    const text = out.toString('latin1', at, wrote).replaceAll("'", '');
    return at + out.write(String(Math.fround(Number(text))), at, 'latin1');
  };
}

/** Null: no cell of the source's type can be a value of the column. */
export function cellCodec(from: LogicalType, target: Target): CellCodec | null {
  const fit = chooseFit(from, target);
  if (fit === null) return null;
  const { column } = target;
  const letters = fit.lettersToServer === true;
  const literal = LITERALS[fit.form];
  const key = checked(fit, literal, null);
  return {
    literal: checked(fit, literal, letters ? quoteText : null),
    key: column.type.is === 'float32' ? singleKey(key) : key,
    field: checked(fit, FIELDS[fit.form], letters ? fieldText : null),
    fieldValue: fieldValue(fit.form, column),
    nulls: column.nullable || !(column.autoIncrement || column.type.is === 'timestamp'),
    holds: fit.holds,
  };
}

function fieldValue(form: LiteralForm, column: MysqlColumn): ((variable: string) => string) | null {
  if (form === 'binary') return (v) => `unhex(${v})`;
  // A field is text, whose bytes BIT would take.
  if (column.type.is === 'bit') return (v) => `cast(${v} as unsigned)`;
  return null;
}
