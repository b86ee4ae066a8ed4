/** From the bounds of a run, or the options of a polling job, to what is read of each table. */
import { SyncError, type CursorBounds, type Logger } from 'syncx/plugin-api';
import type { Session } from '../../connect/session.js';
import type { ReaderOptions } from '../../reader-options.js';
import { quoteText } from '../../sql/names.js';
import { given } from '../plan/check-options.js';
import { keyType } from '../plan/key-predicate.js';
import { isInteger, showShape } from '../plan/shapes.js';
import type { SourceSessions } from '../plan/source-sessions.js';
import type { CursorFloor, CursorPoint, CursorWindow } from '../split-spec.js';
import { cursorAt, isTold } from './bounds.js';
import { cursorName, cursorsOf, type TableCursor } from './cursor-value.js';
import { countNulls, highest, type CursorTable } from './cursor-tables.js';
import { parseLookback, type Lookback } from './lookback.js';
import { startValue } from './start-location.js';

export const startOf = (o: ReaderOptions, t: CursorTable): CursorFloor | null => {
  const text = given(o.startLocation);
  return text === null ? null : { value: startValue(t.column, text), too: o.useMaxFunc };
};

function startPoint(o: ReaderOptions, t: CursorTable): CursorPoint | null {
  const start = startOf(o, t);
  return start === null ? null : { value: start.value, own: !start.too, tail: null };
}

/** Rows that cannot be told apart are read again: `>` would miss what came with the same value since. */
const pointAbove = (t: CursorTable, c: TableCursor): CursorPoint =>
  isTold(t, c) ? { value: c.value, own: true, tail: c.tail } : { value: c.value, own: false, tail: null };

/** Null: nothing is to be read of the table in this run. */
export async function windowOf(
  t: CursorTable,
  bounds: CursorBounds,
  o: ReaderOptions,
  sessions: SourceSessions,
): Promise<CursorWindow | null> {
  const name = cursorName(t.shape);
  const low = cursorsOf(bounds.lower)[name];
  const high = cursorsOf(bounds.upper)[name];
  if (high === undefined) return null;
  const lookback = o.increLookback === undefined ? null : parseLookback(o.increLookback);
  const upper: CursorPoint = { value: high.value, own: true, tail: high.tail };
  const base = { column: t.column, rowKey: t.rowKey, upper };
  if (low === undefined) return { ...base, lower: startPoint(o, t) };
  if (lookback !== null) {
    const value = await sessions.on(t.shape.connection, (s) => valueBelow(s, t, low.value, lookback));
    // The rows that the tail does not name are read wherever they are: it may reach further back.
    return { ...base, lower: { ...pointAbove(t, low), value, own: false } };
  }
  return JSON.stringify(low) === JSON.stringify(high) ? null : { ...base, lower: pointAbove(t, low) };
}

/** Polling has no end; where it begins is decided once. */
export async function pollingWindow(t: CursorTable, o: ReaderOptions, sessions: SourceSessions): Promise<CursorWindow> {
  const base = { column: t.column, rowKey: t.rowKey, upper: null };
  const start = startPoint(o, t);
  if (start !== null || !o.pollingFromMax) return { ...base, lower: start };
  const value = await sessions.on(t.shape.connection, (s) => highest(s, t, null));
  if (value === null) return { ...base, lower: null };
  const { value: top, tail } = await cursorAt(t, value, null, sessions);
  return { ...base, lower: { value: top, own: true, tail } };
}

async function valueBelow(session: Session, t: CursorTable, value: string, back: Lookback): Promise<string> {
  const type = keyType(t.column);
  if ('number' in back && (isInteger(type) || type.is === 'year')) {
    const below = BigInt(value) - back.number;
    return String(type.is.startsWith('u') && below < 0n ? 0n : below);
  }
  const doing = 'look back';
  const asked = async (sql: string): Promise<string> => (await session.query(`select ${sql}`, doing))[0]?.[0] ?? value;
  if ('number' in back && type.is === 'decimal')
    return asked(`cast(${value} as decimal(65,30)) - ${String(back.number)}`);
  const seconds = 'number' in back ? Number(back.number) : back.seconds;
  const earlier = `date_sub(${quoteText(value)}, interval ${String(seconds)} second)`;
  if (type.is === 'datetime' || type.is === 'timestamp') return asked(earlier);
  if (type.is === 'date') return asked(`cast(${earlier} as date)`);
  throw new SyncError('JOB_INVALID', `increLookback ${String(seconds)} s is nothing to take off \`${t.column.name}\``, {
    place: 'reader.parameter.increLookback',
    hint: 'Times fit columns with a date, numbers those of numbers.',
  });
}

export async function tellNulls(t: CursorTable, sessions: SourceSessions, log: Logger): Promise<void> {
  const rows = await sessions.on(t.shape.connection, (s) => countNulls(s, t));
  if (rows === 0) return;
  log.warn(
    { table: showShape(t.shape), column: t.column.name, rows },
    `rows are never read by an incremental job where \`${t.column.name}\` is NULL`,
  );
}
