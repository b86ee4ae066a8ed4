/**
 * Ranges of keys as SQL conditions. MariaDB and MySQL use no index for `(a, b) > (x, y)`, so tuples are written out with a
 * bound of the first column in front, which they do use. Each result may be joined with others by AND as it stands.
 */
import type { LogicalType } from 'syncx/plugin-api';
import { typeOf } from '../../catalog/columns.js';
import { keyLiteral } from '../../sql/literals.js';
import { quoteName } from '../../sql/names.js';
import type { CursorPoint, CursorWindow, KeyRange, ShapeColumn } from '../split-spec.js';

/** Text, where the type is none that we know. */
export const keyType = (c: ShapeColumn): LogicalType =>
  c.json ? { is: 'json' } : (typeOf(c.rawType)?.type ?? { is: 'string' });

export const columnLiteral = (c: ShapeColumn, value: string): string => keyLiteral(keyType(c), value);

type Sign = '>' | '<';

/** The rows beyond a tuple of the first columns; `inclusive`: with those that have it. */
export function beyond(
  columns: readonly ShapeColumn[],
  tuple: readonly string[],
  sign: Sign,
  inclusive: boolean,
): string {
  const [name, value] = termOf(columns, tuple, 0);
  const last = inclusive ? `${sign}=` : sign;
  if (tuple.length === 1) return `${name} ${last} ${value}`;
  return `${name} ${sign}= ${value} and ${tail(columns, tuple, 0, sign, last)}`;
}

function tail(columns: readonly ShapeColumn[], tuple: readonly string[], at: number, sign: Sign, last: string): string {
  const [name, value] = termOf(columns, tuple, at);
  if (at === tuple.length - 1) return `${name} ${last} ${value}`;
  return `(${name} ${sign} ${value} or (${name} = ${value} and ${tail(columns, tuple, at + 1, sign, last)}))`;
}

function termOf(columns: readonly ShapeColumn[], tuple: readonly string[], at: number): readonly [string, string] {
  const column = columns[at];
  const value = tuple[at];
  if (column === undefined || value === undefined)
    throw new RangeError('a bound has more values than there are columns');
  return [quoteName(column.name), columnLiteral(column, value)];
}

/** `true`: all rows. A nullable first column: NULLs are never in a range, also where it has no bounds. */
export function rangePredicate({ columns, after, from, before, upTo }: KeyRange): string {
  const parts = [
    ...(after === undefined ? [] : [beyond(columns, after, '>', false)]),
    ...(from === undefined ? [] : [beyond(columns, from, '>', true)]),
    ...(before === undefined ? [] : [beyond(columns, before, '<', false)]),
    ...(upTo === undefined ? [] : [beyond(columns, upTo, '<', true)]),
  ];
  const [first] = columns;
  if (parts.length === 0 && first?.nullable === true) return `${quoteName(first.name)} is not null`;
  return parts.length === 0 ? 'true' : parts.join(' and ');
}

export const nullPredicate = (column: ShapeColumn): string => `${quoteName(column.name)} is null`;

/** Which rows of a window's edge are meant: those with these row keys. `keys` is not empty. */
function keysIn(columns: readonly ShapeColumn[], keys: readonly (readonly string[])[]): string {
  const row = (items: readonly string[]): string => (items.length === 1 ? (items[0] ?? '') : `(${items.join(', ')})`);
  const literals = keys.map((key) => row(columns.map((c, i) => columnLiteral(c, key[i] ?? ''))));
  return `${row(columns.map((c) => quoteName(c.name)))} in (${literals.join(', ')})`;
}

function edgePredicate(w: CursorWindow, point: CursorPoint, sign: Sign): string {
  const name = quoteName(w.column.name);
  const value = columnLiteral(w.column, point.value);
  const { keys } = point;
  // Above the lower edge are the rows that were not read yet, below the upper edge those that are read now.
  if (keys === null) return sign === '>' ? `${name} > ${value}` : `${name} <= ${value}`;
  if (keys.length === 0) return sign === '>' ? `${name} >= ${value}` : `${name} < ${value}`;
  const among = `${sign === '>' ? 'not ' : ''}(${keysIn(w.rowKey, keys)})`;
  return `${name} ${sign}= ${value} and (${name} ${sign} ${value} or ${among})`;
}

/** Above `lower` without the rows that it names, up to `upper` with those that it names. Rows with NULL are never in it. */
export function windowPredicate(w: CursorWindow): string {
  const parts = [
    ...(w.lower === null ? [] : [edgePredicate(w, w.lower, '>')]),
    ...(w.upper === null ? [] : [edgePredicate(w, w.upper, '<')]),
  ];
  return parts.length === 0 ? `${quoteName(w.column.name)} is not null` : parts.join(' and ');
}
