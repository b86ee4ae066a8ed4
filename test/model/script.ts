/** Random jobs for the model test: what is read, and what the source and the target do to it. All from one seed. */
import type { JsonObject } from '../../src/plugin-api/index.js';
import type { ReaderEvent, Script, Split } from '../unit/core/scripted-job.js';
import type { Dice } from './dice.js';
import type { Half } from './half-lost.js';

export interface ModelJob {
  readonly script: Script;
  /** Committables that a lane's epoch has besides its own, and what becomes of them. */
  readonly halves: readonly Half[];
}

/** No row is longer than this, with all columns that schema changes may add. */
const ROW_BYTES = 160;
const MOST_IN_TRANSACTION = 6;
const MOST_SPLITS = 7;

function splitsOf(d: Dice): readonly Split[] {
  const splits: Split[] = [];
  for (let i = d.int(1, MOST_SPLITS); i > 0; i--) {
    const before = splits.filter((s) => s.bounded !== false).map((s) => s.id);
    splits.push({
      id: `s${String(splits.length)}`,
      rows: d.int(0, 14),
      bounded: !d.chance(0.15),
      after: before.filter(() => d.chance(0.2)),
      transaction: d.chance(0.5) ? 1 : d.int(2, MOST_IN_TRANSACTION),
    });
  }
  return splits;
}

function eventsOf(d: Dice, splits: readonly Split[]): readonly ReaderEvent[] {
  const events = d.some(7, (i): ReaderEvent => {
    const s = d.of(splits.filter((x) => x.rows > 0).length > 0 ? splits.filter((x) => x.rows > 0) : splits);
    const t = s.transaction ?? 1;
    const start = 1 + t * d.int(0, Math.max(0, Math.ceil(s.rows / t) - 1));
    switch (d.int(0, 4)) {
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

const FAILING = ['begin', 'openLane', 'write', 'prepare', 'commit', 'commit', 'abort', 'recover', 'sweep', 'complete'];

function failsOf(d: Dice): JsonObject {
  const step = d.of(FAILING);
  const epoch = d.chance(0.5) && ['prepare', 'commit'].includes(step) ? d.int(1, 8) : 0;
  const lane = laneOf(d);
  return { step, lane, epoch, hit: epoch > 0 ? 0 : d.int(1, 4), when: d.of(['before', 'after']), times: d.int(1, 2) };
}

const laneOf = (d: Dice): number => (d.chance(0.5) ? -1 : d.int(0, 2));
const epochOf = (d: Dice): { readonly lane: number; readonly epoch: number } => ({
  lane: laneOf(d),
  epoch: d.chance(0.4) ? 0 : d.int(1, 10),
});

function halfOf(d: Dice): Half {
  return { ...epochOf(d), answer: d.of(['lost', 'committed', 'unknown', 'same', 'same'] as const) };
}

/** `late`: the file that lets late commits land. */
export function scriptOf(d: Dice, late: string): ModelJob {
  const splits = splitsOf(d);
  const lost = d.chance(0.4) ? [{ lane: laneOf(d), epoch: 0 }] : d.some(4, () => epochOf(d));
  const limit = d.of([0, 0, 60, 200, 500]);
  const script: Script = {
    splits,
    events: eventsOf(d, splits),
    reader: { batchRows: d.int(1, 6) },
    writer: {
      protocol: d.of(['staged', 'marker', 'marker']),
      pipelined: d.chance(0.5),
      writeDelay: d.of([0, 0, 1]),
      epochBytes: limit,
      // All that may be in an epoch: twice the limit, and then each open transaction to its end.
      hardEpochBytes: Math.max(1, 2 * limit + MOST_SPLITS * MOST_IN_TRANSACTION * ROW_BYTES),
      failOn: d.some(4, () => failsOf(d)),
      lose: d.chance(0.6) ? lost : [],
      unknown: d.chance(0.15) ? [epochOf(d)] : [],
      late: d.chance(0.25) ? d.some(3, () => ({ lane: laneOf(d), epoch: d.int(1, 10), until: late })) : [],
      reject: d.some(2, () => `${d.of(splits).id}:${String(d.int(1, 10))}`),
      rejectAt: d.of(['write', 'prepare']),
    },
    more: {
      errorLimit: { record: null, percentage: null },
      // Slow enough for several epochs in one split.
      rowsPerSecond: d.of([0, 0, 1000, 2500]),
      checkpoint: { intervalMs: d.of([1, 1, 1, 10_000]), numRetained: d.int(1, 3) },
    },
  };
  return { script, halves: d.chance(0.3) ? d.some(3, () => halfOf(d)) : [] };
}
