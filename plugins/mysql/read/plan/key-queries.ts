/** Questions about the keys of a table, for its splits. */
import type { Session } from '../../connect/session.js';
import { quoteName } from '../../sql/names.js';
import type { Shape, ShapeColumn } from '../split-spec.js';
import type { KeySpace } from './cuts.js';
import { explainRows, keySelect } from './estimates.js';
import { beyond, rangePredicate } from './key-predicate.js';
import { fromOf } from './plan-shapes.js';
import { showShape } from './shapes.js';

type OnSession = <T>(ask: (session: Session) => Promise<T>) => Promise<T>;

const whereOf = (conditions: readonly string[]): string => {
  const real = conditions.filter((c) => c !== 'true');
  return real.length === 0 ? '' : ` where ${real.join(' and ')}`;
};

/** `window`: a condition that narrows the rows; `true` for all. Null: there are no rows but those with NULL. */
export async function extremes(
  session: Session,
  shape: Shape,
  column: ShapeColumn,
  window: string,
): Promise<{ readonly lo: bigint; readonly hi: bigint } | null> {
  const name = quoteName(column.name);
  const [row] = await session.query(
    `select ${keySelect(column, `min(${name})`)}, ${keySelect(column, `max(${name})`)} from ${fromOf(shape)}${whereOf([window])}`,
    `look at the keys of ${showShape(shape)}`,
  );
  const [lo, hi] = row ?? [];
  return typeof lo !== 'string' || typeof hi !== 'string' ? null : { lo: BigInt(lo), hi: BigInt(hi) };
}

/** `index`: one that begins with the column. */
export function keySpace(on: OnSession, shape: Shape, column: ShapeColumn, index: string): KeySpace {
  const name = quoteName(column.name);
  const from = `${fromOf(shape)} force index (${quoteName(index)})`;
  const columns = [column];
  const doing = `look at the keys of ${showShape(shape)}`;
  return {
    rows: (lo, hi) =>
      on(async (session) => {
        const range = rangePredicate({ columns, from: [String(lo)], upTo: [String(hi)] });
        return (await explainRows(session, `select ${name} from ${from} where ${range}`)) ?? 0;
      }),
    around: (at) =>
      on(async (session) => {
        const one = (what: 'min' | 'max', sign: '>' | '<'): string =>
          `(select ${keySelect(column, `${what}(${name})`)} from ${from} where ${beyond(columns, [String(at)], sign, sign === '>')})`;
        const [row] = await session.query(`select ${one('max', '<')}, ${one('min', '>')}`, doing);
        const key = (text: string | null | undefined): bigint | null =>
          typeof text === 'string' ? BigInt(text) : null;
        return { below: key(row?.[0]), from: key(row?.[1]) };
      }),
  };
}

/** The key `step` rows behind `after` (null: the first), in the server's own order; null: there are not so many rows. */
export async function walkKey(
  session: Session,
  shape: Shape,
  columns: readonly ShapeColumn[],
  after: readonly string[] | null,
  step: number,
  window: string,
): Promise<readonly string[] | null> {
  const names = columns.map((c) => quoteName(c.name));
  const list = columns.map((c, i) => `${keySelect(c, names[i] ?? '')}`).join(', ');
  const range = rangePredicate({ columns, ...(after === null ? {} : { after }) });
  const [row] = await session.query(
    `select ${list} from ${fromOf(shape)}${whereOf([range, window])} order by ${names.join(', ')} limit 1 offset ${String(step - 1)}`,
    `look for the next key of ${showShape(shape)}`,
  );
  return row === undefined ? null : row.map((v) => v ?? '');
}
