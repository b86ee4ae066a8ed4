/** What crosses between the coordinator and a worker lane. Only JSON, but for the limits' shared memory at the start. */
import type { ErrorReport, JsonObject } from '../../plugin-api/index.js';
import type { JobSettings } from '../../job/job-spec.js';
import type { Counters } from '../job/run-types.js';
import type { LaneEvents, LaneHost } from './lane-host.js';

/** What a worker makes its lane of. The options hold secrets: they stay in this process. */
export interface WorkerStart {
  readonly lane: number;
  /** Names and validated options of both plugins; the worker loads the code itself. */
  readonly reader: { readonly name: string; readonly options: JsonObject };
  readonly writer: { readonly name: string; readonly options: JsonObject };
  readonly settings: JobSettings;
  readonly secrets: readonly string[];
  /** Of the whole job, for all lanes: see {@link RateLimit}, {@link DirtyLimit} and `parseFailpoints`. */
  readonly memory: {
    readonly rate: SharedArrayBuffer;
    readonly dirty: SharedArrayBuffer;
    readonly hits: SharedArrayBuffer;
  };
  readonly failpoint: string | undefined;
}

type Answered = Pick<LaneHost, 'open' | 'barrier' | 'cancel' | 'prepare' | 'commit' | 'alter' | 'release' | 'close'>;
export type LaneMethod = keyof Answered;
export type LaneArgs<M extends LaneMethod> = Parameters<Answered[M]>;
export type LaneResult<M extends LaneMethod> = Awaited<ReturnType<Answered[M]>>;

/** One call that is answered by its id. */
export type LaneCall = {
  [M in LaneMethod]: { readonly is: 'call'; readonly id: number; readonly method: M; readonly args: LaneArgs<M> };
}[LaneMethod];

export type ToLane =
  | LaneCall
  | { readonly is: 'start'; readonly args: Parameters<LaneHost['start']> }
  | { readonly is: 'assign'; readonly args: Parameters<LaneHost['assign']> }
  /** The run has ended for whatever reason. */
  | { readonly is: 'abort'; readonly error: ErrorReport };

export type LaneEvent = {
  [M in keyof LaneEvents]: { readonly is: 'event'; readonly name: M; readonly args: Parameters<LaneEvents[M]> };
}[keyof LaneEvents];

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Messages keep their order: what a lane said before it answered is known when the answer comes. */
export type FromLane =
  | { readonly is: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly is: 'refusal'; readonly id: number; readonly error: ErrorReport }
  | LaneEvent
  | { readonly is: 'log'; readonly level: LogLevel; readonly fields: JsonObject; readonly message: string }
  /** While the lane opens: the thread is not blocked. */
  | { readonly is: 'alive' }
  | { readonly is: 'moved'; readonly counters: Counters; readonly metrics: JsonObject };
