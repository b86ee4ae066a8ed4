import { setTimeout as sleep } from 'node:timers/promises';
import { toSyncError, type Reader, type Split, type SplitFacts, type SplitPlanner } from '../../plugin-api/index.js';

export interface PlannedSplits {
  /** The first few. */
  readonly first: readonly (SplitFacts & { readonly id: string; readonly bounded: boolean })[];
  /** How many there are, as far as was looked. */
  readonly count: number;
  /** True: `count` is all of them. False: more may follow, as this planner finds or releases them only in a run. */
  readonly whole: boolean;
  /** Sums over those counted; null: not known of all. */
  readonly rows: number | null;
  readonly bytes: number | null;
}

export const SHOWN = 10;
/** No more are asked for: each may cost the source something. */
const MOST = 10_000;
/** A planner that answers nothing for so long waits for a run, or scans: what it has told must do (ms). */
const QUIET_MS = 2000;
/** Planners of big sources look for borders as they go: once enough is there to show, it ends here (ms). */
const LONG_MS = 5000;

/** Asks a planner for what a run would be handed. `open`: splits that an earlier start left open come first. */
export async function listSplits(
  reader: Reader,
  planner: SplitPlanner,
  open: readonly Split[],
  signal: AbortSignal,
): Promise<PlannedSplits> {
  const total = planner.remaining?.() ?? null;
  const found: Split[] = [...open];
  const asking = new AbortController();
  const both = AbortSignal.any([signal, asking.signal]);
  let ended = false;
  try {
    const began = performance.now();
    while (found.length < MOST && (found.length <= SHOWN || performance.now() - began < LONG_MS)) {
      const split = await firstOf(planner.next(both), both);
      if (split === 'end') ended = true;
      if (typeof split === 'string') break;
      found.push(split);
    }
  } finally {
    asking.abort();
  }
  const facts = found.map((s) => factsOf(reader, s));
  const whole = ended && found.every((s) => s.bounded);
  return {
    first: facts.slice(0, SHOWN).map((f, i) => ({ id: found[i]?.id ?? '', bounded: found[i]?.bounded ?? true, ...f })),
    count: ended ? found.length : Math.max(found.length, (total ?? 0) + open.length),
    whole,
    rows: sum(facts.map((f) => f.rows)),
    bytes: sum(facts.map((f) => f.bytes)),
  };
}

async function firstOf(next: Promise<Split | 'end'>, signal: AbortSignal): Promise<Split | 'end' | 'quiet'> {
  const done = new AbortController();
  const quiet = sleep(QUIET_MS, 'quiet' as const, { signal: AbortSignal.any([signal, done.signal]) });
  quiet.catch(() => undefined);
  next.catch(() => undefined); // one that is given up rejects later
  try {
    return await Promise.race([next, quiet]);
  } finally {
    done.abort();
  }
}

function factsOf(reader: Reader, split: Split): SplitFacts {
  try {
    if (reader.explainSplit) return reader.explainSplit(split);
  } catch (e) {
    return { what: `${split.id} (${toSyncError(e).message})`, rows: null, bytes: split.weight };
  }
  return { what: split.id, rows: null, bytes: split.weight };
}

function sum(all: readonly (number | null)[]): number | null {
  if (all.length === 0) return null;
  let n = 0;
  for (const x of all) {
    if (x === null) return null;
    n += x;
  }
  return n;
}
