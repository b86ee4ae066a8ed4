import { SyncError, type JsonValue, type Position, type Split } from '../../plugin-api/index.js';
import type { SplitProgress } from '../checkpoint/format.js';

interface Track {
  readonly split: Split;
  from: Position | null;
  to: Position | null;
  ended: { readonly outcome: JsonValue } | null;
  /** False inside a source transaction. */
  safe: boolean;
  touched: boolean;
}

/**
 * Where the splits of a lane stand, at both ends of the epoch that is being read. Moves with what is pushed into the
 * channel, so that a barrier's positions are exactly those of the rows before it.
 */
export class SplitTrack {
  readonly #tracks = new Map<string, Track>();
  /** Bounded splits that are not read to their end. */
  #openBounded = 0;

  assign(split: Split, from: Position | null): void {
    if (this.#tracks.has(split.id)) throw new SyncError('PLUGIN_BROKEN', `split ${split.id} was assigned twice`);
    this.#tracks.set(split.id, { split, from, to: from, ended: null, safe: true, touched: false });
    if (split.bounded) this.#openBounded++;
  }

  /** @throws SyncError PLUGIN_BROKEN for a split that is not open here. */
  #open(splitId: string): Track {
    const t = this.#tracks.get(splitId);
    if (!t || t.ended)
      throw new SyncError('PLUGIN_BROKEN', `the reader sent rows of split ${splitId}, which is not open`);
    return t;
  }

  moved(splitId: string, position: Position | null): void {
    const t = this.#open(splitId);
    t.touched = true;
    t.safe = position !== null;
    if (position !== null) t.to = position;
  }

  ended(splitId: string, position: Position, outcome: JsonValue): void {
    const t = this.#open(splitId);
    t.touched = true;
    t.safe = true;
    t.to = position;
    t.ended = { outcome };
    if (t.split.bounded) this.#openBounded--;
  }

  check(splitId: string): void {
    this.#open(splitId);
  }

  get openBounded(): number {
    return this.#openBounded;
  }

  get allSafe(): boolean {
    for (const t of this.#tracks.values()) if (!t.safe) return false;
    return true;
  }

  isSafe(splitId: string): boolean {
    return this.#open(splitId).safe;
  }

  openIds(): readonly string[] {
    return [...this.#tracks.values()].filter((t) => !t.ended).map((t) => t.split.id);
  }

  /** Ends the epoch: what it touched, from where to where. The next one begins at `to`. */
  cut(): readonly SplitProgress[] {
    const out: SplitProgress[] = [];
    for (const [id, t] of this.#tracks) {
      if (!t.touched) continue;
      out.push({ split: t.split, from: t.from, to: t.to, ended: t.ended });
      if (t.ended) this.#tracks.delete(id);
      t.from = t.to;
      t.touched = false;
    }
    return out;
  }

  /** Takes a cut back: the epoch grows. */
  uncut(progress: readonly SplitProgress[]): void {
    for (const p of progress) {
      const t = this.#tracks.get(p.split.id);
      if (t) {
        t.from = p.from;
        t.touched = true;
      } else {
        this.#tracks.set(p.split.id, {
          split: p.split,
          from: p.from,
          to: p.to,
          ended: p.ended,
          safe: true,
          touched: true,
        });
      }
    }
  }
}
