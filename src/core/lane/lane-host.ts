/**
 * A lane as the coordinator sees it. Only JSON crosses, so a host may run its lane in this thread or in a worker.
 * docs/specs/checkpoint-protocol.md gives the order of the calls.
 */
import type {
  ErrorReport,
  JsonObject,
  JsonValue,
  Position,
  RejectedRow,
  RunIdentity,
  Split,
  Unfinished,
} from '../../plugin-api/index.js';
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
  /** Schema changes wait for what stands before the barrier: no lane may write on until they are made. */
  readonly alters: boolean;
  /** What the writer keeps of earlier epochs. */
  readonly unfinished: Unfinished;
}

export interface LaneEvents {
  /** The lane has room for another bounded split. `epoch`: the one its next rows belong to. */
  wantSplit(lane: number, epoch: number): void;
  splitEnd(lane: number, epoch: number, splitId: string, outcome: JsonValue): void;
  /** The lane can't go on, or not for long, without an end of `epoch` (a schema change, a writer's limit). */
  wantCheckpoint(lane: number, epoch: number): void;
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
  /** The barrier is taken back, before any prepare: the epoch grows. */
  cancel(epoch: number): Promise<void>;
  /** `hold`: the writer stays held also where it is pipelined. `last`: no further epoch follows in this attempt. */
  prepare(epoch: number, hold: boolean, last: boolean): Promise<LaneRecord>;
  /** `hold`: the writer stays held. At a stop, so that an at-least-once target gets no row past the last checkpoint. */
  commit(epoch: number, hold: boolean): Promise<void>;
  /** Makes the schema changes that waited for the barrier, while all lanes are held with nothing open. */
  alter(epoch: number): Promise<void>;
  /** After a held commit: the writer goes on. */
  release(epoch: number): Promise<void>;
  /**
   * Stops both loops and closes both ends. `undo`: the epoch is not durable, so its traces go; false leaves what is
   * prepared for recovery.
   */
  close(end: LaneEnd): Promise<void>;
  /** Live, for progress: what the lane moved in this attempt. */
  counters(): Counters;
  /** The lane's instruments, as of a moment ago. */
  metrics(): JsonObject;
}

export interface LaneEnd {
  /** The epoch to undo; null: leave everything as it is. */
  readonly undo: number | null;
  /** Keep the epoch's dirty rows in a file marked not committed (the dirty limit was passed). */
  readonly keepDirty: boolean;
}
