/** The prepared transactions at the target of a job, for a person who looks after them. */
import {
  SyncError,
  type Logger,
  type PluginContext,
  type PreparedBranch,
  type PreparedBranches,
} from '../../plugin-api/index.js';
import type { JobSpec } from '../../job/job-spec.js';
import { MetricRegistry } from '../observe/metrics.js';
import { pluginCall } from './plugin-call.js';

export interface RolledBack {
  readonly id: string;
  /** False: it is not there, or its connection still lives. */
  readonly done: boolean;
}

export function listBranches(job: JobSpec, log: Logger): Promise<readonly PreparedBranch[]> {
  return withBranches(job, log, (b) => b.list());
}

/** Those of these ids, and all of that run. */
export function rollBackBranches(
  job: JobSpec,
  asked: { readonly ids: readonly string[]; readonly runId: string | null },
  log: Logger,
): Promise<readonly RolledBack[]> {
  return withBranches(job, log, async (branches) => {
    const ofRun = asked.runId === null ? [] : (await branches.list()).filter((b) => b.runId === asked.runId);
    const done: RolledBack[] = [];
    for (const id of new Set([...asked.ids, ...ofRun.map((b) => b.id)])) {
      done.push({ id, done: await branches.rollBack(id) });
    }
    return done;
  });
}

async function withBranches<T>(job: JobSpec, log: Logger, f: (b: PreparedBranches) => Promise<T>): Promise<T> {
  const ended = new AbortController();
  const context: PluginContext = {
    log,
    metrics: new MetricRegistry(),
    signal: ended.signal,
    failpoint: () => undefined,
  };
  const { definition, options } = job.writer;
  return pluginCall('SINK_IO', async () => {
    const writer = await definition.create(options, context);
    try {
      if (!writer.branches) {
        throw new SyncError('USAGE', `the target of ${definition.name} keeps no prepared transactions`, {
          hint: 'Only targets that commit by XA do.',
        });
      }
      return await f(writer.branches);
    } finally {
      await writer.close?.();
      ended.abort();
    }
  });
}
