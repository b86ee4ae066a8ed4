/** Waiting for those who may still commit rows below a highest value that was just read. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogicalType, Logger } from 'syncx/plugin-api';
import { isDenied } from '../../connect/mysql-errors.js';
import type { Session } from '../../connect/session.js';
import { quoteText } from '../../sql/names.js';

/** InnoDB gives its list of transactions from a cache that is up to 100 ms old, and older where it is asked more often. */
const FRESH_MS = 120;

/** Transactions that wrote something, and statements that may be about to; not those that only read, of which some take hours. */
const WRITERS = `select trx_id from information_schema.innodb_trx where trx_mysql_thread_id <> connection_id()
  and (trx_rows_modified > 0 or (trx_query is not null and trx_query not regexp '^[[:space:]]*(select|show|flush|checksum)'))`;

/** Zones differ by multiples of it: a DATETIME may be of any. */
const ZONE_STEP_S = 900;
const TICK_MS = 1000;

/**
 * Of a time in whole seconds that is now's: waits until the second is over. A row that is changed once more in the second in
 * which it was read would keep its value, and no run could tell.
 */
export async function waitForTick(
  session: Session,
  type: LogicalType,
  value: string,
  signal: AbortSignal,
): Promise<void> {
  if ((type.is !== 'datetime' && type.is !== 'timestamp') || type.fraction > 0) return;
  const age = `timestampdiff(second, ${quoteText(value)}, utc_timestamp())`;
  const [row] = await session.query(`select mod(${age}, ${String(ZONE_STEP_S)})`, "look at the server's clock");
  const seconds = Number(row?.[0] ?? ZONE_STEP_S);
  if (seconds === 0 || seconds === -1) await sleep(TICK_MS, undefined, { signal });
}

const idsOf = (rows: readonly (readonly (string | null)[])[]): readonly string[] => rows.map(([id]) => id ?? '');

/** Returns once all transactions that are open now have ended, or after `limitMs`, with a warning. */
export async function waitForWriters(
  session: Session,
  limitMs: number,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  if (limitMs === 0) return;
  const until = performance.now() + limitMs;
  const doing = 'look for open transactions';
  let open: readonly string[];
  try {
    await sleep(FRESH_MS, undefined, { signal });
    open = idsOf(await session.query(WRITERS, doing));
  } catch (e) {
    if (!isDenied(e)) throw e;
    log.warn(
      {},
      'the user may not see open transactions (right PROCESS): rows that one of them commits late with an old value are missed; see increLookback',
    );
    return;
  }
  if (open.length > 0) {
    const most = `at most ${String(limitMs / 1000)} s`;
    log.info({ transactions: open.length }, `waits for open transactions, which may still commit old values, ${most}`);
  }
  while (open.length > 0) {
    if (performance.now() > until) {
      log.warn(
        { transactions: open.length },
        `transactions are still open after ${String(limitMs / 1000)} s: rows that they commit with an old value are missed; see increWait and increLookback`,
      );
      return;
    }
    await sleep(FRESH_MS, undefined, { signal });
    const list = open.map(quoteText).join(', ');
    open = idsOf(
      await session.query(`select trx_id from information_schema.innodb_trx where trx_id in (${list})`, doing),
    );
  }
}
