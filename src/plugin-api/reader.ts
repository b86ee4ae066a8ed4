import type { LaneContext } from './context.js';
import type { PlanColumn, ReaderFacts, SplitFacts } from './explain.js';
import type { JsonValue } from './json.js';
import type { Position, PositionCodec } from './position.js';
import type { Digest } from './read-back.js';
import type { RowBatch } from './row-batch.js';
import type { SchemaChange } from './row-schema.js';
import type { Split, SplitPlanner } from './split.js';

/** The split was read to its end; no more items of it follow. Never sent for an error: an error is thrown. */
export interface SplitEnd {
  readonly is: 'splitEnd';
  readonly splitId: string;
  readonly position: Position;
  /** Facts for the planner, say a snapshot chunk's high watermark. */
  readonly outcome: JsonValue;
}

export type ReadItem = RowBatch | SplitEnd | SchemaChange;

/**
 * Reads the splits of one lane. `assign`, `hold` and `release` may be called while `read` is waiting.
 * Disposing closes everything within 2 s, also after an error, and may be done twice.
 */
export interface LaneReader extends AsyncDisposable {
  /** `from` null: from the split's start. */
  assign(split: Split, from: Position | null): void;
  /** Held splits must yield nothing until released; a batch already under way may still come. */
  hold(splitIds: readonly string[]): void;
  release(splitIds: readonly string[]): void;
  /** Called once. Ends only on abort; with nothing assigned it waits. */
  read(signal: AbortSignal): AsyncIterable<ReadItem>;
}

/**
 * What one run of a job with a cursor reads: above `lower`, up to and with `upper`. The values are the reader's own JSON.
 * `lower` null: from the start; `upper` null: the source has nothing yet.
 */
export interface CursorBounds {
  readonly lower: JsonValue | null;
  readonly upper: JsonValue | null;
}

export interface Reader {
  readonly positions: PositionCodec;
  /** False: what was read cannot be read again (stdin, a socket), so no pair with it is exactly-once. */
  readonly replayable: boolean;
  /**
   * `saved` is an earlier `snapshot()`, or null on a fresh start. `lanes`: how many may read side by side, in this start;
   * a hint for the size of splits, which MUST NOT change what a saved plan holds. `bounds`: of the run, where the job has
   * a cursor; the same at each start of it.
   */
  planner(saved: JsonValue | null, lanes?: number, bounds?: CursorBounds): Promise<SplitPlanner>;
  /**
   * Of jobs with a cursor: what a new run reads, after a run that ended at `lower` (null: there was none). Asked before
   * the run exists; the answer is saved with it. `upper` is never below `lower`, and equal to it where nothing is new.
   */
  bounds?(lower: JsonValue | null): Promise<CursorBounds>;
  /**
   * The columns of the rows, a list for each kind of them (each table), where they are known before rows come. Asked after
   * `planner`, when a run begins: what does not fit the writer is refused before anything is written. At no cost.
   */
  columns?(): readonly (readonly PlanColumn[])[];
  /** Planner's facts that all lanes share (say, a snapshot's position). Asked after `planner`, before `openLane`. */
  shared?(): JsonValue;
  openLane(lane: LaneContext, shared: JsonValue): Promise<LaneReader>;
  /**
   * For `sync plan`: what would be read, and what is in the way of it. Asked after `planner`. Changes nothing, takes
   * nothing from a source that can be read once only, and ends within seconds. Without it the plan says less.
   */
  explain?(): Promise<ReaderFacts>;
  /** For `sync plan`, pure: a split of this reader, for a person. Without it the plan shows its id and weight. */
  explainSplit?(split: Split): SplitFacts;
  /** Advisory: these positions are committed now (Kafka group offsets, log retention). Repeated at restarts; must be idempotent. */
  checkpointed?(positions: Readonly<Record<string, Position | null>>): Promise<void>;
  /**
   * For `sync verify`: sums computed at the source. Null: not with these options (a query, values that are altered on their
   * way, rows without a key). Asked after `planner`.
   */
  digest?(): Promise<Digest | null>;
  close?(): Promise<void>;
}
