/** The tables of a job with a cursor, and what is asked of them. */
import { SyncError, formatType } from 'syncx/plugin-api';
import type { Session } from '../../connect/session.js';
import type { ReaderOptions } from '../../reader-options.js';
import { quoteName } from '../../sql/names.js';
import { condition, cursorColumn, given } from '../plan/check-options.js';
import { keySelect } from '../plan/estimates.js';
import { columnLiteral, keyType } from '../plan/key-predicate.js';
import { fromOf } from '../plan/plan-shapes.js';
import { isOrderable, namedColumn, rowKeyColumns, shapeColumn, showShape, type PlannedShape } from '../plan/shapes.js';
import { startValue } from './start-location.js';
import { isOwn, type Shape, type ShapeColumn } from '../split-spec.js';

export interface CursorTable {
  readonly shape: Shape;
  readonly column: ShapeColumn;
  /** Empty: rows cannot be told apart. */
  readonly rowKey: readonly ShapeColumn[];
  readonly where: string | null;
  /** Rows at or above it are not read; null: there is no such end. */
  readonly end: string | null;
}

/** @throws SyncError COLUMN_MISMATCH where the column is not there, or has no order that SQL could state exactly. */
export function cursorTable(p: PlannedShape, o: ReaderOptions): CursorTable {
  const name = cursorColumn(o) ?? '';
  const all = p.facts?.columns.map((c) => shapeColumn(c)) ?? p.shape.columns.filter(isOwn);
  const column = namedColumn(all, name, showShape(p.shape), 'reader.parameter.increColumn');
  const type = keyType(column);
  if (!isOrderable(type)) {
    throw new SyncError(
      'COLUMN_MISMATCH',
      `\`${name}\` of ${showShape(p.shape)} is ${formatType(type)}, which no run can go on from`,
      {
        place: 'reader.parameter.increColumn',
        hint: 'Take a column of whole numbers, decimals or times.',
      },
    );
  }
  const rowKey = p.facts === null ? [] : rowKeyColumns(p.facts);
  const end = given(o.endLocation);
  return {
    shape: p.shape,
    column,
    rowKey,
    where: condition(o.where),
    end: end === null ? null : startValue(column, end, 'endLocation'),
  };
}

export function select(t: CursorTable, list: string, condition: string): string {
  const where = t.where === null ? '' : `(${t.where}\n) and `;
  return `select ${list} from ${fromOf(t.shape)} where ${where}${condition}`;
}

export const doing = (t: CursorTable): string => `look for the newest rows of ${showShape(t.shape)}`;

/** The highest value below the end, at or above `from` where that is given; null: there is none. */
export async function highest(session: Session, t: CursorTable, from: string | null): Promise<string | null> {
  const name = quoteName(t.column.name);
  const above = from === null ? `${name} is not null` : `${name} >= ${columnLiteral(t.column, from)}`;
  const condition = t.end === null ? above : `${above} and ${name} < ${columnLiteral(t.column, t.end)}`;
  const [row] = await session.query(select(t, keySelect(t.column, `max(${name})`), condition), doing(t));
  return row?.[0] ?? null;
}

/** Rows that no run reads, as the column is NULL in them. */
export async function countNulls(session: Session, t: CursorTable): Promise<number> {
  if (!t.column.nullable) return 0;
  const [row] = await session.query(select(t, 'count(*)', `${quoteName(t.column.name)} is null`), doing(t));
  return Number(row?.[0] ?? 0);
}
