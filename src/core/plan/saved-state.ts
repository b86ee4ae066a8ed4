/** What a start would do with the state that is there. Reads only. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from '../../durable/files.js';
import type { JobSpec } from '../../job/job-spec.js';
import { SyncError, type Logger, type Reader, type Writer } from '../../plugin-api/index.js';
import { assertNotLocked } from '../checkpoint/job-lock.js';
import type { JobStore } from '../checkpoint/job-store.js';
import { assertPositions, settle, stateBehind, type Restored } from '../checkpoint/recovery.js';
import type { RunStore } from '../checkpoint/run-store.js';
import { chooseRun } from '../job/choose-run.js';
import { pluginCall } from '../job/plugin-call.js';

export interface SavedState {
  /** `refused` is not here: it is thrown. */
  readonly is: 'new' | 'resume';
  /** What the next start is: a clause. */
  readonly text: string;
  readonly runId: string | null;
  readonly epoch: number | null;
  /** Where the start would go on from; null: from the beginning. */
  readonly restored: Restored | null;
}

export interface Asked {
  readonly fresh: boolean;
  readonly takeOver: boolean;
  readonly allowReplay: boolean;
}

/** @throws SyncError why a start would be refused: STATE_LOCKED, STATE_MISFIT, STATE_OLD, STATE_BEHIND, STATE_CORRUPT, STATE_IO. */
export async function lookAtState(
  jobs: JobStore,
  job: JobSpec,
  reader: Reader,
  writer: Writer,
  asked: Asked,
  log: Logger,
): Promise<SavedState> {
  await assertWritable(jobs.dir);
  await assertNotLocked(jobs.dir, job.jobId);
  const choice = await chooseRun(jobs, job, writer, asked, log);
  if (choice.is === 'resume') return resumed(choice.run, reader, writer, asked);
  const fresh = { is: 'new', runId: null, epoch: null, restored: null } as const;
  if (choice.abandons) {
    const { runId } = choice.abandons;
    return {
      ...fresh,
      text: `a new run; the unfinished run ${runId} is given up, and what it left staged is removed`,
    };
  }
  if (!choice.after) return { ...fresh, text: 'a new run, the first of this job' };
  return { ...fresh, text: `a new run, as run ${choice.after.run.runId} is over` };
}

async function resumed(run: RunStore, reader: Reader, writer: Writer, asked: Asked): Promise<SavedState> {
  const newest = await run.newest();
  if (newest) assertPositions(newest, { store: run, positions: reader.positions.format });
  const epoch = newest?.epoch ?? 0;
  const highWater = await pluginCall('SINK_IO', async () => (await writer.committer?.highWater(run.runId)) ?? 0);
  const outcome = newest?.kind === 'epoch' ? await run.outcome(newest.epoch) : null;
  const inDoubt = newest?.kind === 'epoch' && !outcome;
  if (highWater > epoch && !asked.allowReplay) throw stateBehind(run, highWater, epoch);
  const after = epoch === 0 ? 'from its beginning, as it has no checkpoint yet' : `after epoch ${String(epoch)}`;
  const doubt = inDoubt ? `; first it decides by the target whether epoch ${String(epoch)} is there` : '';
  const text = `goes on with run ${run.runId} ${after}${doubt}`;
  const restored = newest ? settle(newest, outcome) : null;
  return { is: 'resume', text, runId: run.runId, epoch, restored };
}

/** The folder itself, or the nearest one above it that is there. @throws SyncError STATE_IO */
async function assertWritable(dir: string): Promise<void> {
  for (let at = dir; ; at = dirname(at)) {
    try {
      if (!(await stat(at)).isDirectory()) throw stateProblem(at, 'it is not a folder');
      return await access(at, constants.W_OK | constants.X_OK);
    } catch (e) {
      if (hasCode(e, 'ENOENT') && dirname(at) !== at) continue;
      if (hasCode(e, 'EACCES', 'EROFS', 'EPERM'))
        throw stateProblem(at, `no right to write (${String((e as NodeJS.ErrnoException).code)})`);
      throw hasCode(e, 'ENOTDIR') ? stateProblem(at, 'a file stands where a folder must be') : e;
    }
  }
}

function stateProblem(place: string, why: string): SyncError {
  return new SyncError('STATE_IO', `the state folder cannot be used: ${why}`, {
    place,
    hint: 'Mend its rights, or name another one with --state-dir.',
  });
}
