/** A job of several content entries: each runs as a job of its own, in order or side by side. */
import { setMaxListeners } from 'node:events';
import type { JobSpec } from '../../job/job-spec.js';
import { failpointMemory } from '../failpoints.js';
import { jobRound } from './job-round.js';
import { runJob } from './run-job.js';
import type { RunDeps, RunSummary } from './run-types.js';

export interface PartsDeps extends RunDeps {
  /** How many run at the same time. */
  readonly parallelism: number;
}

/** One for each entry, in their order. */
export type PartOutcome =
  | { readonly is: 'ran'; readonly summary: RunSummary }
  /** Finished by an earlier start of this round. */
  | { readonly is: 'done before' }
  /** An entry before it failed, or the job was stopped. */
  | { readonly is: 'not run' };

/**
 * Never rejects but for state that cannot be read. After a failed entry no further one begins; those that run already
 * go on to their end.
 * @throws SyncError STATE_IO, STATE_CORRUPT, STATE_MISFIT
 */
export async function runParts(
  parts: readonly [JobSpec, ...JobSpec[]],
  deps: PartsDeps,
): Promise<readonly PartOutcome[]> {
  const [first, ...others] = parts;
  if (others.length === 0) return [{ is: 'ran', summary: await runJob(first, deps) }];
  setMaxListeners(0, deps.stop); // every part listens
  const round = jobRound(parts, deps);
  const { id, done } = await round.open(deps.fresh);
  const outcomes: PartOutcome[] = parts.map((_, i) => ({ is: done[i] === true ? 'done before' : 'not run' }));
  const waiting = [...parts.entries()].filter(([i]) => done[i] !== true);
  const hits = failpointMemory();
  let failed = false;
  const worker = async (): Promise<void> => {
    for (;;) {
      if (failed || deps.stop.aborted) return;
      const next = waiting.shift();
      if (!next) return;
      const [i, job] = next;
      const summary = await runJob(job, { ...deps, round: id, hits });
      outcomes[i] = { is: 'ran', summary };
      if (summary.state !== 'finished') failed = true;
    }
  };
  await Promise.all(Array.from({ length: Math.min(deps.parallelism, waiting.length) }, worker));
  if (outcomes.every((o) => o.is === 'done before' || (o.is === 'ran' && o.summary.state === 'finished'))) {
    await round.close();
  }
  return outcomes;
}
