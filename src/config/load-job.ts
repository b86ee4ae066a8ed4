import type { Node } from 'jsonc-parser';
import { checkColumns, columnsOf } from './columns.js';
import type { GivenConf } from './conf/given.js';
import { JOB_SCHEMA } from './job-schema.js';
import type { JobInput, JobResult, PluginSource } from './job.js';
import { jobIdProblem } from '../job/job-id.js';
import type { JobSpec, PluginUse } from '../job/job-spec.js';
import type { TransformSpec } from '../job/transform-spec.js';
import { internSchema, type AnyReaderDefinition, type AnyWriterDefinition } from '../plugin-api/index.js';
import { OptionWalk, type WalkedUse } from './option-walk.js';
import { parametersFor } from './parameters/load.js';
import type { Parameters } from './parameters/parameters.js';
import { runNaming } from './parameters/run-name.js';
import { parseJob } from './parse-job.js';
import { usePlugin, type PluginNodes, type PluginOutcome } from './plugin-options.js';
import { problemsError, sortProblems, type Problem } from './problem.js';
import { deepFreeze } from './project-options.js';
import { buildSettings, type RawSetting } from './settings.js';
import { SourceText } from './source-text.js';
import type { TransformOutcome } from './transform-options.js';
import { compileSchema, validateWalked } from './validate-options.js';

interface RawPlugin {
  readonly name?: unknown;
  readonly semantic?: unknown;
}
interface RawContent {
  readonly reader?: RawPlugin;
  readonly writer?: RawPlugin;
}
interface RawJob {
  readonly job?: {
    readonly content?: readonly RawContent[];
    readonly setting?: RawSetting;
  };
}

/** What both sides of a content entry came to; null where that side is wrong. */
interface Pair {
  readonly reader: PluginUse<AnyReaderDefinition> | null;
  readonly writer: PluginUse<AnyWriterDefinition> | null;
  /** Parameters in the options of both. */
  readonly uses: readonly WalkedUse[];
  /** Values that must not be told. */
  readonly secrets: readonly string[];
  readonly transform: readonly TransformSpec[] | null;
}

interface Surroundings {
  readonly plugins: PluginSource;
  readonly source: SourceText;
  readonly parameters: Parameters | null;
}

/**
 * Reads a job file: syntax, frame, settings, all plugins' options, and what reader and writer say of each other.
 * Everything that is wrong is told at once. Nothing is connected, and no option reaches a plugin unless all are right.
 */
export async function loadJob(input: JobInput, plugins: PluginSource): Promise<JobResult> {
  const source = new SourceText(input.name, input.text);
  const parsed = parseJob(source);
  if (!parsed.root) return failed(parsed.problems);

  const { parameters, now, fixed } = await parametersFor(input);
  const walk = new OptionWalk(source, parameters);
  walk.problems.push(...parsed.problems);
  const root = input.conf?.length ? await withConf(parsed.root, input.conf, walk) : parsed.root;
  const raw = walk.run(JOB_SCHEMA, root, []) as RawJob;
  const validate = (await plugins.validator('job')) ?? (await compileSchema(JOB_SCHEMA, 'the job file'));
  const frameValid = validateWalked(validate, JOB_SCHEMA, raw, walk, source);

  const content = Array.isArray(raw.job?.content) ? (raw.job.content as readonly RawContent[]) : [];
  const pairs: Pair[] = [];
  for (const [i, entry] of content.entries())
    pairs.push(await usePair(i, entry, walk, { plugins, source, parameters }));

  const setting = frameValid ? raw.job?.setting : undefined;
  const idSpot = walk.spots.get('/job/setting/jobId');
  const idProblem = typeof setting?.jobId === 'string' ? jobIdProblem(setting.jobId) : null;
  if (idSpot && idProblem !== null) walk.report('error', idSpot.node, idSpot.path, idProblem, null);
  const settings = setting?.checkpoint ? buildSettings({ ...setting, checkpoint: setting.checkpoint }, walk) : null;
  if (settings?.verify === true) checkVerify(pairs, walk);
  for (const name of parameters?.unused() ?? []) {
    walk.report('warning', 0, [], `parameter ${name} is given, and nothing in the file asks for it`, null);
  }
  const problems = sortProblems(walk.problems);
  if (!settings || problems.some((p) => p.level === 'error')) return failed(problems);
  const jobId = input.jobId ?? setting?.jobId ?? input.defaultJobId;
  const [first, ...others] = pairs.flatMap(({ reader, writer, transform, uses, secrets }, i): readonly JobSpec[] => {
    if (!reader || !writer || !transform) return [];
    const bounded = reader.definition.boundedness(reader.options) === 'bounded';
    const cursor = bounded && (reader.definition.cursor?.(reader.options) ?? false);
    const { runName, keepsTimes } = runNaming(uses, bounded && !cursor);
    const clock = keepsTimes ? now : null;
    return [
      deepFreeze({
        jobId: partId(jobId, i),
        runName,
        clock,
        cursor,
        exactlyOnce: content[i]?.writer?.semantic === 'exactly-once',
        source: input.name,
        reader,
        writer,
        transform,
        settings,
        secrets,
      }),
    ];
  });
  if (!first) return failed(problems);
  return {
    ok: true,
    parts: [first, ...others],
    contentParallelism: setting?.contentParallelism ?? 1,
    stateDir: setting?.checkpoint?.dir ?? null,
    clockGiven: fixed,
    problems,
  };
}

