import { listStatus, partsOf, type JobStatus } from '../../core/checkpoint/job-status.js';
import { SyncError } from '../../plugin-api/index.js';
import { namedJob, stateRootOf } from '../job-file.js';
import { printResult, type OutputForm } from '../output.js';
import { alignedRows } from '../text-table.js';
import { formatCount, formatDuration } from '../units.js';

export interface StatusArguments {
  /** A job file, or a job id; left out: all jobs of the state folder. */
  readonly job?: string | undefined;
  readonly jobId?: string | undefined;
  readonly stateDir?: string | undefined;
  readonly output: OutputForm;
}

/** Figures of a running job that are older than this are not taken for its present (ms). */
const OLD_MS = 15_000;

/** @throws SyncError USAGE where the job has no state. */
export async function statusCommand(args: StatusArguments): Promise<number> {
  const wanted = args.job ?? args.jobId;
  const named = wanted === undefined ? null : await namedJob({ ...args, job: wanted });
  const all = await listStatus(named?.stateRoot ?? stateRootOf(args.stateDir, null));
  const shown = named === null ? all : partsOf(all, named.jobId);
  if (named !== null && shown.length === 0) {
    throw new SyncError('USAGE', `there is no state of job ${named.jobId}`, {
      place: named.stateRoot,
      hint: '`sync status` without a job shows what there is; --state-dir names another state folder.',
    });
  }
  if (args.output === 'json') printResult(JSON.stringify(shown));
  else for (const line of table(shown)) printResult(line);
  return 0;
}

function table(all: readonly JobStatus[]): readonly string[] {
  const head = ['STATE', 'PID', 'ROWS', 'ROWS/S', 'LAG', 'DIRTY', 'EPOCH', 'CHECKPOINT', 'JOB'];
  const count = (n: number | null): string => (n === null ? '-' : formatCount(n));
  const rows = all.map((s) => [
    stateText(s),
    count(s.pid).replaceAll(',', ''),
    count(s.rows),
    count(s.rowsPerSecond),
    count(s.lag),
    count(s.dirty),
    String(s.epoch),
    s.checkpointAgeMs === null ? '-' : `${formatDuration(s.checkpointAgeMs / 1000)} ago`,
    s.problem === null ? s.jobId : `${s.jobId}: ${s.problem}`,
  ]);
  return alignedRows([head, ...rows]);
}

function stateText(s: JobStatus): string {
  if (s.state === 'failed' && s.error !== null) return `failed (${s.error})`;
  if (s.state !== 'running') return s.state;
  if (s.toldMsAgo !== null && s.toldMsAgo > OLD_MS) {
    return `running (told ${formatDuration(s.toldMsAgo / 1000)} ago)`;
  }
  return s.phase === null || s.phase === 'running' ? 'running' : `running (${s.phase})`;
}
