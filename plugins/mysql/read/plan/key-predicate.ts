/**
 * Ranges of keys as SQL conditions. MariaDB and MySQL use no index for `(a, b) > (x, y)`, so tuples are written out with a
 * bound of the first column in front, which they do use. Each result may be joined with others by AND as it stands.
 */
import type { LogicalType } from 'syncx/plugin-api';
import { typeOf } from '../../catalog/columns.js';
import { keyLiteral } from '../../sql/literals.js';
import { quoteName } from '../../sql/names.js';
import type { CursorFloor, CursorPoint, CursorTail, CursorWindow, KeyRange, ShapeColumn } from '../split-spec.js';

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

/** Those with one of these row keys; there are some. */
function keysIn(columns: readonly ShapeColumn[], keys: readonly (readonly string[])[]): string {
  const row = (items: readonly string[]): string => (items.length === 1 ? (items[0] ?? '') : `(${items.join(', ')})`);
  const literals = keys.map((key) => row(columns.map((c, i) => columnLiteral(c, key[i] ?? ''))));
  return `${row(columns.map((c) => quoteName(c.name)))} in (${literals.join(', ')})`;
}

/**
 * Those that the tail names. Values are compared one by one, as in tuples a server may compare times as texts; and in IF, so
 * that no optimizer tries a thousand ways to use an index for them.
 */
function named(w: CursorWindow, { rows }: CursorTail, yes: 0 | 1, brief: boolean): string {
  const name = quoteName(w.column.name);
  if (brief) {
    const n = rows.reduce((sum, [, ...keys]) => sum + keys.length, 0);
    return `${yes === 1 ? '' : 'not '}one of ${String(n)} that are known`;
  }
  const each = rows.map(
    ([value, ...keys]) => `${name} = ${columnLiteral(w.column, value)} and ${keysIn(w.rowKey, keys)}`,
  );
  return each.length === 0 ? String(1 - yes) : `if(${each.join(' or ')}, ${String(yes)}, ${String(1 - yes)})`;
}

/** Null: all rows are, but those with NULL. */
export function aboveFloor(column: ShapeColumn, floor: CursorFloor | null): string {
  const name = quoteName(column.name);
  if (floor === null) return `${name} is not null`;
  return `${name} ${floor.too ? '>=' : '>'} ${columnLiteral(column, floor.value)}`;
}

/** The rows that are not done yet. Both sides of OR bound the column, so that its index serves. */
function abovePoint(w: CursorWindow, { value, own, tail }: CursorPoint, brief: boolean): string {
  const above = aboveFloor(w.column, { value, too: !own });
  return tail === null ? above : `(${above} or (${aboveFloor(w.column, tail.floor)} and ${named(w, tail, 0, brief)}))`;
}

function upToPoint(w: CursorWindow, { value, own, tail }: CursorPoint, brief: boolean): string {
  const name = quoteName(w.column.name);
  const upTo = `${name} ${own ? '<=' : '<'} ${columnLiteral(w.column, value)}`;
  if (tail === null) return upTo;
  const { floor } = tail;
  const below = floor === null ? [] : [`${name} ${floor.too ? '<' : '<='} ${columnLiteral(w.column, floor.value)}`];
  return `${upTo} and (${[...below, named(w, tail, 1, brief)].join(' or ')})`;
}

/** What is not done at `lower`, and is read up to `upper`. Rows with NULL are never in it. `brief`: for people. */
export function windowPredicate(w: CursorWindow, brief = false): string {
  const parts = [
    ...(w.lower === null ? [] : [abovePoint(w, w.lower, brief)]),
    ...(w.upper === null ? [] : [upToPoint(w, w.upper, brief)]),
  ];
  return parts.length === 0 ? `${quoteName(w.column.name)} is not null` : parts.join(' and ');
}
