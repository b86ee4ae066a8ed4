/**
 * The newest rows of a table, with their keys. A run's end names them, so that a row that comes later with a value among
 * theirs, by a transaction that was slow or with a time of its own, is told from them and read by the next run.
 */
import type { Session } from '../../connect/session.js';
import { quoteName } from '../../sql/names.js';
import { keySelect } from '../plan/estimates.js';
import { aboveFloor, columnLiteral, keyType } from '../plan/key-predicate.js';
import type { CursorFloor, CursorRows, CursorTail } from '../split-spec.js';
import { doing, select, type CursorTable } from './cursor-tables.js';

/** So many rows are named at most; of one value up to {@link MOST_TIES}. They stand in each SELECT and in checkpoints. */
const MOST_ROWS = 1000;
const MOST_TIES = 10_000;
/** Of a tail's values and keys: a SELECT has two of them, and old servers take statements of 1 MB. */
const MOST_TEXT = 300_000;

export interface Newest {
  readonly value: string;
  readonly rows: number;
  readonly tail: CursorTail | null;
}

type Row = readonly (string | null)[];

/** How many of them may be named. */
function fitting(rows: readonly Row[], most: number): number {
  let text = 0;
  const over = rows.findIndex((r, i) => i >= most || (text += r.reduce((n, c) => n + (c?.length ?? 0), 0)) > MOST_TEXT);
  return over < 0 ? rows.length : over;
}

function byValue(rows: readonly Row[]): readonly CursorRows[] {
  const groups: [string, ...(readonly string[])[]][] = [];
  for (const [value, ...key] of rows) {
    const known = groups.at(-1);
    const texts = key.map((v) => v ?? '');
    if (known !== undefined && known[0] === value) known.push(texts);
    else groups.push([value ?? '', texts]);
  }
  return groups;
}

/** Of the rows up to `value`, and above `floor`: below that nothing is told apart. */
export async function newestRows(
  session: Session,
  t: CursorTable,
  value: string,
  floor: CursorFloor | null,
): Promise<Newest> {
  const name = quoteName(t.column.name);
  const list = [t.column, ...t.rowKey].map((c) => keySelect(c, quoteName(c.name))).join(', ');
  const find = (condition: string, most: number): Promise<readonly Row[]> =>
    session.query(`${select(t, list, condition)} limit ${String(most + 1)}`, doing(t));

  let top = value;
  // Texts may be equal that do not look so, and a floor between them would be none.
  if (t.rowKey.length > 0 && keyType(t.column).is !== 'string') {
    const within = `${name} <= ${columnLiteral(t.column, value)} and ${aboveFloor(t.column, floor)}`;
    const found = await find(`${within} order by ${name} desc`, MOST_ROWS);
    const fit = fitting(found, MOST_ROWS);
    const cut = found[fit]?.[0] ?? null;
    if (cut === null) return { value, rows: found.length, tail: { floor, rows: byValue(found) } };
    const named = found.slice(0, fit).filter(([v]) => v !== cut);
    if (named.length > 0) {
      return { value, rows: named.length, tail: { floor: { value: cut, too: false }, rows: byValue(named) } };
    }
    top = cut;
  }
  const same = `${name} = ${columnLiteral(t.column, top)}`;
  if (t.rowKey.length > 0) {
    const found = await find(same, MOST_TIES);
    if (fitting(found, MOST_TIES) === found.length) {
      const ties = byValue(found);
      return { value, rows: found.length, tail: { floor: { value: top, too: true }, rows: ties } };
    }
  }
  const [row] = await session.query(select(t, 'count(*)', same), doing(t));
  return { value: top, rows: Number(row?.[0] ?? 0), tail: null };
}

/** Whether there is a row that those who know `low` did not read. */
export function isNew(
  now: Newest,
  low: { readonly value: string; readonly rows: number | null; readonly tail: CursorTail | null },
): boolean {
  if (now.tail === null || low.tail === null) return now.value !== low.value || now.rows !== low.rows;
  const known = new Set<string>();
  for (const [value, ...keys] of low.tail.rows) for (const k of keys) known.add(JSON.stringify([value, k]));
  return now.tail.rows.some(([value, ...keys]) => keys.some((k) => !known.has(JSON.stringify([value, k]))));
}
