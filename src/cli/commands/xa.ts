import { renderProblem } from '../../config/problem.js';
import { listBranches, rollBackBranches, type RolledBack } from '../../core/job/prepared-branches.js';
import { redactor } from '../../job/redact.js';
import { SyncError, type Logger } from '../../plugin-api/index.js';
import type { JobSpec } from '../../job/job-spec.js';
import { Registry } from '../../registry/registry.js';
import { openJob, type JobArguments } from '../job-file.js';
import { createLogger } from '../logger.js';
import { onTerminal, printNote, printResult, type OutputForm } from '../output.js';
import { keepSecret, withoutSecrets } from '../process.js';
import { plainStderr } from '../stderr-line.js';
import { alignedRows } from '../text-table.js';

export interface XaArguments extends JobArguments {
  readonly job: string;
  readonly output: OutputForm;
}

export interface XaRollbackArguments extends XaArguments {
  readonly ids: readonly string[];
  readonly run?: string | undefined;
}

/** Each branch once, also where several entries of the job have one target. @returns the exit code. */
export async function xaListCommand(args: XaArguments): Promise<number> {
  const found = await eachTarget(args, (job, log) => listBranches(job, log));
  const all = [...new Map(found.flat().map((b) => [b.id, b])).values()];
  if (args.output === 'json') printResult(withoutSecrets(JSON.stringify(all)));
  else if (all.length === 0) printNote('nothing is prepared');
  else {
    const rows = all.map((b) => [b.id, b.runId, String(b.attempt), String(b.lane)]);
    for (const line of alignedRows([['TRANSACTION', 'RUN', 'START', 'LANE'], ...rows]))
      printResult(withoutSecrets(line));
  }
  return 0;
}

/** @returns 0: all that were asked for are gone; 1: one is not there, or its connection still lives. */
export async function xaRollbackCommand(args: XaRollbackArguments): Promise<number> {
  if (args.ids.length === 0 && args.run === undefined) {
    throw new SyncError('USAGE', 'say which: ids, or --run', { hint: `sync xa list ${args.job} lists them` });
  }
  const asked = { ids: args.ids, runId: args.run ?? null };
  const byId = new Map<string, RolledBack>();
  for (const r of (await eachTarget(args, (job, log) => rollBackBranches(job, asked, log))).flat()) {
    if (byId.get(r.id)?.done !== true) byId.set(r.id, r);
  }
  const all = [...byId.values()];
  if (args.output === 'json') printResult(withoutSecrets(JSON.stringify(all)));
  else if (all.length === 0) printNote(`nothing of run ${args.run ?? ''} is prepared`);
  else {
    for (const r of all) {
      const what = r.done ? 'rolled back' : 'not there, or its connection still lives';
      printResult(withoutSecrets(`${r.id}  ${what}`));
    }
  }
  return all.every((r) => r.done) ? 0 : 1;
}

async function eachTarget<T>(args: XaArguments, f: (job: JobSpec, log: Logger) => Promise<T>): Promise<readonly T[]> {
  const loaded = await openJob(args.job, args, new Registry(process.env));
  if (!loaded.ok) throw loaded.error;
  for (const p of loaded.problems) printNote(renderProblem(p));
  const redact = redactor(loaded.parts.flatMap((p) => p.secrets));
  keepSecret(redact);
  const { log, ready } = createLogger('warn', onTerminal() ? 'pretty' : 'json', plainStderr(), redact);
  try {
    const out: T[] = [];
    for (const job of loaded.parts) out.push(await f(job, log));
    return out;
  } finally {
    await ready;
  }
}
