/** Exactly-once by branches of XA: rows and marker are prepared, and outlive the connection, the job and the server. */
import { SyncError, type Committable } from 'syncx/plugin-api';
import type { Session } from '../connect/session.js';
import { quoteText } from '../sql/names.js';
import type { Brackets } from './brackets.js';
import { fencedError, type CommitTable, type LaneId } from './commit-table.js';
import type { ConnectionMark } from './connection-mark.js';
import { committable, moveMarker, type LaneProtocol, type MarkerParts } from './protocol.js';
import { commitNow, listBranches, rollBackBranch, xidOf } from './xa.js';

/** The branch of a lane: the one that is open or prepared, and how it begins and is undone. */
export class LaneBranch implements Brackets {
  readonly #table: CommitTable;
  readonly #id: LaneId;
  #n = 0;
  #registered = false;
  /** The lane's row names the connection that is there. */
  #claimed = false;

  constructor(table: CommitTable, id: LaneId) {
    this.#table = table;
    this.#id = id;
  }

  get xid(): string {
    return xidOf(this.#id.runId, this.#id.attempt, this.#id.lane, this.#n);
  }

  /** @throws SyncError FENCED */
  readonly adopt = async (session: Session, mark: ConnectionMark): Promise<void> => {
    if (!this.#registered) {
      if (!(await this.#table.register(session, this.#id, mark))) throw this.#fenced();
      this.#registered = true;
      this.#claimed = true;
      return;
    }
    this.#claimed = false;
    if (await isPrepared(session, this.xid)) {
      // It holds the lane's row: who has it, must be read past the lock.
      const row = await this.#table.read(session, this.#id.runId, this.#id.lane);
      if (row?.attempt !== this.#id.attempt) throw this.#fenced();
    } else await this.#claim(session, mark);
  };

  /** Before a new branch, where the old one was in the way. */
  async claimLate(session: Session, mark: ConnectionMark | null): Promise<void> {
    if (!this.#claimed && mark !== null) await this.#claim(session, mark);
  }

  async #claim(session: Session, mark: ConnectionMark): Promise<void> {
    if (!(await this.#table.claim(session, this.#id, mark))) throw this.#fenced();
    this.#claimed = true;
  }

  async begin(session: Session): Promise<void> {
    this.#n++;
    await session.run(`xa start ${quoteText(this.xid)}`, 'begin a transaction');
  }

  async rollBack(session: Session): Promise<void> {
    // In whatever state it is: ended already, marked as to be rolled back, prepared.
    await session.run(`xa end ${quoteText(this.xid)}`, 'end a transaction').catch(() => undefined);
    await rollBackBranch(session, this.xid);
  }

  #fenced(): SyncError {
    return fencedError(this.#id, this.#table.shown);
  }
}

const isPrepared = async (session: Session, xid: string): Promise<boolean> =>
  (await listBranches(session)).some((b) => b.xid === xid);

export class XaProtocol implements LaneProtocol {
  readonly #p: MarkerParts;
  readonly #branch: LaneBranch;
  #prepared: string | null = null;

  constructor(parts: MarkerParts, branch: LaneBranch) {
    this.#p = parts;
    this.#branch = branch;
  }

  async begin(): Promise<void> {
    const { tx } = this.#p;
    await this.#branch.claimLate(await tx.ready(), tx.mark);
  }

  async prepare(epoch: number, rows: number): Promise<Committable> {
    const { tx, lane } = this.#p;
    await moveMarker(this.#p, epoch, rows);
    await tx.commit(
      async (session) => {
        const { xid } = this.#branch;
        await session.run(`xa end ${quoteText(xid)}`, 'end a transaction');
        await session.run(`xa prepare ${quoteText(xid)}`, 'prepare an epoch');
      },
      (session) => isPrepared(session, this.#branch.xid),
    );
    const { xid } = this.#branch;
    this.#prepared = xid;
    lane.failpoint('mysql.prepared');
    return committable(this.#p, epoch, rows, tx.mark?.id ?? '', xid);
  }

  async commit(epoch: number): Promise<void> {
    const { tx, table, id, lane } = this.#p;
    const xid = this.#prepared;
    if (xid === null) return;
    lane.failpoint('mysql.committing');
    await tx.outside(async (session) => {
      if (await commitNow(session, xid)) return;
      // Unknown: it was committed before the connection broke, or somebody has rolled it back.
      const row = await table.read(session, id.runId, id.lane);
      if (row !== null && row.epoch >= epoch) return;
      throw new SyncError('SINK_IO', `the prepared transaction ${xid} is gone, and its rows with it`, {
        place: this.#p.place,
        retry: 'reconnect',
        hint: 'The job goes on from its last checkpoint where it may restart.',
      });
    });
    this.#prepared = null;
    lane.failpoint('mysql.committed');
  }

  async abort(): Promise<void> {
    const { tx } = this.#p;
    const xid = this.#prepared;
    this.#prepared = null;
    await tx.abort();
    if (xid === null) return;
    // Where the connection is gone the branch is not; what is missed here is swept by the next start.
    await tx.outside((session) => rollBackBranch(session, xid)).catch(() => undefined);
  }
}
