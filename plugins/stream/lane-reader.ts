import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  BatchBuilder,
  internSchema,
  SyncError,
  type LaneContext,
  type LaneReader,
  type Position,
  type ReadItem,
  type RowSchema,
  type Split,
} from 'syncx/plugin-api';
import { Wake } from 'syncx/plugin-kit';
import { madeColumns, schemaColumns, type MadeColumn } from './columns.js';
import { generatorOf, type Generator } from './generators.js';
import { countsOf, type ReaderOptions } from './options.js';

interface OpenSplit {
  readonly id: string;
  /** 0: endless. */
  readonly rows: number;
  readonly generators: readonly Generator[];
  readonly builder: BatchBuilder;
  /** Rows that have been made. */
  row: number;
  held: boolean;
  /** Under a rate: when it began, in ms of performance.now, and at which row. */
  readonly since: number;
  readonly sinceRow: number;
}

/** Rows that are made before the builder is asked again whether it is full. */
const STRETCH = 512;

export class StreamLaneReader implements LaneReader {
  readonly #open: OpenSplit[] = [];
  readonly #wake = new Wake();
  readonly #columns: readonly MadeColumn[];
  readonly #schema: RowSchema;
  readonly #options: ReaderOptions;
  readonly #lane: LaneContext;
  readonly #baseTime: number;
  #closed = false;

  /** `baseTime`: the planner's, in ms since 1970. */
  constructor(options: ReaderOptions, lane: LaneContext, baseTime: number) {
    this.#options = options;
    this.#lane = lane;
    this.#baseTime = baseTime;
    this.#columns = madeColumns(options);
    this.#schema = internSchema(schemaColumns(this.#columns));
  }

  assign(split: Split, from: Position | null): void {
    const { index, rows } = split.spec as { readonly index: number; readonly rows: number };
    const row = from === null ? 0 : (from as { readonly row: number }).row;
    if (rows > 0 && row > rows) {
      throw new SyncError('SOURCE_CHANGED', `the position is row ${String(row)} of ${String(rows)}`, {
        place: split.id,
      });
    }
    const counts = countsOf(this.#options);
    const endless = counts.includes(0);
    const permits = this.#options.permitsPerSecond;
    const facts = {
      index,
      // Counters are unique over all splits: one range after the other, or taking turns where one has no end.
      idStep: endless ? counts.length : 1,
      idOffset: endless ? index : counts.slice(0, index).reduce((sum, n) => sum + n, 0),
      baseTime: this.#baseTime,
      timeStep: 1,
    };
    this.#open.push({
      id: split.id,
      rows,
      generators: this.#columns.map((c, i) => generatorOf(c, i, facts)),
      builder: new BatchBuilder(this.#schema, {
        bytes: this.#lane.batch.bytes,
        // Under a rate a batch is a tenth of a second, so that rows come as steadily as asked for.
        rows:
          permits > 0 ? Math.min(this.#lane.batch.rows, Math.max(1, Math.floor(permits / 10))) : this.#lane.batch.rows,
      }),
      row,
      held: false,
      since: performance.now(),
      sinceRow: row,
    });
    this.#wake.ring();
  }

  hold(splitIds: readonly string[]): void {
    for (const s of this.#open) if (splitIds.includes(s.id)) s.held = true;
  }

  release(splitIds: readonly string[]): void {
    for (const s of this.#open) if (splitIds.includes(s.id)) s.held = false;
    this.#wake.ring();
  }

  async *read(signal: AbortSignal): AsyncGenerator<ReadItem> {
    signal.addEventListener('abort', this.#wake.ring);
    try {
      while (!signal.aborted && !this.#closed) {
        // Making rows never waits for anything, so timers and signals would starve behind a fast writer.
        await nextTurn();
        const s = this.#turn();
        if (s === null) {
          await this.#wake.wait(this.#soonest());
          continue;
        }
        if (s.rows > 0 && s.row >= s.rows) {
          yield { is: 'splitEnd', splitId: s.id, position: { row: s.row }, outcome: null };
          continue;
        }
        this.#fill(s);
        this.#open.push(s); // to the end of the line; at its last row, too, for its SplitEnd
        yield s.builder.finish(s.id, { row: s.row }, s.builder.length);
      }
    } finally {
      signal.removeEventListener('abort', this.#wake.ring);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#wake.ring();
    return Promise.resolve();
  }

  /** The first split that may go on now, taken out of the line; null: none. */
  #turn(): OpenSplit | null {
    const i = this.#open.findIndex((s) => !s.held && this.#waitMs(s) <= 0);
    return i < 0 ? null : (this.#open.splice(i, 1)[0] ?? null);
  }

  /** ms until the rate lets the next batch of a split pass. */
  #waitMs(s: OpenSplit): number {
    const permits = this.#options.permitsPerSecond;
    if (permits <= 0 || (s.rows > 0 && s.row >= s.rows)) return 0;
    return s.since + ((s.row - s.sinceRow) * 1000) / permits - performance.now();
  }

  #soonest(): number | undefined {
    const waits = this.#open.filter((s) => !s.held).map((s) => this.#waitMs(s));
    return waits.length === 0 ? undefined : Math.max(1, Math.ceil(Math.min(...waits)));
  }

  #fill(s: OpenSplit): void {
    const { builder, generators } = s;
    const columns = generators.length;
    const bytes = generators.reduce((sum, g) => sum + g.bytes, 0);
    while (!builder.full && (s.rows === 0 || s.row < s.rows)) {
      const room = this.#lane.batch.rows - builder.rows;
      const left = s.rows === 0 ? STRETCH : s.rows - s.row;
      const fits = Math.ceil((this.#lane.batch.bytes - builder.length) / Math.max(1, bytes));
      const n = this.#options.permitsPerSecond > 0 ? 1 : Math.max(1, Math.min(STRETCH, room, left, fits));
      builder.reserve(n * bytes, n * columns);
      const { data, ends } = builder;
      let at = builder.length;
      let cell = builder.cells;
      for (let i = 0; i < n; i++) {
        s.row++;
        for (const g of generators) {
          at = g.write(data, at, s.row);
          ends[cell++] = at;
        }
      }
      builder.length = at;
      builder.cells = cell;
      builder.rows += n;
    }
  }
}
