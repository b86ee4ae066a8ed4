/** Which number texts a column of the target holds without a loss that the server would not tell of. */
import { float32Text, float64Text, type LogicalType } from 'syncx/plugin-api';
import { canonicalCell, cellCheck, type CellCheck } from 'syncx/plugin-kit';

const ZERO = 48;
const DOT = 46;
const MINUS = 45;

/** All digits of the fraction behind the first `digits` are zeros. */
export function fractionFits(digits: number): CellCheck {
  return (d, start, end) => {
    let i = start;
    while (i < end && d[i] !== DOT) i++;
    for (i += 1 + digits; i < end; i++) if (d[i] !== ZERO) return false;
    return true;
  };
}

/** The widest decimal of any server: 65 digits before the point, 38 after. */
const WIDEST: LogicalType = { is: 'decimal', precision: 103, scale: 38 };
const isPlainDecimal: CellCheck = cellCheck(WIDEST) ?? (() => false);

/** Makes plain digits of a number in any notation; null: it is none, or one with more digits than any column has. */
export function plainDecimal(data: Buffer, start: number, end: number): Buffer | null {
  if (isPlainDecimal(data, start, end)) return data.subarray(start, end);
  const text = canonicalCell(WIDEST, data.toString('latin1', start, end));
  return text === null ? null : Buffer.from(text, 'latin1');
}

/** `5.00` → `5`; null: it is no whole number. */
export function wholeNumber(data: Buffer, start: number, end: number): Buffer | null {
  const plain = plainDecimal(data, start, end);
  if (plain === null) return null;
  const dot = plain.indexOf(DOT);
  if (dot < 0) return plain;
  for (let i = dot + 1; i < plain.length; i++) if (plain[i] !== ZERO) return null;
  const whole = plain.subarray(0, dot);
  return isMinusZero(whole, 0, whole.length) ? whole.subarray(1) : whole;
}

/** Digits without zeros at their ends, and the power of ten of the last one: equal for equal numbers. */
function normal(text: string): string {
  const m = /^(-?)(\d+)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(text);
  if (m === null) return text;
  const [, sign = '', whole = '', fraction = '', power = '0'] = m;
  const digits = (whole + fraction).replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  if (short === '') return '0';
  return `${sign}${short}e${String(Number(power) - fraction.length + digits.length - short.length)}`;
}

/** A number of at most this many characters survives the way through the float and back, whatever its digits. */
const SURE = { single: 6, double: 15 } as const;

/** The nearest float, shown as the shortest text again, is the same number. */
export function floatKeeps(single: boolean): CellCheck {
  const sure = single ? SURE.single : SURE.double;
  return (d, start, end) => {
    if (end - start <= sure && !hasExponent(d, start, end)) return true;
    const text = d.toString('latin1', start, end);
    const n = Number(text);
    const back = single ? float32Text(n) : float64Text(n);
    return normal(text) === normal(back);
  };
}

function hasExponent(d: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (((d[i] ?? 0) | 32) === 101) return true;
  return false;
}

export function isNumberText(d: Buffer, start: number): boolean {
  const b = d[start] === MINUS ? (d[start + 1] ?? 0) : (d[start] ?? 0);
  return b >= ZERO && b <= ZERO + 9;
}

export function isMinusZero(d: Buffer, start: number, end: number): boolean {
  return end - start === 2 && d[start] === MINUS && d[start + 1] === ZERO;
}
