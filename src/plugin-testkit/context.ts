import { randomBytes } from 'node:crypto';
import {
  DEFAULT_BATCH_TARGET,
  type LaneContext,
  type Logger,
  type Metrics,
  type PluginContext,
  type RunIdentity,
} from '../plugin-api/index.js';

const ignore = (): void => undefined;
const log: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const metrics: Metrics = {
  counter: () => ({ add: ignore }),
  gauge: () => ({ set: ignore }),
  meter: () => ({ mark: ignore }),
  histogram: () => ({ record: ignore }),
};

export function testContext(signal: AbortSignal = new AbortController().signal): PluginContext {
  return { log, metrics, signal, failpoint: ignore };
}

export function testRun(runId: string = randomBytes(6).toString('hex'), attempt = 1): RunIdentity {
  return { jobId: 'contract-test', runId, attempt };
}

export function testLane(run: RunIdentity, lane = 0, lanes = 1, signal?: AbortSignal): LaneContext {
  return { ...testContext(signal), run, lane, lanes, batch: DEFAULT_BATCH_TARGET };
}
