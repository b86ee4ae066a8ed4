import type { JobSpec } from '../../job/job-spec.js';
import { renderProblem } from '../../config/problem.js';
import {
  listStates,
  resetState,
  resolveState,
  showState,
  type StateListing,
} from '../../core/checkpoint/state-admin.js';
import { SyncError, type JsonObject } from '../../plugin-api/index.js';
import { Registry } from '../../registry/registry.js';
import { namedJob, openJob, stateRootOf } from '../job-file.js';
import { createLogger } from '../logger.js';
import { onTerminal, printNote, printResult, type OutputForm } from '../output.js';
import { plainStderr } from '../stderr-line.js';
import { textTable } from '../text-table.js';
import { formatCount } from '../units.js';
import { loadWriter } from './run.js';

export interface StateArguments {
  readonly jobId?: string | undefined;
  readonly stateDir?: string | undefined;
  readonly output: OutputForm;
}
export interface JobStateArguments extends StateArguments {
  /** A job file, or a job id. */
  readonly job: string;
}

export async function listCommand(args: StateArguments): Promise<number> {
  const all = await listStates(stateRootOf(args.stateDir, null));
  const wanted = args.jobId === undefined ? all : all.filter((s) => s.jobId === args.jobId);
  if (args.output === 'json') printResult(JSON.stringify(wanted));
  else for (const line of table(wanted)) printResult(line);
  return 0;
}

function table(states: readonly StateListing[]): readonly string[] {
  const head = ['STATE', 'EPOCH', 'ROWS', 'LAST CHECKPOINT', 'RUN', 'JOB'];
  const rows = states.map((s) => [
    s.state,
    String(s.epoch),
    formatCount(s.rows),
    s.at === 0 ? '-' : new Date(s.at).toISOString().replace(/\.\d+Z$/, 'Z'),
    s.runId,
    s.jobId,
  ]);
  return textTable([head, ...rows]);
}

export async function showCommand(args: JobStateArguments): Promise<number> {
  const { jobId, stateRoot } = await namedJob(args);
  const state = await showState(stateRoot, jobId);
  printResult(args.output === 'json' ? JSON.stringify(state) : JSON.stringify(state, null, 2));
  return 0;
}

export interface ResolveArguments extends JobStateArguments {
  readonly as: 'committed' | 'lost';
  readonly lane: string;
}

export async function resolveCommand(args: ResolveArguments): Promise<number> {
  const lane = args.lane === 'all' ? 'all' : /^\d+$/.test(args.lane) ? Number(args.lane) : null;
  if (lane === null) {
    throw new SyncError('USAGE', `--lane is ${JSON.stringify(args.lane)}; must be a lane's number or all`);
  }
  const { jobId, stateRoot } = await namedJob(args);
  tell(await resolveState(stateRoot, jobId, lane, args.as), args.output);
  return 0;
}

export async function resetCommand(args: JobStateArguments): Promise<number> {
  const registry = new Registry(process.env);
  const { jobId, stateRoot, isFile } = await namedJob(args);
  const { log, ready } = createLogger('info', onTerminal() ? 'pretty' : 'json', plainStderr());
  const job = isFile ? await validJob(args.job, args.jobId, registry) : null;
  const text = await resetState(stateRoot, jobId, { log, job, loadWriter: (name) => loadWriter(registry, name) });
  await ready;
  tell(text, args.output);
  return 0;
}

/** The job where its file is valid; else the options that the run recorded must do to reach the target. */
async function validJob(path: string, jobId: string | undefined, registry: Registry): Promise<JobSpec | null> {
  const loaded = await openJob(path, jobId, registry);
  if (loaded.ok) return loaded.parts[0];
  for (const p of loaded.problems) printNote(renderProblem(p));
  printNote('sync: the job file is not valid; the options recorded with its runs are used, without secrets');
  return null;
}

function tell(text: string, output: OutputForm): void {
  const result: JsonObject = { ok: true, message: text };
  printResult(output === 'json' ? JSON.stringify(result) : text);
}
