import { SyncError, type JsonValue, type Split, type SplitPlanner } from 'syncx/plugin-api';

const FORMAT = 1;

/** The stream, which has no end and exists once. */
export class SocketPlanner implements SplitPlanner {
  readonly #split: Split;
  #left: boolean;

  constructor(address: string, saved: JsonValue | null) {
    this.#split = { id: `socket:${address}`, bounded: false, spec: null, weight: null };
    const s = saved as { readonly format?: JsonValue; readonly left?: JsonValue } | null;
    if (s !== null && (s.format !== FORMAT || typeof s.left !== 'boolean')) {
      throw new SyncError('STATE_CORRUPT', `the plan of the socket reader is not of format ${String(FORMAT)}`, {
        hint: 'It was written by another version; go on with that version, or run with --fresh.',
      });
    }
    this.#left = s === null || s.left === true;
  }

  next(signal: AbortSignal): Promise<Split | 'end'> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const left = this.#left;
    this.#left = false;
    return Promise.resolve(left ? this.#split : 'end');
  }

  finished(): void {
    // Nothing depends on it.
  }

  committed(): void {
    // Nothing depends on it.
  }

  reopen(): void {
    // The engine assigns it again.
  }

  snapshot(): JsonValue {
    return { format: FORMAT, left: this.#left };
  }

  remaining(): number {
    return this.#left ? 1 : 0;
  }
}
