import type { JobResult } from '../../config/job.js';
import { problemJson, renderProblem } from '../../config/problem.js';
import { exitCodeOf, reportError, toSyncError, type JsonObject } from '../../plugin-api/index.js';
import { Registry } from '../../registry/registry.js';
import { openJob } from '../job-file.js';
import { printNote, printResult, renderError, type OutputForm } from '../output.js';

export interface ValidateArguments {
  readonly job: string;
  readonly param?: readonly string[] | undefined;
  readonly conf?: readonly string[] | undefined;
  readonly confProp?: readonly string[] | undefined;
  readonly output: OutputForm;
}

/** The findings are this command's result, so they go to stdout. @returns the exit code. */
export async function validateCommand(args: ValidateArguments): Promise<number> {
  const json = (o: JsonObject): void => {
    printResult(JSON.stringify(o));
  };
  let result: JobResult;
  try {
    result = await openJob(args.job, args, new Registry(process.env));
  } catch (e) {
    const error = toSyncError(e);
    if (args.output === 'json') json({ ok: false, problems: [], error: { ...reportError(error) } });
    printNote(renderError(error));
    return exitCodeOf(error);
  }
  const problems = result.problems.map(problemJson);
  if (args.output === 'json') {
    json({ ok: result.ok, problems, error: result.ok ? null : { ...reportError(result.error) } });
  } else {
    for (const p of result.problems) printResult(renderProblem(p));
    if (result.ok) {
      const pairs = result.parts.map((p) => `${p.reader.definition.name} → ${p.writer.definition.name}`);
      printResult(`${args.job} is valid: ${pairs.join(', ')}`);
    }
  }
  if (result.ok) return 0;
  printNote(renderError(result.error));
  return exitCodeOf(result.error);
}
