/** Branches of XA: their names, and what becomes of those that nobody holds any more. */
import { isSyncError } from 'syncx/plugin-api';
import { ER, errnoOf } from '../connect/mysql-errors.js';
import type { Session } from '../connect/session.js';
import { quoteText } from '../sql/names.js';

/** A prepared branch of ours. */
export interface Branch {
  readonly xid: string;
  readonly runId: string;
  readonly attempt: number;
  readonly lane: number;
}

const OURS = /^syncx-([a-z0-9]+)-(\d+)-(\d+)-(\d+)$/;

/** `n` counts the transactions of the lane in this attempt: the epoch is not known when one begins. */
export const xidOf = (runId: string, attempt: number, lane: number, n: number): string =>
  `syncx-${runId}-${String(attempt)}-${String(lane)}-${String(n)}`;

/** All prepared branches of this tool on the server, by any job. */
export async function listBranches(session: Session): Promise<readonly Branch[]> {
  const rows = await session.queryBytes('xa recover', 'list prepared transactions');
  return rows.flatMap(([, gtrid, , data]) => {
    const xid = data?.subarray(0, Number(gtrid?.toString() ?? 0)).toString('latin1') ?? '';
    const m = OURS.exec(xid);
    if (m?.[1] === undefined) return [];
    return [{ xid, runId: m[1], attempt: Number(m[2]), lane: Number(m[3]) }];
  });
}

/** @returns false: there is none of that name, or its connection still lives. */
async function end(session: Session, how: 'commit' | 'rollback', xid: string): Promise<boolean> {
  try {
    await session.run(
      `xa ${how} ${quoteText(xid)}`,
      `${how === 'commit' ? 'commit' : 'roll back'} a prepared transaction`,
    );
    return true;
  } catch (e) {
    if (isSyncError(e) && errnoOf(e) === ER.XAER_NOTA) return false;
    throw e;
  }
}

export const rollBackBranch = (session: Session, xid: string): Promise<boolean> => end(session, 'rollback', xid);

/** Only what is ours. @returns false: it is not listed, or its connection still lives. */
export async function rollBackListed(session: Session, xid: string): Promise<boolean> {
  const listed = (await listBranches(session)).some((b) => b.xid === xid);
  return listed && (await rollBackBranch(session, xid));
}

/** On the connection that prepared it, or on another once that is gone. @returns false: there is none of that name. */
export const commitNow = (session: Session, xid: string): Promise<boolean> => end(session, 'commit', xid);

/** Only where it is listed: XA COMMIT of a name that is unknown says nothing. */
export async function commitBranch(session: Session, xid: string): Promise<boolean> {
  const listed = (await listBranches(session)).some((b) => b.xid === xid);
  return listed && (await end(session, 'commit', xid));
}

/** @returns how many there were. */
export async function rollBackBranches(session: Session, runId: string, attempts: readonly number[]): Promise<number> {
  let n = 0;
  for (const b of await listBranches(session)) {
    // Attempt 0 is the probe of a start that was killed over it.
    const theirs = b.runId === runId && (b.attempt === 0 || attempts.includes(b.attempt));
    if (theirs && (await rollBackBranch(session, b.xid))) n++;
  }
  return n;
}
