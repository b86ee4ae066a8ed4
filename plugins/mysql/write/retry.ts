/** Which failures another try may mend, and when it comes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SyncError, toSyncError } from 'syncx/plugin-api';
import { ER, errnoOf, isConnectionLost, isLockTrouble } from '../connect/mysql-errors.js';

/** How often one statement is tried, the first time included. */
export const TRIES = 5;

/**
 * `lost`: the connection is gone, and the transaction with it. `undone`: the server has rolled back the transaction.
 * `waited`: the statement waited too long for a lock; whether more than it was undone, a setting of the server tells.
 */
export type Trouble = 'lost' | 'undone' | 'waited';

export function troubleOf(e: unknown): Trouble | null {
  if (isConnectionLost(e)) return 'lost';
  if (!isLockTrouble(e)) return null;
  return errnoOf(e) === ER.LOCK_WAIT_TIMEOUT ? 'waited' : 'undone';
}

/** 0.1 s, 0.4 s, 1.6 s, 5 s, give or take a quarter, so that two lanes that met once do not meet again. */
export async function backOff(tries: number, signal: AbortSignal): Promise<void> {
  const ms = Math.min(5000, 100 * 4 ** (tries - 1)) * (0.75 + Math.random() / 2);
  await sleep(ms, undefined, { signal });
}

/** Without a cause: whoever gets it must not take it for the failure of one statement. */
export function triedInVain(e: unknown): SyncError {
  const s = toSyncError(e, 'SINK_IO');
  return new SyncError(s.code, `${s.message} (tried ${String(TRIES)} times)`, {
    retry: s.retry === 'never' ? 'retry' : s.retry,
    blame: s.blame,
    ...(s.place === undefined ? {} : { place: s.place }),
    ...(s.hint === undefined ? {} : { hint: s.hint }),
  });
}
