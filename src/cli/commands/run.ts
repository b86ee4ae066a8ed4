import type { JobResult } from '../../config/job.js';
import type { JobSpec } from '../../job/job-spec.js';
import { redactor, type Redact } from '../../job/redact.js';
import { problemJson, renderProblem, type Problem } from '../../config/problem.js';
import type { PartOutcome } from '../../core/job/run-parts.js';
import type { Progress } from '../../core/job/run-types.js';
import { exitCodeOf, reportError, toSyncError, type AnyWriterDefinition, SyncError } from '../../plugin-api/index.js';
import { Registry } from '../../registry/registry.js';
import { jobAt, openJob, stateRootOf } from '../job-file.js';
import { createLogger, type LogFormat, type LogLevel } from '../logger.js';
import { onTerminal, printNote, printResult, renderError, type OutputForm } from '../output.js';
import { followProgress, sumProgress } from '../progress.js';
import { reportParts } from '../report.js';
import { stopOnSignals } from '../signals.js';
import type { PlanArguments } from './plan.js';
import { failAtOnce, keepSecret, withoutSecrets } from '../process.js';
import { liveStderr, plainStderr } from '../stderr-line.js';
import { notBegunJson } from '../summary.js';

export interface RunArguments extends PlanArguments {
  readonly logLevel: LogLevel;
  readonly logFormat?: LogFormat | undefined;
}

/** @returns the exit code. */
export async function runCommand(args: RunArguments): Promise<number> {
  const registry = new Registry(process.env);
  const stop = stopOnSignals((name) => {
    const hint = 'The last checkpoint is kept; run the job again to go on from it.';
    failAtOnce(process.argv.slice(2), new SyncError('STOPPED', `a second ${name} ended the job at once`, { hint }));
  });
  let loaded: JobResult;
  let stateRoot: string;
  try {
    loaded = await openJob(args.job, args, registry);
    stateRoot = stateRootOf(args.stateDir, loaded.ok ? loaded.stateDir : null);
  } catch (e) {
    return refuse(toSyncError(e), [], args.output);
  }
  if (!loaded.ok) return refuse(loaded.error, loaded.problems, args.output);
  for (const p of loaded.problems) printNote(renderProblem(p));
  const redact = redactor(loaded.parts.flatMap((p) => p.secrets));
  keepSecret(redact);
  const began = performance.now();
  let outcomes: readonly PartOutcome[];
  try {
    outcomes = await runLoaded(loaded, stateRoot, stop.signal, registry, args, redact);
    if (loaded.parts.some((p) => p.settings.verify)) {
      const { verifyFinished } = await import('../verify-after-run.js');
      const quiet = args.output === 'json';
      outcomes = await verifyFinished(loaded.parts, outcomes, {
        stateRoot,
        stop: stop.signal,
        registry,
        quiet,
        redact,
      });
    }
  } catch (e) {
    return refuse(toSyncError(e), [], args.output);
  } finally {
    stop.settled();
  }
  const seconds = Math.round(performance.now() - began) / 1000;
  return reportParts(
    { parts: loaded.parts, outcomes: outcomes.map((o) => toldWithoutSecrets(o, redact)), seconds },
    args.output,
    loaded.parts.some(writesToStdout),
  );
}

async function runLoaded(
  { parts, contentParallelism, clockGiven }: Extract<JobResult, { ok: true }>,
  stateRoot: string,
  stop: AbortSignal,
  registry: Registry,
  args: RunArguments,
  redact: Redact,
): Promise<readonly PartOutcome[]> {
  // Rows that are printed to the same terminal would tear the live line apart.
  const rowsOnTerminal = parts.some(writesToStdout) && process.stdout.isTTY;
  const live = onTerminal() && args.output === 'text' && !rowsOnTerminal;
  const format = args.logFormat ?? (onTerminal() ? 'pretty' : 'json');
  const line = live ? await liveStderr() : plainStderr();
  const { runParts } = await import('../../core/job/run-parts.js');
  const { log, ready } = createLogger(args.logLevel, format, line, redact);
  const running: (() => Progress)[] = [];
  const unfollow: (() => void)[] = [];
  try {
    return await runParts(parts, {
      parallelism: contentParallelism,
      log,
      stateRoot,
      fresh: args.fresh,
      allowReplay: args.allowReplay,
      takeOver: args.takeOver,
      stop,
      onStart: (progress) => {
        running.push(progress);
        if (running.length > 1) return;
        unfollow.push(followProgress(() => sumProgress(running.map((p) => p())), live, line, log));
      },
      loadWriter: (name) => loadWriter(registry, name),
      workerEntry: laneWorkerEntry(),
      ...(clockGiven ? {} : { atClock: (job: JobSpec, now: number) => jobAt(job, now, args, registry) }),
      failpoint: process.env['SYNC_FAILPOINT'],
    });
  } finally {
    for (const f of unfollow) f();
    await ready;
  }
}

function toldWithoutSecrets(outcome: PartOutcome, redact: Redact): PartOutcome {
  if (outcome.is !== 'ran' || !outcome.summary.error) return outcome;
  const { error } = outcome.summary;
  const told = {
    ...error,
    message: redact(error.message),
    ...(error.place === undefined ? {} : { place: redact(error.place) }),
    ...(error.hint === undefined ? {} : { hint: redact(error.hint) }),
  };
  return { is: 'ran', summary: { ...outcome.summary, error: told } };
}

/** Beside this module in the bundle; in the compiler's output folders are as in the sources. */
function laneWorkerEntry(): URL {
  const built = import.meta.url.endsWith('/src/cli/commands/run.js');
  return new URL(built ? '../../worker/lane-worker.js' : './lane-worker.js', import.meta.url);
}

/** The writer of an older run; null where its plugin is no longer installed. */
export async function loadWriter(registry: Registry, name: string): Promise<AnyWriterDefinition | null> {
  try {
    return await registry.writer(name);
  } catch (e) {
    if (toSyncError(e).code === 'PLUGIN_UNKNOWN') return null;
    throw e;
  }
}

/** Rows on stdout must not be mixed with the summary. */
function writesToStdout(job: JobSpec): boolean {
  return job.writer.definition.usesStdout?.(job.writer.options) ?? false;
}

/** The job does not even begin. */
function refuse(error: SyncError, problems: readonly Problem[], output: OutputForm): number {
  const exitCode = exitCodeOf(error);
  if (problems.length > 1) for (const p of problems) printNote(renderProblem(p));
  if (output === 'json') {
    const told = notBegunJson(reportError(error), exitCode, { problems: problems.map(problemJson) });
    printResult(withoutSecrets(JSON.stringify(told)));
  }
  printNote(withoutSecrets(renderError(error)));
  return exitCode;
}
