import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  cellKind,
  type ColumnLoss,
  type PlanColumn,
  type PlanProblem,
  type PlanTarget,
  type WriterFacts,
} from 'syncx/plugin-api';
import { dataFiles, foreignStaging, type StagedTarget } from 'syncx/plugin-kit';
import type { TargetRules } from './target-rules.js';

export interface TargetToExplain extends TargetRules {
  readonly fileType: 'csv' | 'json' | 'text';
  /** `csv with a header line, gzip`. */
  readonly layout: string;
  readonly nullFormat: string;
  /** By its one name. */
  readonly encoding: string;
}

/** Of no run: everything that is there is another's. */
const NO_RUN = '\0';

export async function explainFolder(
  target: StagedTarget,
  o: TargetToExplain,
  from: readonly PlanColumn[] | null,
  resumes: string | null,
): Promise<WriterFacts> {
  const { folder, prefix, suffix } = target;
  const bucket = target.buckets === true ? '<bucket>/' : '';
  const done = o.successFile ? `, then ${folder}/_SUCCESS` : '';
  const writes = [`${folder}/${bucket}${prefix}<run>-<lane>-<epoch>-<number>${suffix}${done}; ${o.layout}`];
  const blocked = await rightsProblem(folder);
  const runId = resumes ?? NO_RUN;
  const there = blocked?.problem ? null : await lookAt(target, o, blocked !== null, runId);
  const staged = there?.state === 'empty' || there?.state === 'filled' ? await stagedProblems(target, runId) : [];
  return {
    writes,
    target: there ?? { place: folder, state: 'unknown', holds: null, effect: 'it cannot be used' },
    columns: null,
    losses: lossesOf(o, from),
    whyDelivery: null,
    problems: [...(blocked?.problem ? [blocked.problem] : []), ...staged, ...conflictOf(o, there, resumes)],
  };
}

export function explainStdout(o: TargetToExplain, from: readonly PlanColumn[] | null): WriterFacts {
  return {
    writes: [`standard output; ${o.layout}`],
    target: { place: 'standard output', state: 'unknown', holds: null, effect: 'rows are written as they come' },
    columns: null,
    losses: lossesOf(o, from),
    whyDelivery: 'what is on standard output cannot be taken back: after a crash rows come again',
    problems: [],
  };
}

async function lookAt(target: StagedTarget, o: TargetToExplain, missing: boolean, runId: string): Promise<PlanTarget> {
  const { folder } = target;
  if (missing) return { place: folder, state: 'missing', holds: null, effect: 'the folder is made' };
  const files = await dataFiles(target, runId, o.only);
  const n = files.length;
  if (n === 0) return { place: folder, state: 'empty', holds: null, effect: 'files are added' };
  const they = n === 1 ? 'it' : 'they';
  const effect = {
    append: `${they} ${n === 1 ? 'stays' : 'stay'}, files are added`,
    overwrite: `${they} ${n === 1 ? 'is' : 'are'} removed once all rows are published`,
    nonConflict: 'a new run is refused, as the folder must be empty',
  }[o.writeMode];
  return { place: folder, state: 'filled', holds: `${String(n)} ${n === 1 ? 'file' : 'files'}`, effect };
}

/** A run that goes on has passed this before. */
function conflictOf(o: TargetToExplain, there: PlanTarget | null, resumes: string | null): readonly PlanProblem[] {
  if (resumes !== null || there === null || o.writeMode !== 'nonConflict' || there.state !== 'filled') return [];
  const message = `the target folder ${there.place} holds ${String(there.holds)}`;
  const hint =
    'writeMode nonConflict wants it empty: name another folder, move the files away, or use append or overwrite.';
  return [{ level: 'error', code: 'SINK_CONFLICT', message, place: there.place, hint }];
}

async function stagedProblems(target: StagedTarget, runId: string): Promise<readonly PlanProblem[]> {
  const others = await foreignStaging(target, runId);
  return others.map((s) => ({
    level: 'warning',
    code: 'SINK_CONFLICT',
    message: `the target holds ${String(s.files)} staged file(s) of run ${s.runId}: of this job's unfinished run, or another job writes here too`,
    place: s.folder,
  }));
}

/** Null: the folder is there and takes files. `missing`: it can be made, or, with a problem, cannot. */
async function rightsProblem(
  folder: string,
): Promise<{ readonly missing: boolean; readonly problem: PlanProblem | null } | null> {
  const say = (message: string, place: string, hint: string) =>
    ({ missing: false, problem: { level: 'error', code: 'SINK_IO', message, place, hint } }) as const;
  for (let at = folder; ; at = dirname(at)) {
    try {
      if (!(await stat(at)).isDirectory()) {
        const what =
          at === folder ? 'the target is a file, not a folder' : `${at} is a file, so no folder can be made in it`;
        return say(what, folder, 'Name a folder.');
      }
      await access(at, constants.W_OK | constants.X_OK);
      return at === folder ? null : { missing: true, problem: null };
    } catch (e) {
      const code = (e as NodeJS.ErrnoException).code ?? String(e);
      if ((code === 'ENOENT' || code === 'ENOTDIR') && dirname(at) !== at) continue;
      const what =
        at === folder ? `the target folder ${folder} cannot be written to` : `${folder} cannot be made in ${at}`;
      return say(`${what}: ${code}`, at, 'Give the user that runs the job the right to write there.');
    }
  }
}

function lossesOf(o: TargetToExplain, from: readonly PlanColumn[] | null): readonly ColumnLoss[] {
  const losses: ColumnLoss[] = [];
  for (const { name: column, type } of from ?? []) {
    const kind = type === null ? null : cellKind(type);
    const text = kind === null || kind === 'text' || kind === 'json';
    if (kind === 'bytes') losses.push({ column, what: 'bytes become base64 text' });
    if (o.fileType === 'json' && kind === 'float') losses.push({ column, what: 'NaN and infinities become texts' });
    if (o.fileType === 'text' && text) {
      const what = `a text with a delimiter or a line end, or that is ${JSON.stringify(o.nullFormat)}, is a dirty row`;
      losses.push({ column, what });
    }
    if (o.encoding !== 'utf-8' && text) {
      losses.push({ column, what: `a text with characters that ${o.encoding} lacks is a dirty row` });
    }
  }
  return losses;
}
