/** @import { JsonValue, Split, SplitPlanner } from 'syncx/plugin-api' */

/**
 * Cuts the numbers from 1 to `count` into splits. It knows only how many it has handed out: the same options give the same
 * splits, so this number is all that a later process needs to go on.
 *
 * @implements {SplitPlanner}
 */
export class CounterPlanner {
  /**
   * @param {number} count
   * @param {number} splits
   * @param {JsonValue | null} saved what `snapshot` gave in an earlier process; null: a new run
   */
  constructor(count, splits, saved) {
    this.count = count;
    this.splits = splits;
    this.position = saved === null ? 0 : Number(saved);
  }

  /**
   * @param {AbortSignal} signal
   * @returns {Promise<Split | 'end'>}
   */
  async next(signal) {
    signal.throwIfAborted();
    if (this.position >= this.splits) return 'end';
    const n = this.position++;
    const from = Math.floor((this.count * n) / this.splits) + 1;
    const to = Math.floor((this.count * (n + 1)) / this.splits);
    return { id: `count-${n}`, bounded: true, spec: { from, to }, weight: null };
  }

  snapshot() {
    return this.position;
  }

  remaining() {
    return this.splits - this.position;
  }

  // No split depends on another, and the engine itself reads again what was lost.
  finished() {}
  committed() {}
  reopen() {}
}
