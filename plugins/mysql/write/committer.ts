import type {
  Committable,
  Committer,
  Logger,
  RecoverAnswer,
  RunIdentity,
  RunRecord,
  SweepReport,
} from 'syncx/plugin-api';
import { ER, errnoOf } from '../connect/mysql-errors.js';
import type { Session } from '../connect/session.js';
import { CommitTable, fencedError, type LaneId, type LaneMarker } from './commit-table.js';
import { killMarked } from './connection-mark.js';
import { committableData, type CommittableData } from './protocol.js';
import { commitBranch, rollBackBranches } from './xa.js';

export interface CommitterParts {
  open(): Promise<Session>;
  /** Of today's job; committables name their own. */
  readonly table: CommitTable;
  /** False: the run writes no markers, and its user need not see the table. */
  readonly exactlyOnce: boolean;
  /** Prepared branches may be there; listing them takes a right that a job with markers need not have. */
  readonly xa: boolean;
  /** Removes what belongs to a run as a whole and nobody will go on with. */
  giveUp(session: Session, runId: string): Promise<void>;
  readonly log: Logger;
  failpoint(step: string): void;
}

/** How long a session of a dead start may take to end by itself: a COMMIT that is under way is let through. */
const POLITE_S = 2;
/** After that it is killed; rolling back a large transaction takes its time. */
const PATIENT_S = 60;

/** Committables in, facts out: by the marker rows, once no earlier start can change them any more. */
export class MysqlCommitter implements Committer {
  readonly #p: CommitterParts;

  constructor(parts: CommitterParts) {
    this.#p = parts;
  }

  recover(run: RunIdentity, committables: readonly Committable[]): Promise<readonly RecoverAnswer[]> {
    return this.#with(async (session) => {
      const answers: RecoverAnswer[] = [];
      for (const c of committables) answers.push(await this.#recoverOne(session, run, committableData(c)));
      return answers;
    });
  }

  sweep(runs: readonly RunRecord[]): Promise<SweepReport> {
    return this.#with(async (session) => {
      let removed = 0;
      for (const run of runs) {
        const branches = (s: Session): Promise<number> =>
          this.#p.xa ? rollBackBranches(s, run.runId, run.attempts) : Promise.resolve(0);
        removed += await branches(session);
        const attempt = Math.max(...run.attempts);
        for (const row of await this.#markers(session, run.runId)) {
          if (row.attempt > attempt)
            throw fencedError({ runId: run.runId, lane: row.lane, attempt }, this.#p.table.shown);
          const id: LaneId = { runId: run.runId, lane: row.lane, attempt };
          removed += await this.#fence(session, this.#p.table, id, branches);
          // One that has prepared nothing holds locks on rows of the target, not on the marker.
          if (row.mark === null) continue;
          if (await killMarked(session, row.mark)) removed++;
          await this.#p.table.clearMark(session, run.runId, row.lane);
        }
        if (run.givenUp) await this.#p.giveUp(session, run.runId);
      }
      return { removed };
    });
  }

  highWater(runId: string): Promise<number> {
    return this.#with(async (session) => {
      const rows = await this.#markers(session, runId);
      return rows.reduce((most, r) => Math.max(most, r.epoch), 0);
    });
  }

  async #markers(session: Session, runId: string): Promise<readonly LaneMarker[]> {
    try {
      return await this.#p.table.ofRun(session, runId);
    } catch (e) {
      if (!this.#p.exactlyOnce && errnoOf(e) === ER.TABLE_DENIED) return [];
      throw e;
    }
  }

  async #recoverOne(session: Session, run: RunIdentity, c: CommittableData): Promise<RecoverAnswer> {
    const table = new CommitTable(c.commitTable);
    if (!(await table.isThere(session))) return 'unknown';
    await table.checkFormat(session);
    const id: LaneId = { runId: c.runId, lane: c.lane, attempt: run.attempt };
    const { xid } = c;
    const rollForward = async (s: Session): Promise<number> => (xid !== null && (await commitBranch(s, xid)) ? 1 : 0);
    await rollForward(session);
    await this.#fence(session, table, id, rollForward);
    this.#p.failpoint('mysql.fenced');
    const row = await table.read(session, c.runId, c.lane);
    if (row === null) return 'unknown';
    if (row.attempt > run.attempt) throw fencedError(id, table.shown);
    this.#p.failpoint('mysql.recovered');
    return row.epoch >= c.epoch ? 'committed' : 'lost';
  }

  /**
   * Commits the newest attempt into the lane's row, which waits for a transaction that has moved it; one that does not end
   * is ended. `between`: what else may hold the row, prepared branches. @returns how much was ended.
   */
  async #fence(
    session: Session,
    table: CommitTable,
    id: LaneId,
    between: (session: Session) => Promise<number>,
  ): Promise<number> {
    const end = performance.now() + PATIENT_S * 1000;
    let ended = 0;
    for (;;) {
      try {
        await table.fence(session, id);
        return ended;
      } catch (e) {
        const number = errnoOf(e);
        if (number !== ER.LOCK_WAIT_TIMEOUT && number !== ER.DEADLOCK) throw e;
        if (performance.now() > end) throw e;
      }
      const row = await table.read(session, id.runId, id.lane);
      if (row?.mark && (await killMarked(session, row.mark))) {
        ended++;
        this.#p.log.warn(
          { lane: id.lane, connection: row.mark.id },
          'an earlier start of this run still held its transaction open; its connection was ended',
        );
      }
      ended += await between(session);
    }
  }

  async #with<T>(f: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.#p.open();
    try {
      const wait = `set session innodb_lock_wait_timeout = ${String(POLITE_S)}`;
      await session.run(wait, 'set how long to wait for locks');
      return await f(session);
    } finally {
      await session[Symbol.asyncDispose]();
    }
  }
}
