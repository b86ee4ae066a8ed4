/** Which connection of which life of the server: so that a later start can end it, and never another one of the same number. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isSyncError } from 'syncx/plugin-api';
import { ER, errnoOf } from '../connect/mysql-errors.js';
import type { Session } from '../connect/session.js';

export interface ConnectionMark {
  /** Digits. */
  readonly id: string;
  /** When the server was started, in seconds since 1970; connection ids begin anew then. */
  readonly serverStart: number;
}

/** The clock may be set right a little, and both times are whole seconds. */
const SAME_START_S = 10;
const GONE_MS = 5000;
const ER_KILL_DENIED = 1095;

export async function markOf(session: Session): Promise<ConnectionMark> {
  return { id: session.server.connectionId, serverStart: await serverStart(session) };
}

async function serverStart(session: Session): Promise<number> {
  const [now] = await session.query('select unix_timestamp()', 'ask the server for its time');
  const [uptime] = await session.query("show global status like 'Uptime'", 'ask the server for its uptime');
  return Number(now?.[0] ?? 0) - Number(uptime?.[1] ?? 0);
}

export const formatMark = (m: ConnectionMark): string => `${m.id}@${String(m.serverStart)}`;

export function parseMark(text: string): ConnectionMark | null {
  const m = /^(\d+)@(\d+)$/.exec(text);
  return m?.[1] === undefined ? null : { id: m[1], serverStart: Number(m[2]) };
}

/**
 * Ends that connection, with its transaction, and waits until it is gone (5 s at most).
 * @returns whether it was still there. A connection that we may not end is left alone.
 */
export async function killMarked(session: Session, mark: ConnectionMark): Promise<boolean> {
  if (mark.id === session.server.connectionId) return false;
  if (Math.abs((await serverStart(session)) - mark.serverStart) > SAME_START_S) return false;
  try {
    await session.run(`kill ${mark.id}`, 'end an earlier connection of this job');
  } catch (e) {
    const number = isSyncError(e) ? errnoOf(e) : 0;
    if (number === ER.NO_SUCH_THREAD || number === ER_KILL_DENIED) return false;
    throw e;
  }
  const end = performance.now() + GONE_MS;
  while (await isThere(session, mark.id)) {
    if (performance.now() > end) break;
    await sleep(20);
  }
  return true;
}

async function isThere(session: Session, id: string): Promise<boolean> {
  const sql = `select 1 from information_schema.processlist where id = ${id}`;
  return (await session.query(sql, 'look for an earlier connection')).length > 0;
}
