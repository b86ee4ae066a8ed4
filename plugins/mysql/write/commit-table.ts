/**
 * The table that notes which epochs are committed. One row for each lane of a run, moved to epoch N in the transaction that
 * holds the rows of N; and one for the run itself (lane -1), for what happens once.
 */
import { SyncError, type RunIdentity } from 'syncx/plugin-api';
import { ER, errnoOf } from '../connect/mysql-errors.js';
import type { Session } from '../connect/session.js';
import { quoteTable, quoteText, showTable, type TableName } from '../sql/names.js';
import { formatMark, parseMark, type ConnectionMark } from './connection-mark.js';

/** The row of the run itself. Its epoch is how far the run's own steps have come. */
export const RUN_LANE = -1;
export const RUN_BEGUN = 1;
export const RUN_COMPLETED = 2;

export interface LaneMarker {
  readonly lane: number;
  readonly epoch: number;
  readonly attempt: number;
  readonly mark: ConnectionMark | null;
  readonly rows: number;
}

export interface LaneId {
  readonly runId: string;
  readonly lane: number;
  readonly attempt: number;
}

const OLD_DAYS = 30;

/**
 * Stands in the table's comment; a table without one is of format 1. A later format that only adds columns with defaults keeps
 * the number, as all statements here name their columns. Another one gets the next number, and an ALTER TABLE in `create` that
 * comes before its first row; who knows less refuses it.
 */
const FORMAT = 1;
const COMMENT = `syncx commit table, format ${String(FORMAT)}`;
const FORMAT_OF = /^syncx commit table, format (\d+)/;

const columns = `
  run_id varchar(64) character set ascii collate ascii_bin not null,
  lane int not null,
  epoch bigint not null,
  attempt int not null,
  connection varchar(64) character set ascii not null,
  written bigint not null,
  updated_at datetime not null,
  primary key (run_id, lane)`;

export class CommitTable {
  readonly name: TableName;
  readonly #sql: string;

  constructor(name: TableName) {
    this.name = name;
    this.#sql = quoteTable(name);
  }

  get shown(): string {
    return showTable(this.name);
  }

  /** @throws SyncError SINK_IO, `never`, naming the right that is missing. */
  async create(session: Session): Promise<void> {
    try {
      await session.run(
        `create table if not exists ${this.#sql} (${columns}) engine=InnoDB comment=${quoteText(COMMENT)}`,
        `create ${this.shown}`,
      );
    } catch (e) {
      if (await this.isThere(session)) return; // a user without CREATE is told so even where it is there
      throw new SyncError('SINK_IO', `the commit table ${this.shown} cannot be created: ${(e as Error).message}`, {
        place: this.shown,
        retry: errnoOf(e) === 0 ? 'reconnect' : 'never',
        blame: 'config',
        hint: `Grant CREATE, SELECT, INSERT, UPDATE and DELETE on it, create it yourself, name another one with commitTable, or set semantic to at-least-once.`,
      });
    }
  }

  /** @throws SyncError STATE_MISFIT where a later version made the table in another form. */
  async checkFormat(session: Session): Promise<void> {
    const { database, table } = this.name;
    const [row] = await session.query(
      `select table_comment from information_schema.tables
       where table_schema = ${quoteText(database)} and table_name = ${quoteText(table)}`,
      `look at ${this.shown}`,
    );
    const format = Number(FORMAT_OF.exec(row?.[0] ?? '')?.[1] ?? FORMAT);
    if (format <= FORMAT) return;
    throw new SyncError(
      'STATE_MISFIT',
      `the commit table ${this.shown} is of format ${String(format)}, and this version knows ${String(FORMAT)}`,
      {
        place: this.shown,
        hint: 'Run the job with the version that made it, or name another commitTable.',
      },
    );
  }

  async isThere(session: Session): Promise<boolean> {
    try {
      await session.query(`select run_id from ${this.#sql} limit 0`, `look at ${this.shown}`);
      return true;
    } catch (e) {
      if (errnoOf(e) === ER.NO_SUCH_TABLE || errnoOf(e) === ER.TABLE_DENIED) return false;
      throw e;
    }
  }

  /**
   * Makes the lane's row, or takes over that of an earlier attempt. Committed at once: from now on its absence says that
   * somebody deleted it. @returns false: a newer attempt has it.
   */
  async register(session: Session, l: LaneId, mark: ConnectionMark | null): Promise<boolean> {
    const connection = quoteText(mark === null ? '' : formatMark(mark));
    const attempt = String(l.attempt);
    await session.run(
      `insert into ${this.#sql} (run_id, lane, epoch, attempt, connection, written, updated_at)
       values (${quoteText(l.runId)}, ${String(l.lane)}, 0, ${attempt}, ${connection}, 0, utc_timestamp())
       on duplicate key update connection = if(attempt <= ${attempt}, ${connection}, connection),
         updated_at = utc_timestamp(), attempt = greatest(attempt, ${attempt})`,
      `take over the marker of lane ${String(l.lane)} in ${this.shown}`,
    );
    const row = await this.read(session, l.runId, l.lane);
    return row !== null && row.attempt === l.attempt;
  }

