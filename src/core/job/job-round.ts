import type { JobSpec } from '../../job/job-spec.js';
import { JobStore } from '../checkpoint/job-store.js';
import { Round, type RoundPart } from '../checkpoint/round.js';
import { parseFailpoints } from '../failpoints.js';
import { differences } from './fingerprint.js';
import type { RunDeps } from './run-types.js';

/** The round over the entries of a job. */
export function jobRound(
  [first, ...others]: readonly [JobSpec, ...JobSpec[]],
  { stateRoot, atClock }: Pick<RunDeps, 'stateRoot' | 'atClock'>,
): Round {
  const part = (job: JobSpec): RoundPart => ({
    jobs: new JobStore(stateRoot, job.jobId, parseFailpoints(undefined)),
    runName: job.runName,
    // A run's times are those of its start, so they are no change.
    differences: async (run) =>
      differences(run, run.clock === undefined || !atClock ? job : await atClock(job, run.clock)),
  });
  return new Round(part(first), others.map(part));
}
