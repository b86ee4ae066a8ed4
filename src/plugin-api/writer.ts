import type { LaneContext, RunIdentity, RunRecord } from './context.js';
import type { PlanColumn, WriterFacts } from './explain.js';
import type { JsonValue } from './json.js';
import type { RejectedRow, RowBatch } from './row-batch.js';
import type { SchemaChange } from './row-schema.js';

/** How many bytes of cells one lane may put into an epoch. */
export interface EpochLimit {
  /** From here on the lane asks for a checkpoint; it takes rows up to twice this while it waits for one. */
  readonly bytes: number;
  /** A source transaction that is longer goes on past that, up to here; beyond it is an error. */
  readonly hardBytes: number;
}

/** What the writer promises by itself; the pair's promise is the weaker of reader and writer. */
export type Delivery = 'exactly-once' | 'effectively-once-by-key' | 'at-least-once' | 'at-most-once';

export interface WriteResult {
  /** Rows refused since the last call, of this batch or of earlier ones. Null: none. */
  readonly rejected: readonly RejectedRow[] | null;
  /** Bytes handed towards the target since the last call. */
  readonly bytes: number;
}

/**
 * A prepared piece of an epoch: durable, invisible, and described well enough that another process can commit it.
 * The checkpoint keeps it beside the (split, from, to) of its lane's epoch.
 */
export interface Committable {
  readonly data: JsonValue;
  /** Where the rows will be, and how many they are: for the person who must decide where nobody else can tell. */
  readonly place?: string;
  readonly rows?: number;
}

export interface Prepared extends WriteResult {
  readonly committables: readonly Committable[];
  /** What `openLane` gets back after a restart. Null where the writer keeps none. */
  readonly state: JsonValue | null;
}

/** What a writer is told with `prepare`. */
export interface PrepareHint {
  /**
   * No further epoch follows in this start: everything must be visible after its commit. Else a writer may keep rows in
   * a piece that is not finished (a file that stays open): durable, named by its state, and visible after a later commit.
   */
  readonly last: boolean;
}

/**
 * Committed rows that are not visible yet. `later`: nothing is due, but a last epoch must be made for them. `now`: the
 * next checkpoint makes an epoch for them, even if nothing was read.
 */
export type Unfinished = 'none' | 'later' | 'now';

/**
 * Writes the rows of one lane. Calls come one after another. The first `write` of an epoch begins its transaction.
 * Disposing without a commit must leave nothing visible; it may be done twice.
 */
export interface LaneWriter extends AsyncDisposable {
  /** Resolves when ready for more: back-pressure. Afterwards the batch's buffers may be reused. */
  write(batch: RowBatch, signal: AbortSignal): Promise<WriteResult>;
  /** Called with nothing open, before the first row of the new schema. Idempotent. */
  schema?(change: SchemaChange): Promise<void>;
  /** Phase 1: all rows since the last prepare are durable and invisible when it resolves. No hint: as with `last`. */
  prepare(epoch: number, hint?: PrepareHint): Promise<Prepared>;
  /** Asked at each barrier, by writers that keep pieces over epochs. Without it: `none`. */
  unfinished?(): Unfinished;
  /**
   * Phase 2, after the checkpoint is durable: resolves only when the rows are visible and durable, but for those in pieces
   * that `prepare` was allowed to keep. Idempotent.
   */
  commit(epoch: number): Promise<void>;
  /** The epoch will not be committed: undo what `write` and `prepare` did. */
  abort(epoch: number): Promise<void>;
}

export type RecoverAnswer = 'committed' | 'lost' | 'unknown';

export interface SweepReport {
  /** Left-overs removed: staged files, open transactions, prepared branches. */
  readonly removed: number;
}

/** Recovery only. Gets plain JSON and may run in any process, with no lane open. */
export interface Committer {
  /**
   * Rolls forward what can be, then answers for each. `lost` only where the evidence would still be there had it been
   * committed; in doubt, `unknown`: guessing is forbidden.
   */
  recover(run: RunIdentity, committables: readonly Committable[]): Promise<readonly RecoverAnswer[]>;
  /**
   * Removes what these attempts of these runs left and nobody will commit. Never touches anything of other runs, of newer
   * attempts, nor published data.
   */
  sweep(runs: readonly RunRecord[]): Promise<SweepReport>;
  /** The highest epoch of the run that the target shows; 0: none, or it can't be told. */
  highWater(runId: string): Promise<number>;
}

/** A transaction that is prepared at the target, and neither committed nor rolled back. */
export interface PreparedBranch {
  /** As the target names it. */
  readonly id: string;
  readonly runId: string;
  readonly attempt: number;
  readonly lane: number;
}

/** For `sync xa`: prepared transactions of this tool at the target, those of other jobs too. */
export interface PreparedBranches {
  list(): Promise<readonly PreparedBranch[]>;
  /**
   * False: there is none of that name, or the connection that prepared it still lives. A run whose epoch it was finds it
   * lost when it goes on, and writes those rows again.
   */
  rollBack(id: string): Promise<boolean>;
}

export interface Writer {
  readonly delivery: Delivery;
  /** True: `write` of epoch N+1 may come between prepare(N) and commit(N). */
  readonly pipelined?: boolean;
  /** True: `begin` empties or replaces the whole target, so starting anew repairs everything. */
  readonly replacesTarget?: boolean;
  /** Where an epoch must stay small: its rows sit in one open transaction of the target. Asked before the lanes open. */
  readonly epochLimit?: EpochLimit;
  /** Where the target cannot take rows of more lanes than these at once (stdout). */
  readonly maxLanes?: number;
  /**
   * For `sync plan`: what would be written, the target as it is, and what is in the way. `from`: the columns that will
   * come; null: not known before rows do. `resumes`: id of the run that would go on; null: a new one would begin. May
   * connect; changes nothing, and makes no folder. Without it the plan says less.
   */
  explain?(from: readonly PlanColumn[] | null, resumes: string | null): Promise<WriterFacts>;
  /**
   * Before epoch 1; runs again if the process died before it was noted. Idempotent. `coming`: the columns that rows will have,
   * a list for each kind of them, as far as they are known. Where they do not fit the target it is refused unchanged.
   */
  begin(run: RunIdentity, coming?: readonly (readonly PlanColumn[])[]): Promise<void>;
  /** `restored`: the state of the last committed `prepare` of this lane, or null. */
  openLane(lane: LaneContext, restored: JsonValue | null): Promise<LaneWriter>;
  /** Redistributes lane states when the number of lanes changed. Without it states must all be null then. */
  recoverLanes?(states: readonly (JsonValue | null)[], lanes: number): readonly (JsonValue | null)[];
  readonly committer?: Committer;
  /** Where the target keeps prepared transactions that can be listed. */
  readonly branches?: PreparedBranches;
  /** After the last commit; runs again if the process died before it was noted. Idempotent. */
  complete(run: RunIdentity): Promise<void>;
  close?(): Promise<void>;
}
