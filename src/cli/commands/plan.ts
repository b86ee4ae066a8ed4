import type { JobResult } from '../../config/job.js';
import { problemJson, renderProblem } from '../../config/problem.js';
import type { PartPlan } from '../../core/plan/make-plan.js';
import { exitCodeOf, reportError, toSyncError, type JsonObject, type SyncError } from '../../plugin-api/index.js';
import { Registry } from '../../registry/registry.js';
import type { JobSpec } from '../../job/job-spec.js';
import { redactor } from '../../job/redact.js';
import { jobAt, openJob, stateRootOf, type JobArguments } from '../job-file.js';
import { printNote, printResult, renderError, type OutputForm } from '../output.js';
import { keepSecret, withoutSecrets } from '../process.js';
import { planText } from '../plan-text.js';

export interface PlanArguments extends JobArguments {
  readonly job: string;
  readonly stateDir?: string | undefined;
  readonly output: OutputForm;
  readonly fresh: boolean;
  readonly allowReplay: boolean;
  readonly takeOver: boolean;
}

/**
 * The plan is this command's result, so it goes to stdout, also where the job cannot run.
 * @returns the exit code of such a run.
 */
export async function planCommand(args: PlanArguments): Promise<number> {
  let loaded: JobResult | null = null;
  let plans: readonly PartPlan[] = [];
  let error: SyncError | null;
  try {
    const registry = new Registry(process.env);
    loaded = await openJob(args.job, args, registry);
    if (loaded.ok) {
      keepSecret(redactor(loaded.parts.flatMap((p) => p.secrets)));
      const { planError, planParts } = await import('../../core/plan/make-plan.js');
      const stateRoot = stateRootOf(args.stateDir, loaded.stateDir);
      plans = await planParts(loaded.parts, {
        stateRoot,
        fresh: args.fresh,
        allowReplay: args.allowReplay,
        takeOver: args.takeOver,
        inOrder: loaded.contentParallelism === 1,
        ...(loaded.clockGiven ? {} : { atClock: (job: JobSpec, now: number) => jobAt(job, now, args, registry) }),
      });
      error = planError(plans);
    } else error = loaded.error;
  } catch (e) {
    error = toSyncError(e);
  }
  return tell(args, loaded, plans, error);
}

function tell(
  args: PlanArguments,
  loaded: JobResult | null,
  plans: readonly PartPlan[],
  error: SyncError | null,
): number {
  const exitCode = error ? exitCodeOf(error) : 0;
  const problems = loaded?.problems ?? [];
  if (args.output === 'json') {
    const result: JsonObject = {
      ok: error === null,
      parts: plans as unknown as readonly JsonObject[],
      problems: problems.map(problemJson),
      error: error ? { ...reportError(error) } : null,
      exitCode,
    };
    printResult(withoutSecrets(JSON.stringify(result)));
  } else {
    for (const p of problems) printResult(renderProblem(p));
    if (plans.length > 0) printResult(withoutSecrets(planText(args.job, plans)));
  }
  if (error) printNote(withoutSecrets(renderError(error)));
  return exitCode;
}
