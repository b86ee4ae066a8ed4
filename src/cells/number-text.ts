/** Numbers that are written in another notation than their canonical one, read as text: no digit passes through a double. */

const INTEGER = /^([+-]?)0*(\d+)$/;
const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;

/** True: of the form `[+-]123.456[e[+-]7]`, with digits before or behind the point. */
export function isNumber(text: string): boolean {
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text);
}

/** The parts of a number: its value is `0.digits` times ten to the power of `point`. */
export interface NumberParts {
  readonly negative: boolean;
  /** All digits that are written, from the first that is not 0; empty: the value is zero. */
  readonly digits: string;
  /** Digits of `digits` before the decimal point; may be negative or beyond their number. */
  readonly point: number;
  /** Digits that stand behind the point once the exponent is worked in; may be negative. */
  readonly scale: number;
}

/** Null: {@link isNumber} says no. */
export function numberParts(text: string): NumberParts | null {
  const m = NUMBER.exec(text);
  const whole = m?.[2] ?? '';
  const fraction = m?.[3] ?? '';
  if (m === null || whole.length + fraction.length === 0) return null;
  const exponent = Number(m[4] ?? '0');
  const all = whole + fraction;
  const digits = all.replace(/^0+/, '');
  return {
    negative: m[1] === '-',
    digits,
    point: whole.length + exponent - (all.length - digits.length),
    scale: fraction.length - exponent,
  };
}

/** `+5`, `007`, `-0` as `5`, `7`, `0`; null: no whole number. */
export function integerText(text: string): string | null {
  const m = INTEGER.exec(text);
  if (m === null) return null;
  const digits = m[2] ?? '';
  return m[1] === '-' && digits !== '0' ? `-${digits}` : digits;
}

/**
 * `+5`, `.5`, `5.`, `007.50`, `1e3`, `-0.00` as `5`, `0.5`, `5`, `7.50`, `1000`, `0.00`. Every digit is kept; null: no
 * number, or one with more digits before or behind the point than the type has.
 */
export function decimalText(text: string, precision: number, scale: number): string | null {
  const n = numberParts(text);
  // Also keeps exponents of any size from becoming as many digits.
  if (n === null || n.scale > scale || (n.digits !== '' && n.point > precision - scale)) return null;
  const behind = Math.max(0, n.scale);
  if (n.digits === '') return behind === 0 ? '0' : `0.${'0'.repeat(behind)}`;
  const plain = n.digits.padEnd(n.point, '0').padStart(behind + 1, '0');
  const cut = plain.length - behind;
  return (n.negative ? '-' : '') + (behind === 0 ? plain : `${plain.slice(0, cut)}.${plain.slice(cut)}`);
}
