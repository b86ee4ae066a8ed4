/** The form in which cells of two types are compared (docs/specs/verify.md). Equal values have equal bytes in it. */
import { cellKind, float32Text, float64Text, type LogicalType } from '../../plugin-api/index.js';
import { AS_IS, cellForm } from '../../cells/cell-form.js';

/** A cell that is looked at: `data[start .. end]`. Forms move it. */
export class CellRef {
  data: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;

  get text(): string {
    return this.data.toString('latin1', this.start, this.end);
  }

  set text(text: string) {
    this.data = Buffer.from(text, 'latin1');
    this.start = 0;
    this.end = this.data.length;
  }
}

export type VerifyForm = (cell: CellRef) => void;

const ZERO = 48;
const NINE = 57;
const DOT = 46;
const MINUS = 45;

/** `1.50` → `1.5`, `2.00` → `2`, `-0.0` → `0`; of times too: their fraction stands last. */
function withoutTrailingZeros(cell: CellRef): void {
  const { data, start, end } = cell;
  let dot = end - 1;
  while (dot >= start && (data[dot] ?? 0) >= ZERO && (data[dot] ?? 0) <= NINE) dot--;
  if (dot < start || data[dot] !== DOT) return;
  let last = end;
  while (data[last - 1] === ZERO) last--;
  cell.end = last - 1 === dot ? dot : last;
}

/** The two zeros are equal, and not every target has both. */
function withoutMinusZero(cell: CellRef): void {
  if (cell.end - cell.start === 2 && cell.data[cell.start] === MINUS && cell.data[cell.start + 1] === ZERO)
    cell.start++;
}

function exactNumber(cell: CellRef): void {
  withoutTrailingZeros(cell);
  withoutMinusZero(cell);
}

function booleanNumber(cell: CellRef): void {
  const { text } = cell;
  if (text === 'true') cell.text = '1';
  else if (text === 'false') cell.text = '0';
}

function yearNumber(cell: CellRef): void {
  while (cell.end - cell.start > 1 && cell.data[cell.start] === ZERO) cell.start++;
}

const asFloat =
  (single: boolean): VerifyForm =>
  (cell) => {
    const { text } = cell;
    const n = Number(text);
    if (text === '' || (Number.isNaN(n) && text !== 'NaN')) return;
    const written = single ? float32Text(n) : float64Text(n);
    cell.text = written === '-0' ? '0' : written;
  };

const MIDNIGHT = ' 00:00:00';

function withoutMidnight(cell: CellRef): void {
  withoutTrailingZeros(cell);
  const at = cell.end - MIDNIGHT.length;
  if (at > cell.start && cell.data.toString('latin1', at, cell.end) === MIDNIGHT) cell.end = at;
}

const isFloat = (t: LogicalType): boolean => t.is === 'float32' || t.is === 'float64';
const isExact = (t: LogicalType): boolean => ['integer', 'decimal', 'boolean'].includes(cellKind(t)) || t.is === 'year';
const isMoment = (t: LogicalType): boolean => t.is === 'date' || t.is === 'datetime' || t.is === 'timestamp';
/** Holds any text. */
const isFree = (t: LogicalType): boolean => t.is === 'string' || t.is === 'json' || t.is === 'enum' || t.is === 'set';

function inSteps(...steps: readonly (VerifyForm | null)[]): VerifyForm | null {
  const [first, second, ...more] = steps.filter((s) => s !== null);
  if (first === undefined) return null;
  if (second === undefined) return first;
  return inSteps(
    (cell) => {
      first(cell);
      second(cell);
    },
    ...more,
  );
}

/** A text as a value of the type, where it is one; else as it stands. */
function asValueOf(t: LogicalType): VerifyForm | null {
  const form = cellKind(t) === 'bytes' ? null : cellForm(t);
  if (form === null) return null;
  return (cell) => {
    if (form.scan(cell.data, cell.start, cell.end)) return;
    const bytes = form.mend(cell.data, cell.start, cell.end);
    if (bytes === null || bytes === AS_IS) return;
    // The next call may write over it, and it is looked at before.
    cell.data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    cell.start = 0;
    cell.end = bytes.length;
  };
}

/** Both are no texts, or both are. */
function formOf(own: LogicalType, other: LogicalType): VerifyForm | null {
  if (isFloat(own) || isFloat(other)) {
    if (isFloat(own) && isFloat(other)) {
      return own.is === 'float64' && other.is === 'float32' ? asFloat(true) : withoutMinusZero;
    }
    if (!isExact(own) && !isExact(other)) return null;
    return inSteps(own.is === 'boolean' ? booleanNumber : null, asFloat((isFloat(own) ? own : other).is === 'float32'));
  }
  if (isExact(own) && isExact(other)) {
    if (own.is === other.is && own.is !== 'decimal') return null;
    if (own.is === 'boolean') return booleanNumber;
    if (own.is === 'year') return yearNumber;
    return own.is === 'decimal' ? exactNumber : null;
  }
  if (isMoment(own) && isMoment(other)) {
    if (own.is === 'date') return null;
    return other.is === 'date' ? withoutMidnight : withoutTrailingZeros;
  }
  return own.is === 'time' && other.is === 'time' ? withoutTrailingZeros : null;
}

/** Null: the cell as it is. */
export function verifyForm(own: LogicalType, other: LogicalType): VerifyForm | null {
  if (isFree(own) && !isFree(other)) return inSteps(asValueOf(other), formOf(other, other));
  if (isFree(other)) return formOf(own, own);
  return formOf(own, other);
}
