/** `setting.verify`: what a run has written is compared once it is finished. */
import type { PartOutcome } from '../core/job/run-parts.js';
import type { RunSummary } from '../core/job/run-types.js';
import { exitCodeOf, reportError, SyncError, type ErrorReport } from '../plugin-api/index.js';
import type { JobSpec } from '../job/job-spec.js';
import type { Redact } from '../job/redact.js';
import type { Registry } from '../registry/registry.js';
import { runVerify } from './verify-run.js';
import { verdictText } from './verify-text.js';

export interface AfterRun {
  readonly stateRoot: string;
  readonly stop: AbortSignal;
  readonly registry: Registry;
  readonly quiet: boolean;
  readonly redact: Redact;
}

/** The outcomes with what the comparison came to: a run whose target differs has failed. */
export async function verifyFinished(
  parts: readonly JobSpec[],
  outcomes: readonly PartOutcome[],
  { stateRoot, stop, registry, quiet, redact }: AfterRun,
): Promise<readonly PartOutcome[]> {
  const told: PartOutcome[] = [];
  for (const [i, outcome] of outcomes.entries()) {
    const job = parts[i];
    const finished = outcome.is === 'ran' && outcome.summary.state === 'finished';
    if (!job?.settings.verify || !finished) {
      told.push(outcome);
      continue;
    }
    const asked = { stateRoot, key: null, repair: false, quiet, redact, stop };
    const [verified] = await runVerify([job], registry, asked);
    if (verified?.is === 'compared') told.push({ is: 'ran', summary: withResult(outcome.summary, verified.result) });
    else if (verified)
      told.push({ is: 'ran', summary: failedBy(outcome.summary, stop.aborted ? stopped() : verified.error) });
  }
  return told;
}

function withResult(summary: RunSummary, verify: NonNullable<RunSummary['verify']>): RunSummary {
  if (verify.equal) return { ...summary, verify };
  const error = new SyncError('TARGET_DIFFERS', `source and target differ: ${verdictText(verify)}`, {
    hint: 'sync verify shows more, and with --repair puts it right where the writer can.',
  });
  return { ...failedBy(summary, reportError(error)), verify };
}

/** The run itself stays finished: its rows are committed, and the next start is a new run. */
function failedBy(summary: RunSummary, error: ErrorReport): RunSummary {
  return { ...summary, error, exitCode: exitCodeOf(error) };
}

function stopped(): ErrorReport {
  const message = 'stopped while source and target were compared; the run itself is finished';
  return reportError(new SyncError('STOPPED', message, { hint: 'sync verify compares them again.' }));
}
