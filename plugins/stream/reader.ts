import {
  defineReader,
  SyncError,
  type JsonValue,
  type LaneContext,
  type LaneReader,
  type Position,
  type PositionCodec,
  type Reader,
  type ReaderFacts,
  type Split,
  type SplitFacts,
  type SplitPlanner,
} from 'syncx/plugin-api';
import { checkColumns, columnNames, madeColumns } from './columns.js';
import { StreamLaneReader } from './lane-reader.js';
import { countsOf, READER_OPTIONS, type ReaderOptions } from './options.js';
import { StreamPlanner } from './planner.js';

const rowOf = (p: Position): number => (p as { readonly row: number }).row;

const positions: PositionCodec = {
  format: 1,
  compare: (a, b) => (rowOf(a) === rowOf(b) ? 0 : rowOf(a) < rowOf(b) ? -1 : 1),
  show: (p) => `row ${String(rowOf(p))}`,
};

class StreamReader implements Reader {
  readonly positions = positions;
  readonly replayable = true;
  readonly #options: ReaderOptions;
  #planner: StreamPlanner | null = null;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  planner(saved: JsonValue | null): Promise<SplitPlanner> {
    this.#planner = new StreamPlanner(countsOf(this.#options), saved);
    return Promise.resolve(this.#planner);
  }

  shared(): JsonValue {
    return { baseTime: this.#planner?.baseTime ?? null };
  }

  explain(): Promise<ReaderFacts> {
    const counts = countsOf(this.#options);
    const rows = counts.includes(0) ? null : counts.reduce((n, c) => n + c, 0);
    const many = counts.length === 1 ? 'one split' : `${String(counts.length)} splits`;
    const reads = [`made-up rows in ${many}, ${rows === null ? 'without end' : `${String(rows)} in all`}`];
    const columns = madeColumns(this.#options).map(({ name, type }) => ({ name, type }));
    return Promise.resolve({ reads, columns, rows, bytes: null, problems: [] });
  }

  explainSplit(split: Split): SplitFacts {
    const { rows } = split.spec as { readonly rows: number };
    return { what: split.id, rows: rows === 0 ? null : rows, bytes: null };
  }

  openLane(lane: LaneContext, shared: JsonValue): Promise<LaneReader> {
    const baseTime = (shared as { readonly baseTime?: number | null } | null)?.baseTime;
    if (typeof baseTime !== 'number') {
      return Promise.reject(new SyncError('INTERNAL', 'a lane of the stream reader was opened before its planner'));
    }
    return Promise.resolve(new StreamLaneReader(this.#options, lane, baseTime));
  }
}

export const reader = defineReader({
  name: 'stream',
  aliases: [],
  summary: 'Makes up rows.',
  options: READER_OPTIONS,
  boundedness: (o) => (countsOf(o).includes(0) ? 'unbounded' : 'bounded'),
  replayable: true,
  check: checkColumns,
  columns: columnNames,
  create: (o) => Promise.resolve(new StreamReader(o)),
});
