/** From a path on the command line to a job, its id and the folder of its state. */
import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadJob } from '../config/load-job.js';
import type { JobInput, JobResult } from '../config/job.js';
import type { GivenConf } from '../config/conf/given.js';
import type { GivenParameters } from '../config/parameters/given.js';
import { peekJob } from '../config/peek-job.js';
import type { JobSpec } from '../job/job-spec.js';
import { SyncError } from '../plugin-api/index.js';
import type { Registry } from '../registry/registry.js';

/** @throws SyncError JOB_FILE where it cannot be read. */
export async function readJobText(path: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (e) {
    const code = (e as NodeJS.ErrnoException).code ?? String(e);
    const why =
      code === 'ENOENT'
        ? 'there is no such job file'
        : code === 'EISDIR'
          ? 'is a folder, not a job file'
          : `cannot be read: ${code}`;
    throw new SyncError('JOB_FILE', why, { place: path, cause: e, hint: 'Check the path of the job file.' });
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (e) {
    throw new SyncError('JOB_FILE', 'is not UTF-8 text', {
      place: path,
      cause: e,
      hint: 'Save the job file as UTF-8.',
    });
  }
}

/** The id of a job that is named by its file only: the path, made absolute. Symbolic links stay what they are. */
export function jobIdOfPath(path: string): string {
  return resolve(path);
}

/** What the command line says of a job beside its file. */
export interface JobArguments {
  readonly jobId?: string | undefined;
  /** As they were given: `name=value`, or JSON. */
  readonly param?: readonly string[] | undefined;
  /** `key=value`, and JSON objects of them. */
  readonly conf?: readonly string[] | undefined;
  readonly confProp?: readonly string[] | undefined;
}

/** `now`: what the clock shows (ms since 1970), where it is not now. @throws SyncError JOB_FILE, USAGE */
export async function openJob(
  path: string,
  args: JobArguments,
  registry: Registry,
  now: number | null = null,
): Promise<JobResult> {
  return loadJob({ ...(await jobInput(path, args)), now }, registry);
}

/** The same part of the job, read when the clock showed another time. */
export async function jobAt(
  job: JobSpec,
  now: number,
  args: JobArguments & { readonly job: string },
  registry: Registry,
): Promise<JobSpec> {
  const loaded = await openJob(args.job, args, registry, now);
  if (!loaded.ok) throw loaded.error;
  const same = loaded.parts.find((p) => p.jobId === job.jobId);
  if (!same) throw new SyncError('JOB_INVALID', 'the job file has changed while the job started', { place: args.job });
  return same;
}

/** @throws SyncError JOB_FILE, USAGE */
export async function jobInput(path: string, args: JobArguments): Promise<JobInput> {
  const text = await readJobText(path);
  const parameters = await parametersOf(args);
  const conf = await confOf(args);
  return { text, name: path, defaultJobId: jobIdOfPath(path), jobId: args.jobId, parameters, conf, env: process.env };
}

async function confOf({ conf = [], confProp = [] }: JobArguments): Promise<readonly GivenConf[] | undefined> {
  if (conf.length + confProp.length === 0) return undefined;
  return (await import('../config/conf/given.js')).givenConf(conf, confProp);
}

async function parametersOf({ param = [] }: JobArguments): Promise<GivenParameters | undefined> {
  if (param.length === 0) return undefined;
  return (await import('../config/parameters/given.js')).givenParameters(param);
}

/**
 * Where state lives: flag, then SYNC_STATE_DIR, then the job file, then the user's state folder. Absolute.
 * @throws SyncError USAGE. An empty SYNC_STATE_DIR is refused: it comes of a variable that was not set, and another
 *   state folder than the last time's makes a new run, which doubles rows.
 */
export function stateRootOf(flag: string | undefined, ofJob: string | null): string {
  const fromEnv = process.env['SYNC_STATE_DIR'];
  const chosen = flag ?? fromEnv ?? ofJob;
  if (chosen !== null) {
    if (chosen.trim() === '') {
      const what = fromEnv === undefined ? 'setting.checkpoint.dir' : 'SYNC_STATE_DIR';
      throw new SyncError('USAGE', `${what} is empty`, { hint: 'Unset it, or name a folder.' });
    }
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(chosen)) {
      throw new SyncError('USAGE', `the state folder must be a local path, not ${chosen}`, {
        hint: 'Name a local folder.',
      });
    }
    return resolve(chosen);
  }
  const xdg = process.env['XDG_STATE_HOME'];
  const base = xdg !== undefined && xdg.startsWith('/') ? xdg : join(homedir(), '.local', 'state');
  return join(base, 'syncx');
}

export interface NamedJob {
  readonly jobId: string;
  readonly stateRoot: string;
  readonly isFile: boolean;
}

/**
 * The job that a job file or a job id means. A file need not be valid for this: its id is enough, and a broken file must
 * not lock its state away.
 */
export async function namedJob(args: {
  readonly job: string;
  readonly jobId?: string | undefined;
  readonly param?: readonly string[] | undefined;
  readonly stateDir?: string | undefined;
}): Promise<NamedJob> {
  const isFile = existsSync(args.job) && statSync(args.job).isFile();
  if (!isFile) return { jobId: args.jobId ?? args.job, stateRoot: stateRootOf(args.stateDir, null), isFile };
  const peek = await peekJob(await jobInput(args.job, args));
  const jobId = args.jobId ?? peek.jobId ?? jobIdOfPath(args.job);
  return { jobId, stateRoot: stateRootOf(args.stateDir, peek.stateDir), isFile };
}
