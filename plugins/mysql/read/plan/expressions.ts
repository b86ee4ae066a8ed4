/** Columns of a job that are SQL, as the server describes them. */
import { SyncError, isSyncError } from 'syncx/plugin-api';
import { errnoOf, isConnectionLost, isLockTrouble } from '../../connect/mysql-errors.js';
import type { Session } from '../../connect/session.js';
import type { ShapeColumn } from '../split-spec.js';
import { queryColumn } from './query-columns.js';

export interface Expression {
  readonly name: string;
  readonly sql: string;
}

/** No right, killed, out of time: it says nothing of the SQL. */
const NOT_ITS_FAULT: ReadonlySet<number> = new Set([1044, 1045, 1142, 1143, 1227, 1317, 1370, 1969, 3024]);

const isItsFault = (e: unknown): boolean => {
  const number = errnoOf(e);
  return number !== 0 && !NOT_ITS_FAULT.has(number) && !isConnectionLost(e) && !isLockTrouble(e);
};

/** As one operand; on lines of its own, as it may end in a comment. */
export const operandOf = (sql: string): string => `(${sql}\n)`;

/**
 * `from`: what follows FROM. Each is a condition too, where sums and the like are not allowed.
 * @throws SyncError COLUMN_MISMATCH naming the one that is no SQL.
 */
export async function describeExpressions(
  session: Session,
  from: string,
  place: string,
  expressions: readonly Expression[],
): Promise<readonly ShapeColumn[]> {
  const columns: ShapeColumn[] = [];
  for (const { name, sql } of expressions) {
    const operand = operandOf(sql);
    const [field] = await session
      .describe(`select ${operand} from ${from} where ${operand} is null or true limit 0`, `describe \`${sql}\``)
      .catch((e: unknown) => {
        if (!isItsFault(e)) throw e;
        throw new SyncError('COLUMN_MISMATCH', `\`${sql}\` is no column of ${place}, nor SQL for a value of its rows`, {
          place: 'reader.parameter.column',
          ...(isSyncError(e) ? { hint: `The server says: ${e.message}` } : {}),
          cause: e,
        });
      });
    if (field === undefined) throw new SyncError('INTERNAL', `the server does not describe \`${sql}\``);
    columns.push({ ...queryColumn(field), name, expression: sql });
  }
  return columns;
}
