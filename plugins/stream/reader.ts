import {
  defineReader,
  SyncError,
  type JsonValue,
  type LaneContext,
  type LaneReader,
  type Position,
  type PositionCodec,
  type Reader,
  type SplitPlanner,
} from 'syncx/plugin-api';
import { checkColumns, columnNames } from './columns.js';
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
