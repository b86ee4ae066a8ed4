import { SyncError, type JsonValue, type Position, type Split, type SplitPlanner } from 'syncx/plugin-api';
import { windowPredicate } from './key-predicate.js';
import { walkKey } from './key-queries.js';
import { remainingOf, takeSplit } from './split-feed.js';
import type { Feed, SavedPlan, WalkFeed } from './saved-plan.js';
import type { SourceSessions } from './source-sessions.js';

/** Hands out the splits of one table after another. What it knows of a run is in its plan. */
export class MysqlPlanner implements SplitPlanner {
  readonly #plan: SavedPlan;
  readonly #feeds: Feed[];
  readonly #sessions: SourceSessions;
  /** Waits until every lane has begun its transaction; null: there is none, or it was. */
  #unlock: ((signal: AbortSignal) => Promise<void>) | null;
  #changed = true;
  #lastFull = 0;

  constructor(plan: SavedPlan, sessions: SourceSessions, unlock: ((signal: AbortSignal) => Promise<void>) | null) {
    this.#plan = plan;
    this.#feeds = [...plan.feeds];
    this.#sessions = sessions;
    this.#unlock = unlock;
  }

  async next(signal: AbortSignal): Promise<Split | 'end'> {
    signal.throwIfAborted();
    await this.#unlock?.(signal);
    this.#unlock = null;
    const [feed] = this.#feeds;
    if (feed === undefined) return 'end';
    const window = this.#plan.windows[feed.shape] ?? null;
    const { split, rest } = await takeSplit(feed, window, (walk) => this.#find(walk, signal));
    signal.throwIfAborted();
    // From here on nothing is awaited: a snapshot holds the split or comes before it.
    this.#feeds.splice(0, 1, ...(rest === null ? [] : [rest]));
    this.#changed = true;
    return split;
  }

  remaining(): number | null {
    let n = 0;
    for (const feed of this.#feeds) {
      const more = remainingOf(feed);
      if (more === null) return null;
      n += more;
    }
    return n;
  }

  finished(_splitId: string, _outcome: JsonValue): void {
    // No split depends on another.
  }

  committed(_splitIds: readonly string[]): void {
    // As above.
  }

  reopen(_split: Split, _from: Position | null): void {
    // The engine assigns it itself.
  }

  snapshot(epoch: number): JsonValue | { readonly unchangedSince: number } {
    if (!this.#changed) return { unchangedSince: this.#lastFull };
    this.#changed = false;
    this.#lastFull = epoch;
    return { ...this.#plan, feeds: [...this.#feeds] } as unknown as JsonValue;
  }

  async #find(feed: WalkFeed, signal: AbortSignal): Promise<readonly string[] | null> {
    const shape = this.#plan.shapes[feed.shape];
    if (shape === undefined) throw new SyncError('INTERNAL', `the plan has no shape ${String(feed.shape)}`);
    const window = this.#plan.windows[feed.shape] ?? null;
    const condition = window === null ? 'true' : windowPredicate(window);
    return this.#sessions.on(
      shape.connection,
      (session) => walkKey(session, shape, feed.columns, feed.after, feed.step, condition),
      signal,
    );
  }
}
