import { Worker } from 'node:worker_threads';
import {
  errorFromReport,
  reportError,
  SyncError,
  toSyncError,
  type JsonObject,
  type Logger,
  type Position,
  type Split,
} from '../../plugin-api/index.js';
import { NO_COUNTERS, type LaneRecord } from '../checkpoint/format.js';
import type { Counters } from '../job/run-types.js';
import { SETTLE_MS } from './in-process-host.js';
import type { BarrierReport, LaneEnd, LaneEvents, LaneHost, LaneOpen } from './lane-host.js';
import type { FromLane, LaneArgs, LaneMethod, LaneResult, ToLane, WorkerStart } from './lane-messages.js';

export interface WorkerDeps {
  /** The module that serves a lane: `src/worker/lane-worker`. */
  readonly entry: URL;
  readonly start: WorkerStart;
  readonly log: Logger;
  readonly events: LaneEvents;
  readonly signal: AbortSignal;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (e: unknown) => void;
}

/** A worker that has not answered its close by then is ended by force (ms): its own lane has given up before. */
const CLOSE_MS = SETTLE_MS + 2000;
/**
 * A worker says something all the time (see `serveLane`). One that is silent for so long (ms) while it owes an answer is
 * blocked, and will never give it. Counted in ticks: a process that was stopped for an hour has missed one.
 */
const SILENT_MS = 10_000;
const SILENT_AT_CLOSE_MS = 5000;
const TICK_MS = 250;

/** A lane in a worker thread, which runs the same host as this thread would. */
export class WorkerHost implements LaneHost {
  readonly #d: WorkerDeps;
  readonly #calls = new Map<number, Pending>();
  #worker: Worker | null = null;
  #ids = 0;
  #counters: Counters = NO_COUNTERS;
  #metrics: JsonObject = {};
  /** Why the worker cannot answer any more. */
  #dead: SyncError | null = null;
  #closing = false;
  /** Messages so far. */
  #heard = 0;

  constructor(deps: WorkerDeps) {
    this.#d = deps;
  }

  async open(init: LaneOpen): Promise<void> {
    const worker = new Worker(this.#d.entry, { workerData: this.#d.start, name: `lane ${String(init.lane)}` });
    this.#worker = worker;
    worker.on('message', (m: FromLane) => {
      this.#receive(m);
    });
    worker.on('error', (e: unknown) => {
      this.#die(laneDied(init.lane, e));
    });
    worker.on('messageerror', (e: unknown) => {
      this.#die(laneDied(init.lane, e));
    });
    worker.on('exit', (code) => {
      this.#die(laneDied(init.lane, `its thread ended with code ${String(code)}`));
    });
    this.#d.signal.addEventListener('abort', this.#onAbort, { once: true });
    await this.#whileAlive(this.#call('open', init));
  }

  readonly #onAbort = (): void => {
    this.#post({ is: 'abort', error: reportError(this.#d.signal.reason) });
  };

  start(epoch: number): void {
    this.#post({ is: 'start', args: [epoch] });
  }

  assign(split: Split, from: Position | null): void {
    this.#post({ is: 'assign', args: [split, from] });
  }

  barrier(epoch: number): Promise<BarrierReport> {
    return this.#call('barrier', epoch);
  }

  cancel(epoch: number): Promise<void> {
    return this.#whileAlive(this.#call('cancel', epoch));
  }

  prepare(epoch: number, hold: boolean, last: boolean): Promise<LaneRecord> {
    return this.#call('prepare', epoch, hold, last);
  }

  commit(epoch: number, hold: boolean): Promise<void> {
    return this.#whileAlive(this.#call('commit', epoch, hold));
  }

  alter(epoch: number): Promise<void> {
    return this.#whileAlive(this.#call('alter', epoch));
  }

  release(epoch: number): Promise<void> {
    return this.#whileAlive(this.#call('release', epoch));
  }

  counters(): Counters {
    return this.#counters;
  }

