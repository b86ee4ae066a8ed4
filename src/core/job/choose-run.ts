/** Which run a start goes on with. Design, "Runs and resume". */
import { isSyncError, SyncError, type Logger, type Writer } from '../../plugin-api/index.js';
import { STATE_FORMAT, type RunInfo } from '../checkpoint/format.js';
import { newRunId, type CurrentRun, type JobStore } from '../checkpoint/job-store.js';
import type { Note, RunStore } from '../checkpoint/run-store.js';
import { differences, fingerprintOf, pluginRecord } from './fingerprint.js';
import type { JobSpec } from '../../job/job-spec.js';
import { publicTransform } from '../../job/transform-spec.js';

export type Choice =
  | { readonly is: 'resume'; readonly run: RunStore }
  /** `abandons`: an unfinished run that this start gives up: to be fenced and swept before the new one exists. */
  | { readonly is: 'new'; readonly after: CurrentRun | null; readonly abandons: RunStore | null };

/** @throws SyncError STATE_MISFIT, STATE_OLD naming the choices. */
export async function chooseRun(
  jobs: JobStore,
  job: JobSpec,
  writer: Writer,
  asked: { readonly fresh: boolean; readonly takeOver: boolean },
  log: Logger,
): Promise<Choice> {
  await tellOfOthers(jobs, job, log);
  const after = await jobs.current(job.runName);
  const current = after?.run;
  const fresh = asked.fresh || !job.settings.checkpoint.resume;
  // A note that cannot be read says nothing for sure; who starts anew in any case need not know what.
  const is = (run: RunStore, note: Note): Promise<boolean> => (fresh ? run.has(note) : run.noted(note));
  if (!current || (await is(current, 'finished')) || (await is(current, 'abandoned'))) {
    return { is: 'new', after, abandons: null };
  }
  if (fresh) {
    await checkHome(current, asked.takeOver).catch((e: unknown) => {
      // What cannot be read cannot be resumed either: giving it up is the way out.
      if (!isSyncError(e) || e.code !== 'STATE_CORRUPT') throw e;
    });
    log.warn({ run: current.runId }, `run ${current.runId} is unfinished and is given up, as asked`);
    return { is: 'new', after, abandons: current };
  }
  await checkHome(current, asked.takeOver);
  const info = await current.info();
  const newest = await current.newest();
  const changed = differences(info, job);
  if (changed.length > 0) {
    // A run that never got to its target has nothing to lose: mending a wrong path is not a reason to ask.
    if (!(await current.noted('begun'))) {
      return { is: 'new', after, abandons: current };
    }
    throw new SyncError('STATE_MISFIT', `the job has changed since run ${current.runId} began: ${changed.join(', ')}`, {
      place: current.dir,
      hint: 'Change it back to finish that run, or give the run up with --fresh.',
    });
  }
  const age = newest ? Date.now() - newest.at : 0;
  const { resumeMaxAgeMs } = job.settings.checkpoint;
  // A job with a cursor has yesterday's rows still to move: the next run goes on from there.
  if (newest && isBounded(job) && !job.cursor && age > resumeMaxAgeMs) {
    if (writer.replacesTarget) {
      log.warn({ run: current.runId }, 'the unfinished run is too old and the job replaces its target: starting anew');
      return { is: 'new', after, abandons: current };
    }
    throw new SyncError('STATE_OLD', `the last checkpoint of run ${current.runId} is ${hours(age)} h old`, {
      place: current.dir,
      hint: `Start anew with --fresh, or raise setting.checkpoint.resumeMaxAge (${hours(resumeMaxAgeMs)} h) to go on from it.`,
    });
  }
  return { is: 'resume', run: current };
}

/** Unfinished runs of other parameters are left alone, and said to be there. */
async function tellOfOthers(jobs: JobStore, job: JobSpec, log: Logger): Promise<void> {
  for (const name of await jobs.runNames()) {
    if (name === job.runName) continue;
    const run = (await jobs.current(name))?.run;
    if (!run || (await run.has('finished')) || (await run.has('abandoned'))) continue;
    const others = name === 'default' ? 'of no parameters' : `of ${decodeURIComponent(name)}`;
    log.info({ run: run.runId }, `run ${run.runId} ${others} is unfinished; it goes on when the job starts with them`);
  }
}

/**
 * A copied state folder beside the one that it was copied from would make two runs that both believe they own the
 * target's staged data.
 */
async function checkHome(run: RunStore, takeOver: boolean): Promise<void> {
  const last = await run.attempt((await run.attempts()).at(-1) ?? 0);
  const here = await run.home();
  if (!last || last.home === here || takeOver) return;
  throw new SyncError(
    'STATE_MISFIT',
    `the state of run ${run.runId} was written at ${last.home} and is now at ${here}`,
    {
      place: here,
      hint: 'If the folder was moved and nothing runs from the old one, say --take-over. A second job needs a --job-id of its own.',
    },
  );
}

export function isBounded(job: JobSpec): boolean {
  return job.reader.definition.boundedness(job.reader.options) === 'bounded';
}

function hours(ms: number): string {
  return (ms / 3_600_000).toFixed(1);
}

/** A new run with its record; nothing of it is at the target yet. */
export async function mintRun(jobs: JobStore, job: JobSpec, cursor: RunInfo['cursor']): Promise<RunStore> {
  const store = jobs.run(job.runName, newRunId());
  const info: RunInfo = {
    format: STATE_FORMAT,
    kind: 'run',
    runId: store.runId,
    runName: job.runName,
    jobId: job.jobId,
    at: Date.now(),
    stateId: await jobs.stateId(),
    fingerprint: fingerprintOf(job),
    reader: pluginRecord(job.reader),
    writer: pluginRecord(job.writer),
    parent: null,
    ...(job.transform.length === 0 ? {} : { transform: job.transform.map(publicTransform) }),
    ...(job.clock === null ? {} : { clock: job.clock }),
    ...(cursor === undefined ? {} : { cursor }),
  };
  await store.createRun(info);
  return store;
}
