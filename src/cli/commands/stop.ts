import { join } from 'node:path';
import { listStatus, partsOf, type JobStatus } from '../../core/checkpoint/job-status.js';
import { jobKey } from '../../core/checkpoint/job-store.js';
import { stopParts } from '../../core/checkpoint/stop-job.js';
import { SyncError, type JsonObject } from '../../plugin-api/index.js';
import { namedJob } from '../job-file.js';
import { printNote, printResult, type OutputForm } from '../output.js';

export interface StopArguments {
  /** A job file, or a job id. */
  readonly job: string;
  readonly jobId?: string | undefined;
  readonly stateDir?: string | undefined;
  /** `60s`, `2min`, or a number of seconds. */
  readonly timeout: string;
  readonly output: OutputForm;
}

const STOPPED = 0;
const NOT_IN_TIME = 1;
const NOT_RUNNING = 4;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, sec: 1000, m: 60_000, min: 60_000, h: 3_600_000 };

/** @throws SyncError USAGE */
function timeoutMs(text: string): number {
  const [, number, unit] = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(text) ?? [];
  const factor = UNITS[unit === '' ? 's' : (unit?.toLowerCase() ?? '')];
  if (number === undefined || factor === undefined) {
    throw new SyncError('USAGE', `--timeout is ${JSON.stringify(text)}; must be a time, as 60s or 2min`);
  }
  return Number(number) * factor;
}

/** @returns 0 where the job stopped, 4 where it does not run, 1 where it did not stop in time, or not cleanly. */
export async function stopCommand(args: StopArguments): Promise<number> {
  const limit = timeoutMs(args.timeout);
  const { jobId, stateRoot } = await namedJob(args);
  const before = partsOf(await listStatus(stateRoot), jobId);
  const parts = before.map((s) => ({ jobId: s.jobId, dir: join(stateRoot, folderOf(s, jobId)) }));
  const stopped = await stopParts(parts, limit);
  const after = partsOf(await listStatus(stateRoot), jobId);
  if (stopped === null) {
    const known = after.length === 0 ? `; there is no state of it in ${stateRoot}` : '';
    return tell(args.output, NOT_RUNNING, `job ${jobId} is not running on this host${known}`, after);
  }
  const pids = stopped.pids.map((p) => `pid ${String(p)}`).join(', ');
  if (!stopped.clean) {
    const hint =
      'it goes on to its checkpoint: wait for it with `sync stop` again. ' +
      'A second SIGTERM ends it at once; the next start goes on after the last checkpoint';
    return tell(args.output, NOT_IN_TIME, `job ${jobId} (${pids}) did not stop within ${args.timeout}; ${hint}`, after);
  }
  const wasRunning = new Set(before.filter((s) => s.state === 'running').map((s) => s.jobId));
  const ended = after.filter((s) => wasRunning.has(s.jobId));
  const clean = ended.every((s) => s.state === 'stopped' || s.state === 'finished' || s.state === 'given up');
  const lines = ended.map((s) => endText(s));
  return tell(args.output, clean ? STOPPED : NOT_IN_TIME, lines.join('\n'), after);
}

/** Damaged records name their folder in place of an id. */
function folderOf(s: JobStatus, jobId: string): string {
  return s.jobId === jobKey(jobId) ? s.jobId : jobKey(s.jobId);
}

function endText(s: JobStatus): string {
  const job = `job ${s.jobId}`;
  switch (s.state) {
    case 'stopped':
      return s.epoch === 0
        ? `${job} stopped before its first checkpoint; the next start goes on with run ${s.runId ?? '?'}`
        : `${job} stopped; final checkpoint at epoch ${String(s.epoch)}, the next start of run ${s.runId ?? '?'} goes on there`;
    case 'finished':
      return `${job} finished before it had to stop; nothing is left to resume`;
    case 'given up':
      return `${job} stopped and is given up (checkpoint.onCancel: delete)`;
    case 'running':
      return `${job} stopped, and another process runs it now (pid ${String(s.pid)})`;
    case 'failed':
      return `${job} ended, but not cleanly: ${s.error ?? 'it failed'}; the last checkpoint is epoch ${String(s.epoch)}`;
    default:
      return `${job} ended, but not cleanly: its state is ${s.state}; the last checkpoint is epoch ${String(s.epoch)}`;
  }
}

function tell(output: OutputForm, exitCode: number, message: string, parts: readonly JobStatus[]): number {
  if (output === 'json') {
    const line: JsonObject = { ok: exitCode === STOPPED, message, exitCode, jobs: parts.map((p) => ({ ...p })) };
    printResult(JSON.stringify(line));
  } else if (exitCode === STOPPED) printResult(message);
  if (exitCode !== STOPPED) printNote(`sync: ${message}`);
  return exitCode;
}