  async close(end: LaneEnd): Promise<void> {
    this.#closing = true;
    this.#d.signal.removeEventListener('abort', this.#onAbort);
    const worker = this.#worker;
    this.#worker = null;
    if (!worker) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new SyncError('INTERNAL', `the worker of lane ${String(this.#d.start.lane)} does not answer its close`));
      }, CLOSE_MS);
    });
    try {
      // What a dead worker left is swept by the next start.
      if (!this.#dead) {
        const answer = this.#whileAlive(this.#send(worker, 'close', [end]), SILENT_AT_CLOSE_MS);
        await Promise.race([answer, late]);
      }
    } catch (e) {
      const stuck = toSyncError(e);
      // It ends with its thread, so another attempt in this process runs beside nothing.
      throw stuck.code === 'LANE_STUCK' ? new SyncError('LANE_DIED', stuck.message) : stuck;
    } finally {
      clearTimeout(timer);
      await worker.terminate();
      if (Object.keys(this.#metrics).length > 0) this.#d.log.debug(this.#metrics, 'metrics of the lane');
    }
  }

  metrics(): JsonObject {
    return this.#metrics;
  }

  #post(message: ToLane): void {
    this.#worker?.postMessage(message);
  }

  #call<M extends LaneMethod>(method: M, ...args: LaneArgs<M>): Promise<LaneResult<M>> {
    const worker = this.#worker;
    if (!worker || this.#dead) {
      return Promise.reject(this.#dead ?? new SyncError('INTERNAL', 'the lane is not open'));
    }
    return this.#send(worker, method, args);
  }

  #send<M extends LaneMethod>(worker: Worker, method: M, args: LaneArgs<M>): Promise<LaneResult<M>> {
    return new Promise<LaneResult<M>>((resolve, reject) => {
      const id = ++this.#ids;
      this.#calls.set(id, { resolve: resolve as (value: unknown) => void, reject });
      worker.postMessage({ is: 'call', id, method, args });
    });
  }

  /** For answers that nobody else sets a limit to; barriers and prepares have the checkpoint's timeout. */
  async #whileAlive<T>(answer: Promise<T>, mostMs?: number): Promise<T> {
    const limitMs = mostMs ?? Math.max(SILENT_MS, this.#d.start.settings.checkpoint.timeoutMs);
    let heard = this.#heard;
    let silentMs = 0;
    const timer = setInterval(() => {
      silentMs = heard === this.#heard ? silentMs + TICK_MS : 0;
      heard = this.#heard;
      if (silentMs < limitMs) return;
      this.#die(laneDied(this.#d.start.lane, `its thread has been blocked for ${String(limitMs / 1000)} s`));
    }, TICK_MS);
    try {
      return await answer;
    } finally {
      clearInterval(timer);
    }
  }

  #receive(m: FromLane): void {
    this.#heard++;
    switch (m.is) {
      case 'answer':
      case 'refusal': {
        const call = this.#calls.get(m.id);
        this.#calls.delete(m.id);
        if (m.is === 'answer') call?.resolve(m.value);
        else call?.reject(errorFromReport(m.error));
        break;
      }
      case 'event':
        // A closed lane has nothing more to say; its answers and the rows it has rejected still count.
        if (!this.#closing || m.name === 'dirty') tell(this.#d.events, m);
        break;
      case 'log':
        this.#d.log[m.level](m.fields, m.message);
        break;
      case 'alive':
        break;
      case 'moved':
        this.#counters = m.counters;
        this.#metrics = m.metrics;
        break;
    }
  }

  #die(why: SyncError): void {
    if (this.#dead) return;
    this.#dead = why;
    for (const c of this.#calls.values()) c.reject(why);
    this.#calls.clear();
    if (!this.#closing) this.#d.events.failed(this.#d.start.lane, reportError(why));
  }
}

function tell(events: LaneEvents, m: Extract<FromLane, { readonly is: 'event' }>): void {
  switch (m.name) {
    case 'wantSplit':
      events.wantSplit(...m.args);
      break;
    case 'splitEnd':
      events.splitEnd(...m.args);
      break;
    case 'wantCheckpoint':
      events.wantCheckpoint(...m.args);
      break;
    case 'dirty':
      events.dirty(...m.args);
      break;
    case 'failed':
      events.failed(...m.args);
      break;
  }
}

function laneDied(lane: number, cause: unknown): SyncError {
  const memory = (cause as { readonly code?: unknown } | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
  const known = toSyncError(cause, 'LANE_DIED');
  const why = memory ? 'it ran out of memory' : known.message;
  const hint = memory
    ? 'Lower speed.channel, or raise the limit with NODE_OPTIONS=--max-old-space-size.'
    : known.code === 'LANE_DIED'
      ? known.hint
      : undefined;
  return new SyncError('LANE_DIED', `lane ${String(lane)} has died: ${why}`, {
    cause,
    ...(known.code === 'LANE_DIED' ? { retry: known.retry } : {}),
    ...(hint === undefined ? {} : { hint }),
  });
}
