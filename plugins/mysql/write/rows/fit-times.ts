import type { LogicalType } from 'syncx/plugin-api';
import { canonicalCell, cellCheck, type CellCheck } from 'syncx/plugin-kit';
import { always, isFreeText, type CellFit, type Mend, type Target } from './cell-fit.js';
import { fractionFits } from './number-fits.js';

const DATE_LENGTH = 10;
const isDate: CellCheck = cellCheck({ is: 'date' }) ?? (() => false);
const LONGEST = { datetime: { is: 'datetime', fraction: 9 }, timestamp: { is: 'timestamp', fraction: 9 } } as const;
const isDateTime: CellCheck = cellCheck(LONGEST.datetime) ?? (() => false);
const isTime: CellCheck = cellCheck({ is: 'time', fraction: 9 }) ?? (() => false);

/** The day of a moment at midnight; null: it is at another time of the day, which a DATE would lose. */
const midnightDay: Mend = (data, start, end) => {
  if (!isDateTime(data, start, end)) return null;
  for (let i = start + DATE_LENGTH; i < end; i++) {
    const b = data[i] ?? 0;
    if (b >= 49 && b <= 57) return null;
  }
  return data.subarray(start, start + DATE_LENGTH);
};

export function dateFit(from: LogicalType): CellFit {
  const holds = 'date';
  if (from.is === 'date') return always('plain', holds);
  return { form: 'plain', check: isDate, mend: midnightDay, holds, lettersToServer: isFreeText(from) };
}

/** The server cuts fractions that its column has no digits for, and takes almost any text for a moment. */
export function momentFit(from: LogicalType, { column }: Target): CellFit {
  const type = column.type;
  const fraction = type.is === 'datetime' || type.is === 'timestamp' ? type.fraction : 0;
  const holds = column.rawType;
  if (from.is === 'date') return always('plain', holds);
  const moment = from.is === 'datetime' || from.is === 'timestamp';
  if (moment && from.fraction <= fraction) return always('plain', holds);
  const fits = fractionFits(fraction);
  if (moment) return { form: 'plain', check: fits, mend: null, holds };
  const check: CellCheck = (d, s, e) => (isDateTime(d, s, e) && fits(d, s, e)) || isDate(d, s, e);
  const wide = type.is === 'timestamp' ? LONGEST.timestamp : LONGEST.datetime;
  const mend: Mend = (data, start, end) => {
    const text = canonicalCell(wide, data.toString('latin1', start, end));
    if (text === null) return null;
    const cell = Buffer.from(text, 'latin1');
    return fits(cell, 0, cell.length) ? cell : null;
  };
  return { form: 'plain', check, mend, holds, lettersToServer: isFreeText(from) };
}

export function timeFit(from: LogicalType, { column }: Target): CellFit {
  const fraction = column.type.is === 'time' ? column.type.fraction : 0;
  const holds = column.rawType;
  if (from.is === 'time' && from.fraction <= fraction) return always('plain', holds);
  const fits = fractionFits(fraction);
  if (from.is === 'time') return { form: 'plain', check: fits, mend: null, holds };
  return {
    form: 'plain',
    check: (d, s, e) => isTime(d, s, e) && fits(d, s, e),
    mend: null,
    holds,
    lettersToServer: isFreeText(from),
  };
}
