import { SyncError, type JsonValue, type Position, type Split, type SplitPlanner } from 'syncx/plugin-api';
import { Wake } from 'syncx/plugin-kit';
import type { SplitOptions } from './options.js';

const FORMAT = 1;

interface Saved {
  readonly format: number;
  /** Not handed out, in order. */
  readonly pending: readonly string[];
  readonly committed: readonly string[];
}

export function splitOf(o: SplitOptions): Split {
  return { id: o.id, bounded: o.bounded, spec: { rows: o.rows, transaction: o.transaction }, weight: o.rows };
}

/** Hands the splits out in the order of the options; one that depends on others waits until these are committed. */
export class ScriptedPlanner implements SplitPlanner {
  readonly #byId: ReadonlyMap<string, SplitOptions>;
  readonly #pending: string[];
  readonly #committed: Set<string>;
  readonly #wake = new Wake();
  #changed = true;
  #lastFull = 0;

  constructor(splits: readonly SplitOptions[], saved: JsonValue | null) {
    this.#byId = new Map(splits.map((s) => [s.id, s]));
    if (saved === null) {
      this.#pending = splits.map((s) => s.id);
      this.#committed = new Set();
      return;
    }
    const s = saved as unknown as Saved;
    const alien = [...s.pending, ...s.committed].filter((id) => !this.#byId.has(id));
    if (s.format !== FORMAT || alien.length > 0) {
      throw new SyncError('STATE_MISFIT', `the saved plan does not fit the options: ${alien.join(', ') || 'format'}`);
    }
    this.#pending = [...s.pending];
    this.#committed = new Set(s.committed);
  }

  async next(signal: AbortSignal): Promise<Split | 'end'> {
    signal.addEventListener('abort', this.#wake.ring);
    try {
      for (;;) {
        signal.throwIfAborted();
        if (this.#pending.length === 0) return 'end';
        const i = this.#pending.findIndex((id) => this.#byId.get(id)?.after.every((d) => this.#committed.has(d)));
        const found = this.#byId.get(this.#pending[i] ?? '');
        if (found) {
          this.#pending.splice(i, 1);
          this.#changed = true;
          return splitOf(found);
        }
        await this.#wake.wait();
      }
    } finally {
      signal.removeEventListener('abort', this.#wake.ring);
    }
  }

  remaining(): number {
    return this.#pending.length;
  }

  finished(splitId: string, _outcome: JsonValue): void {
    this.#known(splitId);
  }

  committed(splitIds: readonly string[]): void {
    for (const id of splitIds) {
      this.#known(id);
      if (this.#committed.has(id)) continue;
      this.#committed.add(id);
      this.#changed = true;
    }
    this.#wake.ring();
  }

  reopen(split: Split, _from: Position | null): void {
    this.#known(split.id);
    if (this.#committed.has(split.id)) {
      throw new SyncError('INTERNAL', `split ${split.id} was reopened after its epoch had been committed`);
    }
  }

  snapshot(epoch: number): JsonValue | { readonly unchangedSince: number } {
    if (!this.#changed) return { unchangedSince: this.#lastFull };
    this.#changed = false;
    this.#lastFull = epoch;
    return { format: FORMAT, pending: [...this.#pending], committed: [...this.#committed].sort() };
  }

  #known(id: string): void {
    if (!this.#byId.has(id)) throw new SyncError('INTERNAL', `the planner was told of a split it does not know: ${id}`);
  }
}
