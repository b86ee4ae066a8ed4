import type { JobSpec } from '../../job/job-spec.js';
import type { JobStore } from '../checkpoint/job-store.js';
import type { RunDeps } from './run-types.js';

/** The times of a run are those of its first start, whenever it is gone on with. */
export async function keepTimes(
  jobs: JobStore,
  job: JobSpec,
  deps: Pick<RunDeps, 'fresh' | 'atClock'>,
): Promise<JobSpec> {
  if (job.clock === null || deps.fresh || !job.settings.checkpoint.resume || !deps.atClock) return job;
  const current = await jobs.current(job.runName);
  if (!current || (await current.run.noted('finished')) || (await current.run.noted('abandoned'))) return job;
  const { clock } = await current.run.info();
  return clock === undefined || clock === job.clock ? job : deps.atClock(job, clock);
}
