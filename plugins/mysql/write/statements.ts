/** The seam between what rows become (row-writer) and the transaction that carries it (epoch-transaction). */
import type { RunResult, Session } from '../connect/session.js';

/**
 * Statements of one open transaction. An implementation bears deadlocks, lock waits and lost connections by sending again all
 * that it has taken since the transaction began; so whatever resolves is in the transaction once, until commit or abort.
 * It rejects with a SyncError whose `cause` is the server's error: only that one statement was undone by the server then.
 */
export interface Statements {
  /** For facts of the server and for reads; may be another one after each call. */
  readonly session: Session;
  /** Bytes as `statementBuffer` makes them; the buffer belongs to the transaction afterwards. */
  run(statement: Buffer, doing: string): Promise<RunResult>;
  /** LOAD DATA LOCAL, with the packets of its file. */
  load(sql: string, packets: readonly Buffer[], doing: string): Promise<RunResult>;
  /** What follows can be undone by `rollBack`, until the next savepoint. */
  savepoint(): Promise<void>;
  rollBack(): Promise<void>;
}
