import {
  DEFAULT_BATCH_TARGET,
  SyncError,
  type BatchTarget,
  type JsonObject,
  type LaneContext,
  type Logger,
  type Position,
  type Reader,
  type Split,
  type Writer,
} from '../../plugin-api/index.js';
import { NO_COUNTERS, type LaneRecord } from '../checkpoint/format.js';
import { DirtyRows } from '../dirty/dirty-rows.js';
import type { Failpoints } from '../failpoints.js';
import type { Counters } from '../job/run-types.js';
import type { JobSettings } from '../../job/job-spec.js';
import type { Redact } from '../../job/redact.js';
import type { DirtyLimit } from '../limits/dirty-limit.js';
import type { RateLimit } from '../limits/rate-limit.js';
import { MetricRegistry } from '../observe/metrics.js';
import type { BarrierReport, LaneEnd, LaneEvents, LaneHost, LaneOpen } from './lane-host.js';
import { Lane } from './lane.js';

export interface InProcessDeps {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly settings: JobSettings;
  readonly log: Logger;
  readonly points: Failpoints;
  readonly rate: RateLimit;
  readonly limit: DirtyLimit;
  readonly redact: Redact;
  readonly events: LaneEvents;
  readonly signal: AbortSignal;
}

/** When calls that a closed lane waits for are told to give up (ms). */
const HURRY_MS = 2000;
/** How long a closed lane may take to settle before the process gives up on it (ms). */
export const SETTLE_MS = 10_000;

/** A lane in the thread of its plugins: the coordinator's, or a worker's. */
export class InProcessHost implements LaneHost {
  readonly #d: InProcessDeps;
  #lane: Lane | null = null;
  /** Once closed. */
  #last: Counters = NO_COUNTERS;
  readonly #hurry = new AbortController();
  readonly #metrics = new MetricRegistry();

  constructor(deps: InProcessDeps) {
    this.#d = deps;
  }

  async open(init: LaneOpen): Promise<void> {
    const { settings, log, points, rate, limit, events, signal } = this.#d;
    const context: LaneContext = {
      log,
      metrics: this.#metrics,
      signal: AbortSignal.any([signal, this.#hurry.signal]),
      failpoint: (step) => {
        points.hit(step, init.lane);
      },
      run: init.run,
      lane: init.lane,
      lanes: init.lanes,
      batch: batchTarget(settings),
    };
    const reader = await this.#d.reader.openLane(context, init.shared);
    try {
      this.#lane = new Lane({
        lane: init.lane,
        reader,
        writer: await this.#d.writer.openLane(context, init.writerState),
        pipelined: this.#d.writer.pipelined ?? false,
        epochLimit: this.#d.writer.epochLimit ?? null,
        writerState: init.writerState,
        events,
        dirty: new DirtyRows(init.dirtyDir, init.run, init.lane, limit, this.#d.redact),
        rate,
        points,
      });
    } catch (e) {
      await reader[Symbol.asyncDispose]();
      throw e;
    }
  }

  get #open(): Lane {
    if (!this.#lane) throw new SyncError('INTERNAL', 'the lane is not open');
    return this.#lane;
  }

  start(epoch: number): void {
    this.#open.start(epoch);
  }

  assign(split: Split, from: Position | null): void {
    this.#open.assign(split, from);
  }

  barrier(epoch: number): Promise<BarrierReport> {
    return this.#open.barrier(epoch);
  }

  cancel(epoch: number): Promise<void> {
    this.#open.cancel(epoch);
    return Promise.resolve();
  }

  prepare(epoch: number, hold: boolean, last: boolean): Promise<LaneRecord> {
    return this.#open.prepare(epoch, hold, last);
  }

  commit(epoch: number, hold: boolean): Promise<void> {
    return this.#open.commit(epoch, hold);
  }

  alter(epoch: number): Promise<void> {
    return this.#open.alter(epoch);
  }

  release(epoch: number): Promise<void> {
    this.#open.release(epoch);
    return Promise.resolve();
  }

  counters(): Counters {
    return this.#lane?.counters() ?? this.#last;
  }

  metrics(): JsonObject {
    return this.#metrics.snapshot();
  }

  async close(end: LaneEnd): Promise<void> {
    const lane = this.#lane;
    const metrics = this.#metrics.snapshot();
    if (Object.keys(metrics).length > 0) this.#d.log.debug(metrics, 'metrics of the lane');
    this.#last = this.counters();
    this.#lane = null;
    if (lane) await this.#settled(lane.close(end));
  }

  async #settled(closing: Promise<void>): Promise<void> {
    const hurry = setTimeout(() => {
      this.#hurry.abort(new SyncError('INTERNAL', 'the lane is closed'));
    }, HURRY_MS);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new SyncError('LANE_STUCK', `a lane did not stop within ${String(SETTLE_MS / 1000)} s of its abort`));
      }, SETTLE_MS);
    });
    try {
      await Promise.race([closing, late]);
    } finally {
      clearTimeout(hurry);
      clearTimeout(timer);
    }
  }
}

/** Under a rate limit small batches keep the flow even: about a quarter of a second's worth. */
function batchTarget(settings: JobSettings): BatchTarget {
  const { rowsPerSecond, bytesPerSecond } = settings;
  return {
    rows: rowsPerSecond > 0 ? clamp(rowsPerSecond / 4, DEFAULT_BATCH_TARGET.rows) : DEFAULT_BATCH_TARGET.rows,
    bytes: bytesPerSecond > 0 ? clamp(bytesPerSecond / 4, DEFAULT_BATCH_TARGET.bytes) : DEFAULT_BATCH_TARGET.bytes,
  };
}

function clamp(n: number, max: number): number {
  return Math.max(1, Math.min(max, Math.floor(n)));
}
