import { cellKind, type LogicalType } from '../plugin-api/index.js';

const FRACTION = (f: number): string => (f > 0 ? `(\\.\\d{1,${String(f)}})?` : '');
const DATE = '\\d{4}-\\d{2}-\\d{2}';
const FLOAT = /^(NaN|-?Infinity|-?(0|[1-9]\d*)(\.\d+)?(e[+-]\d+)?)$/;

const RANGES: Readonly<Record<string, readonly [bigint, bigint]>> = Object.fromEntries(
  [8n, 16n, 32n, 64n].flatMap((bits) => [
    [`int${String(bits)}`, [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n]],
    [`uint${String(bits)}`, [0n, (1n << bits) - 1n]],
  ]),
);

function integerProblem(text: string, min: bigint, max: bigint): string | null {
  if (!/^(0|-?[1-9]\d*)$/.test(text)) return 'is not plain digits';
  const n = BigInt(text);
  return n < min || n > max ? 'is out of the range of its type' : null;
}

function decimalProblem(text: string, precision: number, scale: number): string | null {
  const m = /^-?(0|[1-9]\d*)(?:\.(\d+))?$/.exec(text);
  if (!m) return 'is not plain digits';
  if (/^-0(\.0*)?$/.test(text)) return 'is a negative zero';
  const fraction = m[2]?.length ?? 0;
  const whole = m[1] === '0' ? 0 : (m[1]?.length ?? 0);
  return fraction > scale || whole > precision - scale
    ? `does not fit decimal(${String(precision)},${String(scale)})`
    : null;
}

function floatProblem(text: string, single: boolean): string | null {
  if (!FLOAT.test(text)) return 'is not a float';
  const n = Number(text);
  if (!Number.isFinite(n)) return /^(NaN|-?Infinity)$/.test(text) ? null : 'overflows its type';
  if (single && !Number.isFinite(Math.fround(n))) return 'overflows its type';
  const shortest = Object.is(n, -0) ? '-0' : String(n);
  return !single && shortest !== text ? `is not the shortest text (${shortest})` : null;
}

function match(text: string, pattern: string): string | null {
  return new RegExp(`^${pattern}$`).test(text) ? null : `does not look like ${pattern}`;
}

function textProblem(t: LogicalType, text: string): string | null {
  switch (t.is) {
    case 'boolean':
      return text === 'true' || text === 'false' ? null : 'is neither true nor false';
    case 'bit':
      return integerProblem(text, 0n, (1n << BigInt(t.length)) - 1n);
    case 'decimal':
      return decimalProblem(text, t.precision, t.scale);
    case 'float32':
    case 'float64':
      return floatProblem(text, t.is === 'float32');
    case 'json':
      try {
        JSON.parse(text);
        return null;
      } catch {
        return 'is not JSON';
      }
    case 'date':
      return match(text, DATE);
    case 'year':
      return match(text, '\\d{4}');
    case 'time':
      return match(text, `-?\\d{2,}:[0-5]\\d:[0-5]\\d${FRACTION(t.fraction)}`);
    case 'datetime':
    case 'timestamp':
      return match(text, `${DATE} \\d{2}:[0-5]\\d:[0-5]\\d${FRACTION(t.fraction)}`);
    case 'enum':
      return t.labels && !t.labels.includes(text) ? 'is none of the labels' : null;
    case 'set':
      return t.labels && text !== '' && text.split(',').some((l) => !t.labels?.includes(l))
        ? 'has a word that is no label'
        : null;
    default: {
      const range = RANGES[t.is];
      return range ? integerProblem(text, ...range) : null;
    }
  }
}

/** What is wrong with a cell that should be in the canonical form of docs/specs/cells.md; null: nothing. */
export function cellProblem(type: LogicalType, bytes: Uint8Array): string | null {
  if (cellKind(type) === 'bytes') {
    return type.is === 'geometry' && bytes.length < 9 ? 'is too short for an SRID and WKB' : null;
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return 'is not valid UTF-8';
  }
  const problem = textProblem(type, text);
  return problem === null ? null : `${JSON.stringify(text)} ${problem}`;
}
