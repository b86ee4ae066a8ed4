import type { JsonValue } from './json.js';
import type { Position } from './position.js';

/** A part of the source that one lane reads by itself: a file, a key range, a topic partition, a binlog. */
export interface Split {
  /** Stable over restarts, unique in the run. */
  readonly id: string;
  /** Bounded splits are given to a lane one at a time, unbounded ones together. */
  readonly bounded: boolean;
  readonly spec: JsonValue;
  /** Estimated bytes, for progress and ETA; null: unknown. */
  readonly weight: number | null;
}

/**
 * Plans the splits of a run. Lives in the coordinator thread; all calls come one after another, but `next` may stay
 * pending while others are called.
 */
export interface SplitPlanner {
  /** Stays pending until something changes; no polling. Rejects on abort. After 'end' it is called again only after `reopen` or `committed`. */
  next(signal: AbortSignal): Promise<Split | 'end'>;
  /** The split was read to its end. Its rows may still be undone (see `reopen`). */
  finished(splitId: string, outcome: JsonValue): void;
  /** Their epoch is committed. Only now may a split that depends on them be handed out. Idempotent. */
  committed(splitIds: readonly string[]): void;
  /** The split's epoch was lost: it will be read again from `from`. Informs only: the engine assigns it itself. */
  reopen(split: Split, from: Position | null): void;
  /**
   * What a later process needs to go on planning: all that `next` has not handed out, plus facts learnt.
   * `{ unchangedSince }` names the epoch whose snapshot still holds.
   */
  snapshot(epoch: number): JsonValue | { readonly unchangedSince: number };
  /**
   * How many splits it will hand out at most; null, or no such method: not known. Asked at the start, so that no lane is
   * opened that would have nothing to do. Must be right where the source exists once only (standard input).
   */
  remaining?(): number | null;
}
