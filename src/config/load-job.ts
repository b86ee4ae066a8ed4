import type { Node } from 'jsonc-parser';
import { checkColumns } from './columns.js';
import { JOB_SCHEMA } from './job-schema.js';
import type { JobInput, JobResult, PluginSource } from './job.js';
import { jobIdProblem } from '../job/job-id.js';
import type { JobSpec } from '../job/job-spec.js';
import { OptionWalk } from './option-walk.js';
import { parseJob } from './parse-job.js';
import { usePlugin, type PluginOutcome } from './plugin-options.js';
import { problemsError, sortProblems, type Problem } from './problem.js';
import { deepFreeze } from './project-options.js';
import { buildSettings, type RawSetting } from './settings.js';
import { SourceText } from './source-text.js';
import { compileSchema, validateWalked } from './validate-options.js';

interface RawPlugin {
  readonly name?: unknown;
}
interface RawJob {
  readonly job?: {
    readonly content?: readonly { readonly reader?: RawPlugin; readonly writer?: RawPlugin }[];
    readonly setting?: RawSetting;
  };
}

/**
 * Reads a job file: syntax, frame, settings, both plugins' options, and what reader and writer say of each other.
 * Everything that is wrong is told at once. Nothing is connected, and no option reaches a plugin unless all are right.
 */
export async function loadJob(input: JobInput, plugins: PluginSource): Promise<JobResult> {
  const source = new SourceText(input.name, input.text);
  const parsed = parseJob(source);
  if (!parsed.root) return failed(parsed.problems);

  const walk = new OptionWalk(source);
  walk.problems.push(...parsed.problems);
  const raw = walk.run(JOB_SCHEMA, parsed.root, []) as RawJob;
  const validate = (await plugins.validator('job')) ?? (await compileSchema(JOB_SCHEMA, 'the job file'));
  const frameValid = validateWalked(validate, JOB_SCHEMA, raw, walk, source);

  const content = raw.job?.content;
  const second = Array.isArray(content) && content.length > 1 ? walk.spots.get('/job/content/1') : undefined;
  if (second) {
    const message = 'more than one content entry is not supported yet';
    walk.report('error', second.node.offset, second.path, message, 'write one job file for each');
  }

  const first = Array.isArray(content) ? content[0] : undefined;
  const used = await Promise.all([
    side(walk, 'reader', first?.reader, (name, node) => usePlugin(plugins, 'reader', name, node, source)),
    side(walk, 'writer', first?.writer, (name, node) => usePlugin(plugins, 'writer', name, node, source)),
  ]);
  const [reader, writer] = used;
  for (const u of used) walk.problems.push(...(u?.problems ?? []));
  if (reader?.use && writer?.use) walk.problems.push(...checkColumns(reader.use, writer.use, source, writer.node));

  const setting = frameValid ? raw.job?.setting : undefined;
  const idSpot = walk.spots.get('/job/setting/jobId');
  const idProblem = typeof setting?.jobId === 'string' ? jobIdProblem(setting.jobId) : null;
  if (idSpot && idProblem !== null) walk.report('error', idSpot.node.offset, idSpot.path, idProblem, null);
  const settings = setting?.checkpoint ? buildSettings({ ...setting, checkpoint: setting.checkpoint }, walk) : null;
  const problems = sortProblems(walk.problems);
  if (!settings || !reader?.use || !writer?.use || problems.some((p) => p.level === 'error')) return failed(problems);
  const job: JobSpec = deepFreeze({
    jobId: input.jobId ?? setting?.jobId ?? input.defaultJobId,
    source: input.name,
    reader: reader.use,
    writer: writer.use,
    settings,
  });
  return { ok: true, job, stateDir: setting?.checkpoint?.dir ?? null, problems };
}

/** One side of the content entry, where its name and parameter are of the right kind at all. */
async function side<D>(
  walk: OptionWalk,
  kind: 'reader' | 'writer',
  raw: RawPlugin | undefined,
  use: (name: string, spot: { readonly name: Node; readonly parameter: Node | null }) => Promise<PluginOutcome<D>>,
): Promise<(PluginOutcome<D> & { readonly node: Node }) | null> {
  const nameSpot = walk.spots.get(`/job/content/0/${kind}/name`);
  if (typeof raw?.name !== 'string' || raw.name === '' || !nameSpot) return null;
  const parameter = walk.pluginNodes.get(`/job/content/0/${kind}/parameter`) ?? null;
  const outcome = await use(raw.name, {
    name: nameSpot.node,
    parameter: parameter?.type === 'object' ? parameter : null,
  });
  return { ...outcome, node: parameter ?? nameSpot.node };
}

function failed(problems: readonly Problem[]): JobResult {
  return { ok: false, error: problemsError(problems), problems };
}
