/** Which errors and warnings of the server are about a row, and what they tell about it. */
import { isSyncError } from 'syncx/plugin-api';
import { errnoOf } from '../../connect/mysql-errors.js';
import type { RowOfText } from '../../connect/row-text.js';
import type { Refusal } from './refusal.js';

/** About values where the SQLSTATE does not tell so. */
const DATA_NUMBERS: ReadonlySet<number> = new Set([
  1118, 1263, 1265, 1292, 1364, 1366, 1367, 1369, 1411, 1416, 1441, 1526, 1557, 1644, 1748, 1761, 1762, 3037, 3140,
  3156, 3617, 3643, 3819, 3903, 4025, 4079,
]);
/** Data, constraints, WITH CHECK OPTION, SIGNAL. */
const DATA_STATES = /^(?:22|23|44|45)/;
/** Statements that may give another result on a replica; words that a later version will not know. Nothing is stored otherwise. */
const HARMLESS: ReadonlySet<number> = new Set([1287, 1592, 1681, 3719, 3778]);

const DUPLICATE: ReadonlySet<number> = new Set([1062, 1169, 1586]);

/** A row is to blame; the statement that failed left nothing behind. */
export function isDataError(e: unknown): boolean {
  const number = errnoOf(e);
  if (number === 0) return false;
  const cause = isSyncError(e) ? e.cause : e;
  const state = (cause as { readonly sqlState?: unknown }).sqlState;
  return DATA_NUMBERS.has(number) || (typeof state === 'string' && DATA_STATES.test(state));
}

export const isDuplicate = (e: unknown): boolean => DUPLICATE.has(errnoOf(e));

/** The server does not let this client load files, or does not know how to. */
const NO_LOAD: ReadonlySet<number> = new Set([1045, 1148, 1235, 1290, 2068, 3948, 3950, 4166]);
export const isLoadForbidden = (e: unknown): boolean => NO_LOAD.has(errnoOf(e));

/** What the server said about rows of a statement. */
export interface Complaint extends Refusal {
  /** From 1; 0: it does not say. May be of another statement, as of a trigger's: a hint, and no more. */
  readonly atRow: number;
}

export function complaintOf(number: number, message: string): Complaint {
  const column = /(?:column|Field|Column) '((?:[^']|'')+)'|for column (?:`(?:[^`]|``)*`\.){0,2}`((?:[^`]|``)+)`/.exec(
    message,
  );
  const at = / at row (\d+)$/.exec(message);
  return {
    column: column?.[1] ?? column?.[2]?.replaceAll('``', '`') ?? null,
    reason: `${String(number)} ${at === null ? message : message.slice(0, at.index)}`,
    atRow: Number(at?.[1] ?? 0),
  };
}

export function complaintOfError(e: unknown): Complaint {
  const cause = isSyncError(e) ? e.cause : e;
  return complaintOf(errnoOf(e), cause instanceof Error ? cause.message : String(cause));
}

/** Of SHOW WARNINGS: the first that matters; null: none does. `count`: how many there are, as the server shows 64 at most. */
export function complaintOfWarnings(rows: readonly RowOfText[], count: number): Complaint | null {
  const serious = rows.find(([, code]) => !HARMLESS.has(Number(code)));
  if (serious !== undefined) return complaintOf(Number(serious[1]), serious[2] ?? '');
  if (rows.length >= count) return null;
  return {
    column: null,
    reason: `the server gave ${String(count)} warnings, and shows ${String(rows.length)}`,
    atRow: 0,
  };
}
