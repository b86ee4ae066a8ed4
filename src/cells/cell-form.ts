import type { LogicalType } from '../plugin-api/index.js';
import { cellCheck, type CellCheck } from './cell-check.js';
import { floatText, shortFloat } from './float-form.js';
import { decimalText, integerText } from './number-text.js';
import { mendDateTime } from './time-mend.js';

/** Brings the cells of a text source to the canonical form of their type. */
export interface CellForm {
  /**
   * A scan that makes no values: true where `data[start .. end]` is canonical, or was but for its letter case, which is
   * then mended in place. False: ask `mend`.
   */
  readonly scan: CellCheck;
  readonly mend: CellMend;
}

/**
 * @returns the canonical bytes, which the next call may overwrite; {@link AS_IS} where `data[start .. end]` is canonical
 *   after all; null where the text is no value of the type.
 */
export type CellMend = (data: Buffer, start: number, end: number) => Uint8Array | null;

/** Stands for the bytes that were looked at. */
export const AS_IS: Uint8Array = new Uint8Array(0);

const never = (): boolean => false;
const nothing = (): null => null;

/** For sources whose cells never stand as they are. */
export function mended(mend: CellMend): CellForm {
  return { scan: never, mend };
}

function numberForm(scan: CellCheck, canonical: (text: string) => string | null): CellForm {
  const mend: CellMend = (d, start, end) => {
    const text = canonical(d.toString('latin1', start, end));
    if (text === null) return null;
    const cell = Buffer.from(text, 'latin1');
    return scan(cell, 0, cell.length) ? cell : null;
  };
  return { scan, mend };
}

function floatForm(single: boolean): CellForm {
  const mend: CellMend = (d, start, end) => {
    const text = floatText(d, start, end, single);
    return text === true ? AS_IS : text === false ? null : Buffer.from(text, 'latin1');
  };
  return { scan: shortFloat(single), mend };
}

/** Null: any UTF-8 text (or, for binary types, any bytes) is a cell of the type. */
export function cellForm(t: LogicalType): CellForm | null {
  const scan = cellCheck(t);
  if (scan === null) return null;
  switch (t.is) {
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
    case 'uint8':
    case 'uint16':
    case 'uint32':
    case 'uint64':
    case 'bit':
      return numberForm(scan, integerText);
    case 'decimal':
      return numberForm(scan, (text) => decimalText(text, t.precision, t.scale));
    case 'float32':
    case 'float64':
      return floatForm(t.is === 'float32');
    case 'datetime':
    case 'timestamp':
      return { scan, mend: (d, start, end) => mendDateTime(d, start, end, t) };
    default:
      return { scan, mend: nothing };
  }
}

/** The canonical cell of a value that is given as text; null: it is no value of the type. */
export function canonicalCell(t: LogicalType, text: string): string | null {
  const form = cellForm(t);
  if (form === null) return text;
  const cell = Buffer.from(text);
  if (form.scan(cell, 0, cell.length)) return cell.toString();
  const bytes = form.mend(cell, 0, cell.length);
  if (bytes === null) return null;
  return (bytes === AS_IS ? cell : Buffer.from(bytes)).toString();
}
