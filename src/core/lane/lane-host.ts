/**
 * A lane as the coordinator sees it. Only JSON crosses, so a host may run its lane in this thread or in a worker.
 * docs/specs/checkpoint-protocol.md gives the order of the calls.
 */
import type { ErrorReport, JsonValue, Position, RejectedRow, RunIdentity, Split } from '../../plugin-api/index.js';
import type { LaneRecord } from '../checkpoint/format.js';
import type { Counters } from '../job/run-types.js';

export interface LaneOpen {
  readonly run: RunIdentity;
  readonly lane: number;
  readonly lanes: number;
  readonly shared: JsonValue;
  readonly writerState: JsonValue | null;
  readonly dirtyDir: string;
}

/** The barrier has reached the writer: all rows before it are written, none after it. */
export interface BarrierReport {
  readonly lane: number;
  /** False: nothing was read since the last epoch. */
  readonly changed: boolean;
}

export interface LaneEvents {
  /** The lane has room for another bounded split. `epoch`: the one its next rows belong to. */
  wantSplit(lane: number, epoch: number): void;
  splitEnd(lane: number, epoch: number, splitId: string, outcome: JsonValue): void;
  /** The lane can't go on, or not for long, without an end of `epoch` (a schema change, a writer's limit). */
  wantCheckpoint(lane: number, epoch: number, why: string): void;
  /** The first few dirty rows of the lane, for the message of a job that has too many. */
  dirty(lane: number, rows: readonly RejectedRow[]): void;
  failed(lane: number, error: ErrorReport): void;
}

export interface LaneHost {
  open(init: LaneOpen): Promise<void>;
  /** Starts reading; `epoch` is the number of the epoch that the first rows belong to. */
  start(epoch: number): void;
  assign(split: Split, from: Position | null): void;
  /** Resolves when the barrier has reached the writer, which is then held. */
  barrier(epoch: number): Promise<BarrierReport>;
  /** The barrier is withdrawn, before any prepare: the epoch grows. */
  cancel(epoch: number): Promise<void>;
  /** Nothing changed: the held writer goes on, with nothing prepared. `hold`: it stays held, the job stops here. */
  skip(epoch: number, hold: boolean): Promise<void>;
  prepare(epoch: number): Promise<LaneRecord>;
  /** `hold`: the writer stays held, so that an at-least-once target gets no row past the last checkpoint. */
  commit(epoch: number, hold: boolean): Promise<void>;
  /**
   * Stops both loops and closes both ends. `undo`: the epoch is not durable, so its traces go; false leaves what is
   * prepared for recovery.
   */
  close(end: LaneEnd): Promise<void>;
  /** Live, for progress: what the lane moved in this attempt. */
  counters(): Counters;
}

export interface LaneEnd {
  /** The epoch to undo; null: leave everything as it is. */
  readonly undo: number | null;
  /** Keep the epoch's dirty rows in a file marked not committed (the dirty limit was passed). */
  readonly keepDirty: boolean;
}
