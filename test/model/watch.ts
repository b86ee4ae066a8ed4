/**
 * Watches the calls of one start for what cannot be seen at the target afterwards: rules of
 * docs/specs/checkpoint-protocol.md that only a rarer crash, or another writer, would turn into wrong rows.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Checkpoint, Outcome } from '../../src/core/checkpoint/format.js';
import { RunStore } from '../../src/core/checkpoint/run-store.js';
import type { RowBatch, Split } from '../../src/plugin-api/index.js';
import type { Call } from '../support/taps.js';

/** Calls that act for the run: each only after a look whether this start is still the newest. */
const GUARDED = new Set(['lane.commit', 'writer.begin', 'writer.complete', 'committer.sweep', 'state.prune']);
/** After these the last look is too old. */
const UNGUARDS = new Set([
  ...['state.createAttempt', 'state.putCheckpoint', 'state.putOutcome', 'lane.prepare', 'writer.complete'],
]);

export interface AttemptName {
  readonly run: RunStore;
  readonly attempt: number;
}

export class Watch {
  readonly broken: string[] = [];
  readonly attempts: AttemptName[] = [];
  /** Files of rows and of dirty rows that a durable checkpoint of this start names. */
  readonly durable = new Set<string>();
  /** Clean-up was made to fail: what it should have removed may stay. */
  unclean = false;
  /** Lanes with rows that are not committed: since the last prepare, and prepared. */
  readonly #open = new Map<number, { fresh: number; prepared: number }>();
  /** How often things happened that are worth a count. */
  readonly seen: Record<string, number> = {};
  #guard = false;
  readonly #handedOut: (split: Split) => string | null;

  /** `handedOut`: says what is wrong about a split that the planner gives now. */
  constructor(handedOut: (split: Split) => string | null) {
    this.#handedOut = handedOut;
  }

  #count(what: string): void {
    this.seen[what] = (this.seen[what] ?? 0) + 1;
  }

  before(call: Call): void {
    const { step, store } = call;
    const guarded =
      GUARDED.has(step) || step === 'state.putCheckpoint' || (step === 'state.put' && call.args[0] === 'finished');
    if (guarded && !this.#guard) this.broken.push(`${step} without a look whether this start is the newest`);
    if (UNGUARDS.has(step)) this.#guard = false;
    if (step === 'state.createAttempt') this.#open.clear();
    if (step === 'state.putOutcome' && store instanceof RunStore) this.#outcome(store, call.args[0] as Outcome);
    if (call.lane !== null) this.#laneCall(call.lane, call);
  }

  #laneCall(lane: number, { step, args }: Call): void {
    const open = this.#open.get(lane) ?? { fresh: 0, prepared: 0 };
    this.#open.set(lane, open);
    switch (step) {
      case 'lane.write':
        open.fresh += (args[0] as RowBatch).rows;
        break;
      case 'lane.prepare':
        open.prepared += open.fresh;
        open.fresh = 0;
        break;
      case 'lane.abort':
        open.prepared = 0;
        open.fresh = 0;
        break;
      case 'lane.schema':
        if (this.#open.size > 1) this.#count('alters beside another lane');
        for (const [n, o] of this.#open) {
          if (o.fresh + o.prepared > 0)
            this.broken.push(`lane ${String(lane)} alters the target, lane ${String(n)} has rows open`);
        }
        break;
      default:
    }
  }

  /** Dirty rows follow their lane's outcome, and do so before it is noted. */
  #outcome(store: RunStore, o: Outcome): void {
    const path = join(store.dir, `${String(o.epoch)}.ckpt`);
    if (o.by !== 'recover' || !existsSync(path)) return; // gone: a newer start has decided it, and pruned it since
    const text = readFileSync(path, 'utf8');
    const c = JSON.parse(text.split('\n')[0] ?? '') as Checkpoint;
    const fates = new Set(Object.values(o.lanes));
    for (const fate of fates) this.#count(`in doubt: ${fate}`);
    if (fates.size > 1) this.#count('in doubt: one lane lost');
    for (const { lane, dirty } of c.lanes) {
      if (!dirty) continue;
      const lost = o.lanes[lane] === 'lost';
      if (lost) this.#count('dirty rows lost');
      if (lost && existsSync(dirty.staged))
        this.broken.push(`lane ${String(lane)} was lost, its dirty rows are still there`);
      if (existsSync(dirty.target) === lost) {
        this.broken.push(`${basename(dirty.target)} is ${lost ? '' : 'not '}published`);
      }
    }
  }

  after(call: Call, result: unknown): void {
    const { step, store, lane } = call;
    if (step === 'state.assertNewest') this.#guard = true;
    else if (step === 'state.putCheckpoint' && result === true) this.#named(call.args[0] as Checkpoint);
    else if (step === 'state.createAttempt' && store instanceof RunStore) {
      this.attempts.push({ run: store, attempt: result as number });
    } else if (step === 'lane.commit' && lane !== null) {
      const open = this.#open.get(lane);
      if (open) open.prepared = 0;
    } else if (step === 'planner.next' && result !== 'end') {
      const wrong = this.#handedOut(result as Split);
      if (wrong !== null) this.broken.push(wrong);
    }
  }

  /** The call did not return. */
  failed(call: Call, error: unknown): void {
    const { step, store } = call;
    if (step === 'lane.commit' && String(error).includes('the connection broke in')) this.#count('broken commits');
    if (step === 'lane.abort' || step === 'lane.closeWriter') this.unclean = true;
    if (step === 'state.putCheckpoint' && store instanceof RunStore) {
      const c = call.args[0] as Checkpoint;
      if (existsSync(join(store.dir, `${String(c.epoch)}.ckpt`))) this.#named(c);
    }
  }

  #named(c: Checkpoint): void {
    for (const l of c.lanes) {
      for (const { data } of l.committables) this.durable.add(String((data as { readonly file?: string }).file));
      if (l.dirty) this.durable.add(basename(l.dirty.staged));
    }
  }
}
