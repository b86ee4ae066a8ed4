/** Random scripts for the model test: a job, and the trouble of each of its starts. All from one seed. */
import type { JsonObject } from '../../src/plugin-api/index.js';
import type { ReaderEvent, Script, Split } from '../unit/core/scripted-job.js';

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = a;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export class Dice {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomOf(seed);
  }

  /** A whole number from `low` to `high`. */
  int(low: number, high: number): number {
    return low + Math.floor(this.#random() * (high - low + 1));
  }

  chance(p: number): boolean {
    return this.#random() < p;
  }

  of<T>(items: readonly T[]): T {
    const item = items[this.int(0, items.length - 1)];
    if (item === undefined) throw new Error('nothing to choose from');
    return item;
  }

  some<T>(most: number, make: (i: number) => T): readonly T[] {
    return Array.from({ length: this.int(0, most) }, (_, i) => make(i));
  }
}

/** Every step of the protocol where a start may die, but the one behind `finished`: the run is over there. */
const STEPS = [
  ...['run.chosen', 'attempt.before', 'attempt.after', 'recover.before', 'recover.after', 'recover.outcome'],
  ...['takeover.before', 'takeover.written', 'takeover.after', 'sweep.before', 'sweep.after', 'planner.after'],
  ...['begin.before', 'begin.after', 'begun.after', 'lanes.opened', 'write.before', 'write.after', 'barrier.passed'],
  ...['prepare.before', 'prepare.after', 'ckpt.before', 'ckpt.written', 'ckpt.after', 'commit.before', 'commit.data'],
  ...['commit.after', 'outcome.before', 'outcome.after', 'committed.after', 'prune.after', 'complete.before'],
  ...['complete.after', 'scripted.prepared', 'scripted.committed', 'scripted.recovered'],
] as const;

/** Where an epoch is left in doubt, or just is not. */
const DOUBT = [
  ...['prepare.after', 'ckpt.written', 'ckpt.after', 'commit.before', 'commit.data', 'commit.after'],
  ...['scripted.committed', 'outcome.before', 'recover.after', 'recover.outcome', 'takeover.written'],
] as const;

function splitsOf(d: Dice): readonly Split[] {
  const splits: Split[] = [];
  for (let i = d.int(1, 5); i > 0; i--) {
    const before = splits.filter((s) => s.bounded !== false).map((s) => s.id);
    splits.push({
      id: `s${String(splits.length)}`,
      rows: d.int(0, 14),
      bounded: !d.chance(0.2),
      after: before.filter(() => d.chance(0.3)),
      transaction: d.chance(0.5) ? 1 : d.int(2, 6),
    });
  }
  return splits;
}

function eventsOf(d: Dice, splits: readonly Split[]): readonly ReaderEvent[] {
  const events = d.some(7, (i): ReaderEvent => {
    const s = d.of(splits.filter((x) => x.rows > 0).length > 0 ? splits.filter((x) => x.rows > 0) : splits);
    const t = s.transaction ?? 1;
    const start = 1 + t * d.int(0, Math.max(0, Math.ceil(s.rows / t) - 1));
    switch (d.int(0, 3)) {
      case 0:
        return { split: s.id, at: start, do: 'idle' };
      case 1:
        return { split: s.id, at: start, do: 'schema', add: `add${String(i)}` };
      case 2:
        return { split: s.id, at: d.int(1, s.rows + 1), do: 'fail', times: d.int(1, 2) };
      default:
        return s.rows === 0 ? { split: s.id, at: 1, do: 'idle' } : { split: s.id, at: d.int(1, s.rows), do: 'dirty' };
    }
  }); // A row is dirty once: the reader knows no second event of that kind for it.
  const isNew = (e: ReaderEvent, i: number): boolean =>
    events.findIndex((x) => x.split === e.split && x.at === e.at && x.do === 'dirty') === i;
  return events.filter((e, i) => e.do !== 'dirty' || isNew(e, i));
}

function failsOf(d: Dice): JsonObject {
  const step = d.of([
    'begin',
    'openLane',
    'write',
    'prepare',
    'commit',
    'commit',
    'abort',
    'recover',
    'sweep',
    'complete',
  ]);
  const epoch = d.chance(0.5) && ['prepare', 'commit'].includes(step) ? d.int(1, 8) : 0;
  return { step, epoch, hit: epoch > 0 ? 0 : d.int(1, 4), when: d.of(['before', 'after']), times: d.int(1, 2) };
}

export function scriptOf(d: Dice): Script {
  const splits = splitsOf(d);
  const epochs = d.chance(0.5) ? [{ epoch: 0 }] : d.some(3, () => ({ epoch: d.int(1, 10) }));
  return {
    splits,
    events: eventsOf(d, splits),
    reader: { batchRows: d.int(1, 6) },
    writer: {
      protocol: d.of(['staged', 'marker']),
      pipelined: d.chance(0.5),
      writeDelay: d.int(0, 2),
      failOn: d.some(4, () => failsOf(d)),
      lose: d.chance(0.5) ? epochs : [],
      unknown: d.chance(0.2) ? [{ epoch: d.int(1, 6) }] : [],
      reject: d.some(2, () => `${d.of(splits).id}:${String(d.int(1, 10))}`),
      rejectAt: d.of(['write', 'prepare']),
    },
    more: {
      errorLimit: { record: null, percentage: null },
      // Slow enough for several epochs in one split.
      rowsPerSecond: d.of([0, 400, 1200]),
      checkpoint: { intervalMs: d.of([1, 1, 1, 10_000]), numRetained: d.int(1, 3) },
    },
  };
}

export interface Start {
  readonly failpoint: string | undefined;
  /** Stop after so many ms; null: do not. */
  readonly stopAfter: number | null;
  /** The writer's call at which this start stands still until another one has run beside it; null: it does not. */
  readonly zombieAt: string | null;
}

export function startOf(d: Dice, calm: boolean): Start {
  if (calm) return { failpoint: undefined, stopAfter: null, zombieAt: null };
  const step = d.chance(0.5) ? d.of(DOUBT) : d.of(STEPS);
  const failpoint = d.chance(0.75) ? `${step}#${String(d.int(1, 4))}=throw` : undefined;
  return {
    failpoint,
    stopAfter: d.chance(0.2) ? d.int(0, 25) : null,
    zombieAt: d.chance(0.15) ? d.of(['openLane', 'write', 'prepare', 'commit', 'commit', 'abort', 'complete']) : null,
  };
}
