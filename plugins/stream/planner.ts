import { SyncError, type JsonValue, type Split, type SplitPlanner } from 'syncx/plugin-api';

const FORMAT = 1;

interface Saved {
  readonly format: number;
  /** Number of splits that were handed out. */
  readonly next: number;
  readonly baseTime: number;
}

/** One split for each entry of sliceRecordCount. The time that dates and times start from is fixed at the first start. */
export class StreamPlanner implements SplitPlanner {
  readonly baseTime: number;
  readonly #counts: readonly number[];
  #next: number;

  constructor(counts: readonly number[], saved: JsonValue | null) {
    this.#counts = counts;
    const s = saved as unknown as Saved | null;
    if (s && s.format !== FORMAT) {
      throw new SyncError('STATE_CORRUPT', `the plan of the stream reader has format ${String(s.format)}`, {
        hint: `This version knows format ${String(FORMAT)}: run with the version that wrote it, or with --fresh.`,
      });
    }
    for (const name of ['next', 'baseTime'] as const) {
      if (s === null || Number.isSafeInteger(s[name])) continue;
      throw new SyncError('STATE_CORRUPT', `the plan of the stream reader has no ${name}`, {
        hint: 'Restore the state folder from a backup, or run with --fresh.',
      });
    }
    this.#next = s?.next ?? 0;
    this.baseTime = s?.baseTime ?? Date.now();
  }

  next(signal: AbortSignal): Promise<Split | 'end'> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const index = this.#next;
    const rows = this.#counts[index];
    if (rows === undefined) return Promise.resolve('end');
    this.#next++;
    return Promise.resolve({ id: `slice-${String(index)}`, bounded: rows > 0, spec: { index, rows }, weight: null });
  }

  finished(): void {
    // Splits do not depend on each other.
  }

  committed(): void {
    // The same.
  }

  reopen(): void {
    // The engine assigns it again.
  }

  snapshot(): JsonValue {
    return { format: FORMAT, next: this.#next, baseTime: this.baseTime };
  }

  remaining(): number {
    return this.#counts.length - this.#next;
  }
}
