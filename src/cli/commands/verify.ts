import type { JobResult } from '../../config/job.js';
import { problemJson, renderProblem } from '../../config/problem.js';
import type { VerifyOutcome } from '../../core/verify/verify-types.js';
import {
  errorFromReport,
  exitCodeOf,
  reportError,
  toSyncError,
  type JsonObject,
  type SyncError,
} from '../../plugin-api/index.js';
import { redactor } from '../../job/redact.js';
import { Registry } from '../../registry/registry.js';
import { openJob, stateRootOf, type JobArguments } from '../job-file.js';
import { printNote, printResult, renderError, type OutputForm } from '../output.js';
import { keepSecret, withoutSecrets } from '../process.js';
import { runVerify } from '../verify-run.js';
import { verifyText } from '../verify-text.js';

export interface VerifyArguments extends JobArguments {
  readonly job: string;
  readonly stateDir?: string | undefined;
  readonly output: OutputForm;
  /** With commas between them. */
  readonly key?: string | undefined;
  readonly repair: boolean;
}

/** @returns 0: equal, or repaired; 1: they differ, or a side failed; 2: a bad job, or one that cannot be compared. */
export async function verifyCommand(args: VerifyArguments): Promise<number> {
  let loaded: JobResult | null = null;
  let outcomes: readonly VerifyOutcome[] = [];
  let error: SyncError | null = null;
  try {
    const registry = new Registry(process.env);
    loaded = await openJob(args.job, args, registry);
    if (loaded.ok) {
      for (const p of loaded.problems) printNote(renderProblem(p));
      const redact = redactor(loaded.parts.flatMap((p) => p.secrets));
      keepSecret(redact);
      outcomes = await runVerify(loaded.parts, registry, {
        stateRoot: stateRootOf(args.stateDir, loaded.stateDir),
        key: args.key === undefined ? null : args.key.split(',').map((k) => k.trim()),
        repair: args.repair,
        quiet: args.output === 'json',
        redact,
      });
      const failed = outcomes.find((o) => o.is === 'failed');
      error = failed ? errorFromReport(failed.error) : null;
    } else error = loaded.error;
  } catch (e) {
    error = toSyncError(e);
  }
  return tell(args, loaded, outcomes, error);
}

function tell(
  args: VerifyArguments,
  loaded: JobResult | null,
  outcomes: readonly VerifyOutcome[],
  error: SyncError | null,
): number {
  const equal = error === null && outcomes.every((o) => o.is === 'compared' && o.result.equal);
  const exitCode = error ? exitCodeOf(error) : equal ? 0 : 1;
  const jobs = loaded?.ok === true ? loaded.parts : [];
  if (args.output === 'json') {
    const result: JsonObject = {
      ok: equal,
      equal: error === null ? equal : null,
      parts: outcomes.map((o) => (o.is === 'compared' ? { ...o.result } : { ...o }) as unknown as JsonObject),
      problems: (loaded?.problems ?? []).map(problemJson),
      error: error ? { ...reportError(error) } : null,
      exitCode,
    };
    printResult(withoutSecrets(JSON.stringify(result)));
  } else {
    const parts = outcomes.flatMap((o, i) => {
      const job = jobs[i];
      if (o.is !== 'compared' || !job) return [];
      return [
        { reader: job.reader.definition.name, writer: job.writer.definition.name, result: o.result, part: i + 1 },
      ];
    });
    if (parts.length > 0) printResult(withoutSecrets(verifyText(args.job, parts, jobs.length)));
  }
  if (error) printNote(withoutSecrets(renderError(error)));
  return exitCode;
}
