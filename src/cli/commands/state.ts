import type { JobSpec } from '../../job/job-spec.js';
import { redactor } from '../../job/redact.js';
import { renderProblem } from '../../config/problem.js';
import {
  entryIds,
  listCursors,
  listStates,
  resetState,
  resolveState,
  showCursor,
  showState,
  type StateListing,
} from '../../core/checkpoint/state-admin.js';
import { SyncError, type JsonObject, type JsonValue } from '../../plugin-api/index.js';
import { Registry } from '../../registry/registry.js';
import { namedJob, openJob, stateRootOf, type JobArguments } from '../job-file.js';
import { createLogger } from '../logger.js';
import { onTerminal, printNote, printResult, type OutputForm } from '../output.js';
import { keepSecret } from '../process.js';
import { plainStderr } from '../stderr-line.js';
import { alignedRows } from '../text-table.js';
import { formatCount } from '../units.js';
import { loadWriter } from './run.js';

export interface StateArguments {
  readonly jobId?: string | undefined;
  readonly param?: readonly string[] | undefined;
  readonly stateDir?: string | undefined;
  readonly output: OutputForm;
  readonly cursor?: boolean | undefined;
}
export interface JobStateArguments extends StateArguments {
  /** A job file, or a job id. */
  readonly job: string;
  /** Id of the run that is meant. */
  readonly run?: string | undefined;
}

export async function listCommand(args: StateArguments): Promise<number> {
  if (args.cursor === true) {
    const cursors = (await listCursors(stateRootOf(args.stateDir, null))).filter(
      (c) => args.jobId === undefined || c.jobId === args.jobId,
    );
    if (args.output === 'json') printResult(JSON.stringify(cursors));
    else for (const c of cursors) printResult(`${c.jobId}  ${brief(c.cursor)}`);
    return 0;
  }
  const all = await listStates(stateRootOf(args.stateDir, null));
  const wanted = args.jobId === undefined ? all : all.filter((s) => s.jobId === args.jobId);
  if (args.output === 'json') printResult(JSON.stringify(wanted));
  else for (const line of table(wanted)) printResult(line);
  return 0;
}

/** A cursor may name a thousand rows; `--output json` shows them all. */
function brief(cursor: JsonValue | null): string {
  const most = 3;
  return JSON.stringify(cursor, (_key, v: JsonValue) =>
    Array.isArray(v) && v.length > most ? [...v.slice(0, most), `… ${String(v.length - most)} more`] : v,
  );
}

const COLUMNS: readonly (readonly [string, (s: StateListing) => string])[] = [
  ['STATE', (s) => s.state],
  ['EPOCH', (s) => String(s.epoch)],
  ['ROWS', (s) => formatCount(s.rows)],
  ['LAST CHECKPOINT', (s) => (s.at === 0 ? '-' : new Date(s.at).toISOString().replace(/\.\d+Z$/, 'Z'))],
  ['RUN', (s) => s.runId],
  ['PARAMETERS', (s) => s.parameters],
  ['JOB', (s) => s.jobId],
];

/** Parameters have a column where any run has some. */
function table(states: readonly StateListing[]): readonly string[] {
  const columns = COLUMNS.map(([head, of]) => [head, ...states.map(of)]).filter(
    ([head, ...cells]) => head !== 'PARAMETERS' || cells.some((c) => c !== ''),
  );
  return alignedRows(['', ...states].map((_, row) => columns.map((cells) => cells[row] ?? '')));
}

export async function showCommand(args: JobStateArguments): Promise<number> {
  const { jobId, stateRoot } = await namedJob(args);
  if (args.cursor === true) {
    const { cursor } = await showCursor(stateRoot, jobId);
    printResult(args.output === 'json' ? JSON.stringify({ jobId, cursor }) : brief(cursor));
    return 0;
  }
  const state = await showState(stateRoot, jobId, args.run);
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
  tell(await resolveState(stateRoot, jobId, lane, args.as, args.run), args.output);
  return 0;
}

export async function resetCommand(args: JobStateArguments): Promise<number> {
  const registry = new Registry(process.env);
  const { jobId, stateRoot, isFile } = await namedJob(args);
  const parts = isFile ? await validParts(args.job, args, registry) : [];
  const redact = redactor(parts.flatMap((p) => p.secrets));
  keepSecret(redact);
  const { log, ready } = createLogger('info', onTerminal() ? 'pretty' : 'json', plainStderr(), redact);
  const texts: string[] = [];
  // By its file all entries of a job are meant; by an id just the one.
  for (const id of isFile ? await entryIds(stateRoot, jobId) : [jobId]) {
    const job = parts.find((p) => p.jobId === id) ?? null;
    const deps = { log, job, loadWriter: (name: string) => loadWriter(registry, name) };
    texts.push(await resetState(stateRoot, id, deps, args.cursor));
  }
  await ready;
  tell(texts.join('\n'), args.output);
  return 0;
}

/** The job where its file is valid; else the options that the run recorded must do to reach the target. */
async function validParts(path: string, args: JobArguments, registry: Registry): Promise<readonly JobSpec[]> {
  const loaded = await openJob(path, args, registry);
  if (loaded.ok) return loaded.parts;
  for (const p of loaded.problems) printNote(renderProblem(p));
  printNote('sync: the job file is not valid; the options recorded with its runs are used, without secrets');
  return [];
}

function tell(text: string, output: OutputForm): void {
  const result: JsonObject = { ok: true, message: text };
  printResult(output === 'json' ? JSON.stringify(result) : text);
}
