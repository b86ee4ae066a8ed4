import { join } from 'node:path';
import {
  defineReader,
  SyncError,
  type CursorBounds,
  type Finding,
  type JsonValue,
  type LaneContext,
  type LaneReader,
  type Position,
  type PositionCodec,
  type Reader,
  type SplitPlanner,
} from 'syncx/plugin-api';
import { readFile, writeFile } from 'node:fs/promises';
import { makeDir } from './durable.js';
import { ScriptedLaneReader } from './lane-reader.js';
import { tellOptions } from './leak.js';
import { READER_OPTIONS, type ReaderOptions, type SplitOptions } from './options.js';
import { ScriptedPlanner } from './planner.js';
import { COLUMNS } from './rows.js';
import { TROUBLES } from './trouble.js';

const rowOf = (p: Position): number => (p as { readonly row: number }).row;

const positions: PositionCodec = {
  format: 1,
  compare(a, b) {
    const d = rowOf(a) - rowOf(b);
    return d < 0 ? -1 : d > 0 ? 1 : 0;
  },
  show: (p) => `row ${String(rowOf(p))}`,
};

class ScriptedReader implements Reader {
  readonly positions = positions;
  readonly replayable: boolean;
  readonly #options: ReaderOptions;
  #splits: readonly SplitOptions[];

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#splits = options.splits;
    this.replayable = options.replayable;
  }

  planner(saved: JsonValue | null, _lanes?: number, bounds?: CursorBounds): Promise<SplitPlanner> {
    if (bounds) this.#splits = [splitBetween(bounds)];
    return Promise.resolve(new ScriptedPlanner(this.#splits, saved));
  }

  /** The column is the number of a row in the source, from 1: a count of rows is its highest value. */
  async bounds(lower: JsonValue | null): Promise<CursorBounds> {
    const there = Number(await readFile(this.#options.sourceFile, 'utf8'));
    return { lower, upper: Math.max(there, Number(lower ?? 0)) };
  }

  shared(): JsonValue {
    return { splits: this.#options.splits.length };
  }

  async openLane(lane: LaneContext, shared: JsonValue): Promise<LaneReader> {
    const splits = (shared as { readonly splits?: number } | null)?.splits;
    if (splits !== this.#options.splits.length) {
      throw new SyncError('INTERNAL', `lane ${String(lane.lane)} did not get the planner's shared facts`);
    }
    return Promise.resolve(new ScriptedLaneReader(this.#options, lane));
  }

  async checkpointed(at: Readonly<Record<string, Position | null>>): Promise<void> {
    if (this.#options.folder === '') return;
    await makeDir(this.#options.folder);
    await writeFile(join(this.#options.folder, 'checkpointed.json'), JSON.stringify(at));
  }
}

/** The rows of a run with a cursor; the split's name says which. */
function splitBetween({ lower, upper }: CursorBounds): SplitOptions {
  const from = Number(lower ?? 0);
  const rows = Number(upper ?? 0) - from;
  return { id: `after-${String(from)}`, rows, bounded: true, after: [], transaction: 1 };
}

const isTrouble = (what: string): boolean => (TROUBLES as readonly string[]).includes(what);

function check(options: ReaderOptions): readonly Finding[] {
  const findings: Finding[] = [];
  if (options.increColumn !== '' && options.sourceFile === '') {
    findings.push({ path: 'sourceFile', message: 'is needed for increColumn' });
  }
  const byId = new Map(options.splits.map((s) => [s.id, s]));
  options.splits.forEach((s, i) => {
    if (options.splits.findIndex((x) => x.id === s.id) !== i)
      findings.push({ path: `splits[${String(i)}].id`, message: `${s.id} is there twice` });
    for (const d of s.after.filter((id) => !byId.has(id))) {
      findings.push({ path: `splits[${String(i)}].after`, message: `there is no split ${d}` });
    }
  });
  options.events.forEach((e, i) => {
    const path = `events[${String(i)}]`;
    const s = byId.get(e.split);
    if (!s) findings.push({ path: `${path}.split`, message: `there is no split ${e.split}` });
    else if (e.at > s.rows + 1)
      findings.push({ path: `${path}.at`, message: `split ${s.id} has ${String(s.rows)} rows` });
    else if ((e.do === 'schema' || e.do === 'idle') && (e.at - 1) % s.transaction !== 0) {
      findings.push({ path: `${path}.at`, message: `${e.do} is possible at the start of a transaction only` });
    } else if (e.do === 'dirty' && e.at > s.rows)
      findings.push({ path: `${path}.at`, message: 'there is no such row' });
    if ((e.do === 'fail' || isTrouble(e.do)) && options.folder === '')
      findings.push({ path: 'folder', message: `is needed for ${e.do} events` });
    if (e.do === 'pause' && e.until === '') findings.push({ path: `${path}.until`, message: 'is needed for a pause' });
  });
  return findings;
}

export const reader = defineReader({
  name: 'scripted',
  aliases: [],
  summary: 'Rows made from a script, with trouble on demand, for tests.',
  options: READER_OPTIONS,
  cursor: (o) => o.increColumn !== '',
  boundedness: (o) => (o.splits.every((s) => s.bounded) ? 'bounded' : 'unbounded'),
  replayable: 'by-options',
  check,
  columns: () => COLUMNS,
  create: (options, context) => {
    tellOptions(options, context);
    return Promise.resolve(new ScriptedReader(options));
  },
});
