import {
  SyncError,
  toSyncError,
  type JsonValue,
  type Position,
  type Split,
  type SplitPlanner,
} from '../../plugin-api/index.js';
import type { OpenSplit, SplitProgress } from '../checkpoint/format.js';

export interface SplitTaker {
  assign(split: Split, from: Position | null): void;
}

/**
 * Hands splits to lanes and knows every split that was handed out and not read to its end, so that a checkpoint holds
 * them also where a lane's report does not name them yet.
 *
 * What a lane says carries the epoch it belongs to: things of the next epoch wait until this one's snapshot is taken.
 */
export class SplitQueue {
  readonly #planner: SplitPlanner;
  readonly #lanes: readonly SplitTaker[];
  readonly #signal: AbortSignal;
  readonly #changed: () => void;
  readonly #fail: (e: SyncError) => void;
  /** Handed out, with the position of the last checkpoint. */
  readonly #open = new Map<string, { readonly split: Split; readonly lane: number; position: Position | null }>();
  /** Splits of the restored state, before any new one. */
  readonly #again: OpenSplit[];
  readonly #hungry: number[] = [];
  #deferred: { readonly epoch: number; readonly run: () => void }[] = [];
  #epoch: number;
  #asking = false;
  #stopped = false;
  #ended = false;
  /** Read to their end and not committed. */
  #uncommitted = 0;
  #done = 0;
  #weight: number | null = 0;
  #lastPlan: { readonly epoch: number; readonly plan: JsonValue } | null = null;

  constructor(parts: {
    readonly planner: SplitPlanner;
    readonly lanes: readonly SplitTaker[];
    readonly again: readonly OpenSplit[];
    readonly epoch: number;
    readonly signal: AbortSignal;
    readonly changed: () => void;
    readonly fail: (e: SyncError) => void;
  }) {
    this.#planner = parts.planner;
    this.#lanes = parts.lanes;
    this.#again = [...parts.again];
    this.#epoch = parts.epoch;
    this.#signal = parts.signal;
    this.#changed = parts.changed;
    this.#fail = parts.fail;
  }

  /** All read to their end, and none to come. */
  get atEnd(): boolean {
    return this.#ended && !this.#asking && this.#open.size === 0 && this.#again.length === 0;
  }

  /** No bounded split is being read, and only a commit may bring another one. Unbounded ones never end the wait. */
  get waitsForCommit(): boolean {
    return this.#asking && this.#uncommitted > 0 && [...this.#open.values()].every((o) => !o.split.bounded);
  }

  get progress(): { readonly done: number; readonly open: number; readonly bytes: number | null } {
    return { done: this.#done, open: this.#open.size, bytes: this.#weight };
  }

  stop(): void {
    this.#stopped = true;
  }

  want(lane: number, epoch: number): void {
    this.#inEpoch(epoch, () => {
      if (!this.#hungry.includes(lane)) this.#hungry.push(lane);
      this.#pump();
    });
  }

  finished(epoch: number, splitId: string, outcome: JsonValue): void {
    this.#inEpoch(epoch, () => {
      this.#open.delete(splitId);
      this.#uncommitted++;
      this.#done++;
      this.#planner.finished(splitId, outcome);
      this.#changed();
    });
  }

  #inEpoch(epoch: number, run: () => void): void {
    if (epoch > this.#epoch) this.#deferred.push({ epoch, run });
    else run();
  }

  #pump(): void {
    while (!this.#stopped && this.#hungry.length > 0) {
      // Unbounded ones share a lane with whatever it reads: they need not wait for a bounded one to end.
      const unbounded = this.#again.findIndex((o) => !o.split.bounded);
      const [again] = this.#again.splice(Math.max(0, unbounded), 1);
      if (!again) break;
      this.#give(again.split, again.position);
    }
    if (this.#stopped || this.#asking || this.#ended || this.#hungry.length === 0) return;
    this.#asking = true;
    this.#planner.next(this.#signal).then(
      (answer) => {
        this.#asking = false;
        if (answer === 'end') this.#ended = true;
        else this.#give(answer, null);
        this.#changed();
        this.#pump();
      },
      (e: unknown) => {
        this.#asking = false;
        if (!this.#signal.aborted) this.#fail(toSyncError(e, 'SOURCE_IO'));
      },
    );
    // Where all that was open has ended already, nothing else would tell that only a commit helps now.
    this.#changed();
  }

  #give(split: Split, from: Position | null): void {
    if (this.#open.has(split.id)) {
      this.#fail(new SyncError('PLUGIN_BROKEN', `the planner handed out split ${split.id} twice`));
      return;
    }
    const lane = split.bounded ? (this.#hungry.shift() ?? 0) : this.#fewest();
    this.#open.set(split.id, { split, lane, position: from });
    this.#weight = this.#weight === null || split.weight === null ? null : this.#weight + split.weight;
    try {
      this.#lanes[lane]?.assign(split, from);
    } catch (e) {
      this.#fail(toSyncError(e));
    }
  }

  #fewest(): number {
    const counts = this.#lanes.map(() => 0);
    for (const o of this.#open.values()) counts[o.lane] = (counts[o.lane] ?? 0) + 1;
    return counts.indexOf(Math.min(...counts));
  }

  /**
   * Takes the planner's part of a checkpoint. Call at the start of a macrotask, when no answer of `next` can be under
   * way between the planner and here: it would be in neither part.
   */
  snapshot(epoch: number): { readonly planner: JsonValue; readonly open: readonly OpenSplit[] } {
    const planner = this.#plan(epoch);
    const open = [...this.#open.values()].map((o) => ({ split: o.split, position: o.position }));
    return { planner, open: [...open, ...this.#again] };
  }

  /** Always whole: a checkpoint must do without those before it, which are pruned. */
  #plan(epoch: number): JsonValue {
    const answer = this.#planner.snapshot(epoch);
    const since = unchangedSince(answer);
    if (since === null) {
      this.#lastPlan = { epoch, plan: answer };
    } else if (this.#lastPlan?.epoch !== since) {
      throw new SyncError(
        'PLUGIN_BROKEN',
        `the planner says it is unchanged since epoch ${String(since)}, where it gave no snapshot`,
      );
    }
    return this.#lastPlan.plan;
  }

  /** From here on what lanes say of `epoch` counts. */
  enter(epoch: number): void {
    this.#epoch = epoch;
    const due = this.#deferred.filter((d) => d.epoch <= epoch);
    this.#deferred = this.#deferred.filter((d) => d.epoch > epoch);
    for (const d of due) d.run();
  }

  /** The barrier was withdrawn: what lanes said of the next epoch belongs to this one. */
  enterAll(): void {
    const due = this.#deferred;
    this.#deferred = [];
    for (const d of due) d.run();
  }

  committed(splits: readonly SplitProgress[]): void {
    for (const s of splits) {
      const o = this.#open.get(s.split.id);
      if (o && !s.ended) o.position = s.to;
    }
    const ended = splits.filter((s) => s.ended).map((s) => s.split.id);
    this.#uncommitted -= ended.length;
    if (ended.length > 0) this.#planner.committed(ended);
  }
}

function unchangedSince(answer: JsonValue | { readonly unchangedSince: number }): number | null {
  if (answer === null || typeof answer !== 'object' || Array.isArray(answer)) return null;
  const { unchangedSince: epoch } = answer as { readonly unchangedSince?: JsonValue };
  return typeof epoch === 'number' ? epoch : null;
}
