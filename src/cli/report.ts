/** What a run tells at its end. */
import type { PartOutcome } from '../core/job/run-parts.js';
import type { RunSummary } from '../core/job/run-types.js';
import type { JobSpec } from '../job/job-spec.js';
import type { JsonObject } from '../plugin-api/index.js';
import { printNote, printResult, renderError, type OutputForm } from './output.js';
import { notBegunJson, summaryJson, summaryText, totalJson } from './summary.js';

export interface Ended {
  readonly parts: readonly JobSpec[];
  /** One for each part. */
  readonly outcomes: readonly PartOutcome[];
  /** Of the whole start. */
  readonly seconds: number;
}

/** `quiet`: rows go to stdout, so the summary goes to stderr. @returns the exit code. */
export function reportParts({ parts, outcomes, seconds }: Ended, output: OutputForm, quiet: boolean): number {
  const [only] = outcomes;
  if (parts.length === 1 && only?.is === 'ran') return reportOne(only.summary, output, quiet);
  const ran = outcomes.flatMap((o) => (o.is === 'ran' ? [o.summary] : []));
  // A failure says more than a stop.
  const worst = ran.find((s) => s.error !== null) ?? ran.find((s) => s.exitCode !== 0);
  const exitCode = worst?.exitCode ?? 0;
  if (output === 'json') {
    const each = outcomes.map((o, i): JsonObject => {
      const part = { part: i + 1, outcome: o.is };
      return o.is === 'ran' ? { ...part, ...onePart(o.summary) } : part;
    });
    printResult(JSON.stringify({ ...totalJson(ran, seconds, exitCode), parts: each }));
  }
  for (const [i, o] of outcomes.entries()) {
    const job = parts[i];
    if (!job) continue;
    const head = `part ${String(i + 1)} of ${String(parts.length)}: ${job.reader.definition.name} → ${job.writer.definition.name}`;
    if (o.is !== 'ran')
      tell(`${head}: ${o.is === 'done before' ? 'done by an earlier start' : 'not run'}`, output, quiet);
    else if (o.summary.begun || !o.summary.error) tell(`${head}\n${summaryText(o.summary)}`, output, quiet);
    if (o.is === 'ran' && o.summary.error)
      printNote(renderError({ place: undefined, hint: undefined, ...o.summary.error }));
  }
  return exitCode;
}

function tell(text: string, output: OutputForm, quiet: boolean): void {
  if (output === 'json') return;
  if (quiet) printNote(text);
  else printResult(text);
}

function reportOne(summary: RunSummary, output: OutputForm, quiet: boolean): number {
  const { error, exitCode } = summary;
  if (output === 'json') printResult(JSON.stringify(onePart(summary)));
  else if (summary.begun || !error) tell(summaryText(summary), output, quiet);
  if (error) printNote(renderError({ place: undefined, hint: undefined, ...error }));
  return exitCode;
}

function onePart(s: RunSummary): JsonObject {
  if (s.begun || !s.error) return summaryJson(s);
  return notBegunJson(s.error, s.exitCode, { jobId: s.jobId, runId: s.runId });
}
