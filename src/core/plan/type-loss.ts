import { cellKind, formatType, type LogicalType } from '../../plugin-api/index.js';

/** Whole numbers as [sign, bits of magnitude]. */
const INTEGERS: Readonly<Record<string, readonly [signed: boolean, bits: number]>> = {
  int8: [true, 7],
  int16: [true, 15],
  int32: [true, 31],
  int64: [true, 63],
  uint8: [false, 8],
  uint16: [false, 16],
  uint32: [false, 32],
  uint64: [false, 64],
};

const REFUSED = 'are dirty rows';

/**
 * What can get lost of a value on its way from one type to the other; null: nothing. Nothing is ever cut or rounded in
 * silence, so what does not fit is refused, but for what two types mean.
 */
export function typeLoss(from: LogicalType, to: LogicalType): string | null {
  const [a, b] = [formatType(from), formatType(to)];
  if (a === b) return null;
  const [x, y] = [INTEGERS[from.is], INTEGERS[to.is]];
  if (x && y) return (y[0] || !x[0]) && y[1] >= x[1] ? null : `values outside of ${b} ${REFUSED}`;
  if (to.is === 'string') return cellKind(from) === 'bytes' ? `bytes that are no UTF-8 text ${REFUSED}` : null;
  if (to.is === 'json') return cellKind(from) === 'text' ? `texts that are no JSON ${REFUSED}` : null;
  if (to.is === 'binary' || to.is === 'geometry') return cellKind(from) === 'bytes' ? null : 'the bytes of its text';
  if (from.is === 'string' || from.is === 'json') return `texts that are no ${b} ${REFUSED}`;
  return (
    numberLoss(from, to, x, y) ??
    timeLoss(from, to) ??
    (sameFamily(from, to) ? null : `values that are no ${b} ${REFUSED}`)
  );
}

type Range = readonly [boolean, number] | undefined;

function numberLoss(from: LogicalType, to: LogicalType, x: Range, y: Range): string | null {
  const b = formatType(to);
  if (to.is === 'float32' || to.is === 'float64') {
    const exact = to.is === 'float64' ? 53 : 24;
    if (x) return x[1] <= exact ? null : `digits beyond 2^${String(exact)} are rounded`;
    if (from.is === 'float64' || from.is === 'decimal') return 'digits are rounded';
  }
  if (from.is === 'decimal' && to.is === 'decimal') {
    const fits = to.scale >= from.scale && to.precision - to.scale >= from.precision - from.scale;
    return fits ? null : `values with more digits than ${b} ${REFUSED}`;
  }
  if (x && to.is === 'decimal') {
    const digits = String(2n ** BigInt(x[1])).length;
    return to.precision - to.scale >= digits ? null : `values with more digits than ${b} ${REFUSED}`;
  }
  if (y && (from.is === 'decimal' || from.is === 'float32' || from.is === 'float64')) {
    return `values with a fraction, or outside of ${b}, ${REFUSED}`;
  }
  return null;
}

function timeLoss(from: LogicalType, to: LogicalType): string | null {
  const [f, t] = [from.is, to.is];
  if (f === 'timestamp' && t === 'datetime') return 'the instant becomes a wall clock time';
  if (f === 'datetime' && t === 'timestamp') return 'the wall clock time is taken for an instant';
  if ((f === 'timestamp' || f === 'datetime') && t === 'date') return `values with a time of day ${REFUSED}`;
  if ('fraction' in from && 'fraction' in to && f === t && to.fraction < from.fraction) {
    return `values with more than ${String(to.fraction)} digits of a second ${REFUSED}`;
  }
  return null;
}

/** No loss was found above, and there is none: numbers into wider numbers, dates into date-times. */
function sameFamily(from: LogicalType, to: LogicalType): boolean {
  const family = (t: LogicalType): string => {
    if (/^(u?int\d+|decimal|float\d+|bit)$/.test(t.is)) return 'number';
    return /^(date|datetime|timestamp)$/.test(t.is) ? 'date' : t.is;
  };
  return family(from) === family(to);
}
