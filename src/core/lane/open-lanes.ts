/** From a job to its lanes: how many, where they run, and what each starts with. */
import {
  SyncError,
  toSyncError,
  type JsonObject,
  type JsonValue,
  type Logger,
  type Reader,
  type RunIdentity,
  type SplitPlanner,
  type Writer,
} from '../../plugin-api/index.js';
import type { JobSpec } from '../../job/job-spec.js';
import { redactor } from '../../job/redact.js';
import { parseFailpoints } from '../failpoints.js';
import { DirtyLimit } from '../limits/dirty-limit.js';
import { RateLimit, rateMemory } from '../limits/rate-limit.js';
import { InProcessHost } from './in-process-host.js';
import type { LaneEvents, LaneHost } from './lane-host.js';
import { WorkerHost } from './worker-host.js';

export interface LanesParts {
  readonly job: JobSpec;
  /** The coordinator's own; lanes in its thread share them. */
  readonly reader: Reader;
  readonly writer: Writer;
  readonly lanes: number;
  /** The module that workers run; null: all lanes share this thread. */
  readonly workerEntry: URL | null;
  readonly log: Logger;
  readonly failpoint: string | undefined;
  /** Of the whole job: the count of dirty rows, the hits of failpoints. */
  readonly memory: { readonly dirty: SharedArrayBuffer; readonly hits: SharedArrayBuffer };
  readonly events: LaneEvents;
  readonly signal: AbortSignal;
}

/** As many as are asked for, but no more than have something to do. `open`: splits that an earlier start left open. */
export function laneCount(channel: number, planner: SplitPlanner, open: number, writer: Writer): number {
  const remaining = planner.remaining?.() ?? Infinity;
  return Math.max(1, Math.min(channel, remaining + open, writer.maxLanes ?? Infinity));
}

/** One lane runs in this thread, several in a worker each. Not open yet. */
export function makeHosts(p: LanesParts): readonly LaneHost[] {
  const { job, log, events, signal, failpoint } = p;
  const { settings } = job;
  const memory = { ...p.memory, rate: rateMemory() };
  const numbers = Array.from({ length: p.lanes }, (_, lane) => lane);
  const entry = p.workerEntry;
  if (p.lanes === 1 || entry === null) {
    const points = parseFailpoints(failpoint, memory.hits);
    const rate = new RateLimit(settings.rowsPerSecond, settings.bytesPerSecond, memory.rate);
    const limit = new DirtyLimit(settings.errorLimit, memory.dirty);
    const { reader, writer } = p;
    const redact = redactor(job.secrets);
    const deps = { reader, writer, settings, log, points, rate, limit, redact, events, signal };
    return numbers.map(() => new InProcessHost(deps));
  }
  const reader = { name: job.reader.definition.name, options: job.reader.options as JsonObject };
  const writer = { name: job.writer.definition.name, options: job.writer.options as JsonObject };
  return numbers.map(
    (lane) =>
      new WorkerHost({
        entry,
        log,
        events,
        signal,
        start: { lane, reader, writer, settings, secrets: job.secrets, memory, failpoint },
      }),
  );
}

export async function openHosts(
  hosts: readonly LaneHost[],
  run: RunIdentity,
  shared: JsonValue,
  states: readonly (JsonValue | null)[],
  dirtyDir: string,
): Promise<void> {
  const opening = hosts.map((host, lane) =>
    host.open({ run, lane, lanes: hosts.length, shared, writerState: states[lane] ?? null, dirtyDir }),
  );
  // All have settled before anything is closed: a lane that is still opening could not be.
  for (const r of await Promise.allSettled(opening)) if (r.status === 'rejected') throw toSyncError(r.reason);
}

/**
 * The states that lanes of an earlier start left, spread over the lanes of this one.
 * @throws SyncError STATE_MISFIT where the writer cannot do that.
 */
export function laneStates(
  writer: Writer,
  states: readonly (JsonValue | null)[],
  lanes: number,
): readonly (JsonValue | null)[] {
  if (states.length === lanes) return states;
  if (states.every((s) => s === null)) return Array.from({ length: lanes }, () => null);
  if (writer.recoverLanes) return writer.recoverLanes(states, lanes);
  throw new SyncError(
    'STATE_MISFIT',
    `the writer's state of ${String(states.length)} lanes cannot be spread over ${String(lanes)}`,
    { hint: `Set speed.channel to ${String(states.length)}.` },
  );
}
