import type { BatchTarget } from './batch-builder.js';
import type { JsonObject } from './json.js';
import type { Metrics } from './metrics.js';

export interface Logger {
  debug(fields: JsonObject, message: string): void;
  info(fields: JsonObject, message: string): void;
  warn(fields: JsonObject, message: string): void;
  error(fields: JsonObject, message: string): void;
}

/** What a plugin instance gets when it is created. */
export interface PluginContext {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Aborted when the run ends for whatever reason. */
  readonly signal: AbortSignal;
  /**
   * A named place where tests make the process die or stop. Does nothing in normal use. Put one wherever a crash
   * leaves another trace than a crash just before it.
   */
  failpoint(step: string): void;
  /** True for `sync plan`: nothing will be read or written, so nothing is waited for and nothing is locked. */
  readonly plansOnly?: boolean;
}

/** The run as plugins see it. Names of staged and published things, markers and ids carry `runId` (and `attempt`). */
export interface RunIdentity {
  readonly jobId: string;
  /** Random, 12 characters of [a-z0-9]; safe in file names, SQL and Kafka ids. */
  readonly runId: string;
  /** This start of the run, from 1. */
  readonly attempt: number;
}

/** A run with everything that any of its starts may have left behind, for sweeping. */
export interface RunRecord {
  readonly runId: string;
  readonly attempts: readonly number[];
  /** Highest number of lanes that any attempt had. */
  readonly lanes: number;
  /** True: nobody will go on with the run, so what its lanes' states name may go too. */
  readonly givenUp: boolean;
}

export interface LaneContext extends PluginContext {
  readonly run: RunIdentity;
  /** From 0. */
  readonly lane: number;
  readonly lanes: number;
  /** Readers cut batches at this size; smaller under a rate limit. */
  readonly batch: BatchTarget;
}