/** What could never be compared must not run for hours first. */
function checkVerify(pairs: readonly Pair[], walk: OptionWalk): void {
  const spot = walk.spots.get('/job/setting/verify');
  for (const { reader, writer } of pairs) {
    if (!spot || !reader || !writer) continue;
    const [r, w] = [reader.definition, writer.definition];
    if (r.boundedness(reader.options) !== 'bounded') {
      const hint = 'leave it out, or read something that ends';
      walk.report('error', spot.node, spot.path, 'the job does not end by itself, so nothing could be compared', hint);
    } else if (r.replayable === false) {
      const message = `the rows of the ${r.name} reader cannot be read again, so nothing could be compared`;
      walk.report('error', spot.node, spot.path, message, 'leave it out');
    } else if ((w.readBack?.(writer.options, internSchema([])) ?? null) === null) {
      const message = `what the ${w.name} writer writes here cannot be read again, so nothing could be compared`;
      walk.report('error', spot.node, spot.path, message, 'leave it out, or write files or tables');
    }
  }
}

async function withConf(root: Node, conf: readonly GivenConf[], walk: OptionWalk): Promise<Node> {
  return (await import('./conf/plant.js')).plantConf(root, conf, walk);
}

/**
 * Each entry of `content` has state of its own. The first keeps the job's plain id, so that a job that gets a second
 * entry goes on with the first one's unfinished run.
 */
export function partId(jobId: string, index: number): string {
  return index === 0 ? jobId : `${jobId}#${String(index + 1)}`;
}

async function usePair(
  index: number,
  raw: RawContent,
  walk: OptionWalk,
  { plugins, source, parameters }: Surroundings,
): Promise<Pair> {
  const [reader, writer] = await Promise.all([
    side(walk, index, 'reader', raw.reader, (name, nodes) =>
      usePlugin(plugins, 'reader', name, nodes, source, parameters),
    ),
    side(walk, index, 'writer', raw.writer, (name, nodes) =>
      usePlugin(plugins, 'writer', name, nodes, source, parameters),
    ),
  ]);
  for (const u of [reader, writer]) walk.problems.push(...(u?.problems ?? []));
  const columns = reader?.use ? columnsOf(reader.use) : null;
  const transform = await transforms(index, columns, walk, { plugins, source, parameters });
  walk.problems.push(...transform.problems);
  if (reader?.use && writer?.use && transform.specs) {
    const from = { columns: transform.columns, transformed: transform.specs.length > 0 };
    walk.problems.push(...checkColumns(from, writer.use, source, writer.node, index));
  }
  const all = [reader, writer, transform];
  return {
    reader: reader?.use ?? null,
    writer: writer?.use ?? null,
    transform: transform.specs,
    uses: all.flatMap((u) => u?.uses ?? []),
    secrets: all.flatMap((u) => u?.secrets ?? []),
  };
}

/** What stands between the two; its code is loaded only where something does. */
async function transforms(
  index: number,
  columns: readonly string[] | null,
  walk: OptionWalk,
  { plugins, source, parameters }: Surroundings,
): Promise<TransformOutcome> {
  const at = `/job/content/${String(index)}`;
  const transform = walk.pluginNodes.get(`${at}/transform`);
  const transformer = walk.pluginNodes.get(`${at}/transformer`);
  if (!transform && !transformer) return { specs: [], columns, problems: [], uses: [], secrets: [] };
  const { readTransforms } = await import('./transform-options.js');
  return readTransforms({ transform, transformer, index }, columns, plugins, source, parameters);
}

/** One side of a content entry, where its name and parameter are of the right kind at all. */
async function side<D>(
  walk: OptionWalk,
  index: number,
  kind: 'reader' | 'writer',
  raw: RawPlugin | undefined,
  use: (name: string, nodes: PluginNodes) => Promise<PluginOutcome<D>>,
): Promise<(PluginOutcome<D> & { readonly node: Node }) | null> {
  const at = `/job/content/${String(index)}/${kind}`;
  const nameSpot = walk.spots.get(`${at}/name`);
  if (typeof raw?.name !== 'string' || raw.name === '' || !nameSpot) return null;
  const parameter = walk.pluginNodes.get(`${at}/parameter`) ?? null;
  const outcome = await use(raw.name, {
    index,
    name: nameSpot.node,
    parameter: parameter?.type === 'object' ? parameter : null,
  });
  return { ...outcome, node: parameter ?? nameSpot.node };
}

function failed(problems: readonly Problem[]): JobResult {
  return { ok: false, error: problemsError(problems), problems };
}