  /** Notes the lane's new connection; committed at once. @returns false: the row is not this attempt's any more. */
  async claim(session: Session, l: LaneId, mark: ConnectionMark): Promise<boolean> {
    const { affected } = await session.run(
      `update ${this.#sql} set connection = ${quoteText(formatMark(mark))}, updated_at = utc_timestamp()
       where run_id = ${quoteText(l.runId)} and lane = ${String(l.lane)} and attempt = ${String(l.attempt)}`,
      `note a connection in ${this.shown}`,
    );
    return affected > 0;
  }

  /**
   * A statement for inside the transaction: it matches no row where a newer attempt has taken over. The connection is not
   * among it: the statement may be sent again on another one, which `claim` has noted.
   */
  moveTo(epoch: number, l: LaneId, rows: number): string {
    return `update ${this.#sql} set epoch = ${String(epoch)}, written = written + ${String(rows)}, updated_at = utc_timestamp()
      where run_id = ${quoteText(l.runId)} and lane = ${String(l.lane)} and attempt = ${String(l.attempt)}`;
  }

  async read(session: Session, runId: string, lane: number): Promise<LaneMarker | null> {
    return (await this.#rows(session, `run_id = ${quoteText(runId)} and lane = ${String(lane)}`))[0] ?? null;
  }

  /** Waits for a transaction that has moved the row, so that what it tells is final. */
  async readLocked(session: Session, runId: string, lane: number): Promise<LaneMarker | null> {
    const where = `run_id = ${quoteText(runId)} and lane = ${String(lane)} for update`;
    return (await this.#rows(session, where))[0] ?? null;
  }

  /** All lanes of a run, by lane; empty also where there is no such table. */
  async ofRun(session: Session, runId: string): Promise<readonly LaneMarker[]> {
    try {
      return await this.#rows(session, `run_id = ${quoteText(runId)} and lane >= 0 order by lane`);
    } catch (e) {
      if (errnoOf(e) === ER.NO_SUCH_TABLE) return [];
      throw e;
    }
  }

  async #rows(session: Session, where: string): Promise<readonly LaneMarker[]> {
    const rows = await session.query(
      `select lane, epoch, attempt, connection, written from ${this.#sql} where ${where}`,
      `read ${this.shown}`,
    );
    return rows.map(([lane, epoch, attempt, connection, written]) => ({
      lane: Number(lane),
      epoch: Number(epoch),
      attempt: Number(attempt),
      mark: parseMark(connection ?? ''),
      rows: Number(written),
    }));
  }

  /** After this no earlier attempt can move the row; waits for the one that has. */
  async fence(session: Session, l: LaneId): Promise<void> {
    await session.run(
      `update ${this.#sql} set attempt = ${String(l.attempt)}
       where run_id = ${quoteText(l.runId)} and lane = ${String(l.lane)} and attempt < ${String(l.attempt)}`,
      `fence the earlier starts in ${this.shown}`,
    );
  }

  async clearMark(session: Session, runId: string, lane: number): Promise<void> {
    await session.run(
      `update ${this.#sql} set connection = '' where run_id = ${quoteText(runId)} and lane = ${String(lane)}`,
      `note in ${this.shown} that a connection is gone`,
    );
  }

  /** The run's own row, in the transaction that is open. */
  async note(session: Session, run: RunIdentity, step: number): Promise<void> {
    await session.run(
      `insert into ${this.#sql} (run_id, lane, epoch, attempt, connection, written, updated_at)
       values (${quoteText(run.runId)}, ${String(RUN_LANE)}, ${String(step)}, ${String(run.attempt)}, '', 0, utc_timestamp())
       on duplicate key update epoch = greatest(epoch, ${String(step)}), updated_at = utc_timestamp()`,
      `note the run in ${this.shown}`,
    );
  }

  /** Rows of other runs that nobody has touched for 30 days. One run at a time, by key: a scan would wait for open epochs. */
  async forgetOld(session: Session, runId: string): Promise<void> {
    const old = await session.query(
      `select run_id from ${this.#sql} where run_id <> ${quoteText(runId)} group by run_id
       having max(updated_at) < utc_timestamp() - interval ${String(OLD_DAYS)} day`,
      `look for old rows in ${this.shown}`,
    );
    for (const [id] of old) {
      await session.run(`delete from ${this.#sql} where run_id = ${quoteText(id ?? '')}`, `tidy up ${this.shown}`);
    }
  }
}

/** @throws FENCED: said by whoever finds its row in other hands. */
export function fencedError(l: LaneId, table: string): SyncError {
  const hint = 'Let that start go on; this one has written nothing since its last commit.';
  const message = `a newer start of run ${l.runId} has taken over lane ${String(l.lane)}`;
  return new SyncError('FENCED', message, { place: table, hint });
}
