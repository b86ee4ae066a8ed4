/** One side as a stream of batches, read through the ordinary contract: one lane, all splits one after another. */
import {
  DEFAULT_BATCH_TARGET,
  SyncError,
  type AnyReaderDefinition,
  type CursorBounds,
  type LaneContext,
  type LaneReader,
  type Logger,
  type PluginContext,
  type Reader,
  type RowBatch,
  type Split,
  type SplitPlanner,
} from '../../plugin-api/index.js';
import type { PluginUse } from '../../job/job-spec.js';
import { pluginCall } from '../job/plugin-call.js';
import { MetricRegistry } from '../observe/metrics.js';
import { readOnce } from './read-once.js';

export interface SideUse {
  readonly use: Pick<PluginUse<AnyReaderDefinition>, 'definition' | 'options'>;
  /** Of a job with a cursor: which rows are meant. */
  readonly bounds: CursorBounds | undefined;
}

export interface SideContext {
  readonly jobId: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** No run: nothing is written under this name. */
const NO_RUN = 'verify000000';

export class ReadSide implements AsyncDisposable {
  readonly reader: Reader;
  readonly #planner: SplitPlanner;
  readonly #context: PluginContext;
  readonly #jobId: string;
  readonly #end: AbortController;
  #lane: LaneReader | null = null;

  private constructor(
    reader: Reader,
    planner: SplitPlanner,
    context: PluginContext,
    jobId: string,
    end: AbortController,
  ) {
    this.reader = reader;
    this.#planner = planner;
    this.#context = context;
    this.#jobId = jobId;
    this.#end = end;
  }

  /** @throws SyncError JOB_INVALID where the source cannot be read a second time. */
  static async open({ use, bounds }: SideUse, { jobId, log, signal }: SideContext): Promise<ReadSide> {
    const end = new AbortController();
    const context: PluginContext = {
      log,
      metrics: new MetricRegistry(),
      signal: AbortSignal.any([signal, end.signal]),
      failpoint: () => undefined,
    };
    return pluginCall('SOURCE_IO', async () => {
      const reader = await use.definition.create(use.options, context);
      try {
        if (!reader.replayable) throw readOnce(use.definition.name);
        return new ReadSide(reader, await reader.planner(null, 1, bounds), context, jobId, end);
      } catch (e) {
        end.abort();
        await reader.close?.();
        throw e;
      }
    });
  }

  /** All rows, or those of the given splits. Once for a side. */
  async *batches(given?: readonly Split[]): AsyncGenerator<RowBatch> {
    const reading = new AbortController();
    const signal = AbortSignal.any([this.#context.signal, reading.signal]);
    const shared = this.reader.shared?.() ?? null;
    const run = { jobId: this.#jobId, runId: NO_RUN, attempt: 1 };
    const context: LaneContext = { ...this.#context, run, lane: 0, lanes: 1, batch: DEFAULT_BATCH_TARGET };
    const lane = await pluginCall('SOURCE_IO', () => this.reader.openLane(context, shared));
    this.#lane = lane;
    const left = given === undefined ? null : [...given];
    const next = async (): Promise<Split | 'end'> =>
      left === null ? pluginCall('SOURCE_IO', () => this.#planner.next(signal)) : (left.shift() ?? 'end');
    const assignNext = async (): Promise<boolean> => {
      const split = await next();
      if (split === 'end') return false;
      lane.assign(split, null);
      return true;
    };
    if (!(await assignNext())) return;
    const items = lane.read(signal)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const got = await pluginCall('SOURCE_IO', () => items.next());
        signal.throwIfAborted();
        if (got.done === true) throw new SyncError('PLUGIN_BROKEN', 'the reader ended without being stopped');
        const item = got.value;
        if (item.is === 'batch') yield item;
        if (item.is !== 'splitEnd') continue;
        if (left === null) {
          this.#planner.finished(item.splitId, item.outcome);
          this.#planner.committed([item.splitId]);
        }
        if (!(await assignNext())) return;
      }
    } finally {
      reading.abort(new SyncError('INTERNAL', 'all is read'));
      await items.return?.();
    }
  }

  /** Whatever is under way ends. */
  stop(): void {
    this.#end.abort(new SyncError('INTERNAL', 'the side is closed'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await this.#lane?.[Symbol.asyncDispose]();
    await this.reader.close?.();
  }
}
