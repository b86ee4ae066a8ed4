import { SyncError, type JsonValue, type Split, type SplitPlanner } from 'syncx/plugin-api';
import { STDIN_SPLIT } from './file-split.js';
import { SMALL_PLAN, encodePlan, type Cutting } from './saved-plan.js';
import type { SplitFeed } from './split-feed.js';

/** The files in the order of their paths; each is one split, or, of those that are cut, several. */
export class FilePlanner implements SplitPlanner {
  readonly #feed: SplitFeed;
  readonly #columns: readonly string[] | null;
  readonly #cutting: Cutting | null;
  #savedVersion = -1;
  #savedEpoch = 0;

  constructor(feed: SplitFeed, columns: readonly string[] | null, cutting: Cutting | null) {
    this.#feed = feed;
    this.#columns = columns;
    this.#cutting = cutting;
  }

  async next(signal: AbortSignal): Promise<Split | 'end'> {
    return (await this.#feed.next(signal)) ?? 'end';
  }

  finished(): void {
    // A file that was read tells nothing about others.
  }

  committed(): void {
    // No split waits for another.
  }

  reopen(): void {
    // The engine assigns it again itself.
  }

  snapshot(epoch: number): JsonValue | { readonly unchangedSince: number } {
    const { version, leftCount } = this.#feed;
    if (this.#savedVersion === version && leftCount > SMALL_PLAN) return { unchangedSince: this.#savedEpoch };
    this.#savedVersion = version;
    this.#savedEpoch = epoch;
    return encodePlan({ ...this.#feed.left, columns: this.#columns, cutting: this.#cutting, watched: null });
  }

  remaining(): number {
    return this.#feed.remaining;
  }
}

/** Standard input: one split, which only this process can read. */
export class StdinPlanner implements SplitPlanner {
  #left: boolean;

  /** @throws SyncError STATE_CORRUPT */
  constructor(saved: JsonValue | null) {
    const plan = saved as { readonly format?: JsonValue; readonly left?: JsonValue } | null;
    if (plan !== null && (plan.format !== 1 || typeof plan.left !== 'boolean')) {
      throw new SyncError('STATE_CORRUPT', 'the saved plan of standard input is not of format 1', {
        hint: 'It was written by another version; go on with that version.',
      });
    }
    this.#left = plan === null || plan.left === true;
  }

  next(): Promise<Split | 'end'> {
    const left = this.#left;
    this.#left = false;
    return Promise.resolve(left ? STDIN_SPLIT : 'end');
  }

  finished(): void {
    // Nothing depends on it.
  }

  committed(): void {
    // Nothing depends on it.
  }

  reopen(): void {
    // It cannot be read again; the lane says so.
  }

  snapshot(): JsonValue {
    return { format: 1, left: this.#left };
  }

  remaining(): number {
    return this.#left ? 1 : 0;
  }
}
