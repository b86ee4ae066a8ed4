import type { LaneReader } from '../../plugin-api/index.js';

/** Which splits the reader was told to hold. */
export class SplitHolds {
  readonly #reader: LaneReader;
  readonly #held = new Set<string>();

  constructor(reader: LaneReader) {
    this.#reader = reader;
  }

  /** What is under way of a held split waits. */
  has(splitId: string): boolean {
    return this.#held.has(splitId);
  }

  get any(): boolean {
    return this.#held.size > 0;
  }

  /** Tells the reader what has changed. */
  apply(open: readonly string[], wanted: (splitId: string) => boolean): void {
    const hold = open.filter((id) => !this.#held.has(id) && wanted(id));
    const free = open.filter((id) => this.#held.has(id) && !wanted(id));
    for (const id of hold) this.#held.add(id);
    for (const id of free) this.#held.delete(id);
    if (hold.length > 0) this.#reader.hold(hold);
    if (free.length > 0) this.#reader.release(free);
  }
}
