import { SyncError, type ErrorCode, type JsonObject } from '../plugin-api/index.js';

/** Something wrong, or worth a word, in a job file. */
export interface Problem {
  readonly code: ErrorCode;
  readonly level: 'error' | 'warning';
  /** Name of the job file as the user gave it; for what comes of the command line `--conf key`. */
  readonly file: string;
  /** From 1; 0: of the command line. */
  readonly line: number;
  readonly column: number;
  /** `job.content[0].writer.parameter.writeMode`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
  readonly hint: string | null;
}

function place(p: Problem): string {
  return p.line === 0 ? p.file : `${p.file}:${String(p.line)}:${String(p.column)}`;
}

/** One line as compilers write it: `job.json:12:7: error: job.content[0].reader: …; hint`. */
export function renderProblem(p: Problem): string {
  const subject = p.path === '' ? '' : `${p.path}: `;
  return `${place(p)}: ${p.level}: ${subject}${p.message}${p.hint === null ? '' : `; ${p.hint}`}`;
}

export function problemJson(p: Problem): JsonObject {
  return { ...p };
}

/** All errors of a job file as one: itself where there is one, else a count that refers to the list. */
export function problemsError(problems: readonly Problem[]): SyncError {
  const errors = problems.filter((p) => p.level === 'error');
  const first = errors[0];
  if (first === undefined) throw new RangeError('no error among the problems');
  const code = errors.every((p) => p.code === first.code) ? first.code : 'JOB_INVALID';
  if (errors.length === 1) {
    const message = first.path === '' ? first.message : `${first.path}: ${first.message}`;
    return new SyncError(code, message, { place: place(first), ...(first.hint === null ? {} : { hint: first.hint }) });
  }
  const where = errors.find((p) => p.line > 0)?.file ?? 'the command line';
  return new SyncError(code, `${where} has ${String(errors.length)} errors`, {
    place: place(first),
    hint: `each is listed above with its ${errors.some((p) => p.line === 0) ? 'place' : 'line and column'}`,
  });
}

const byPlace = (a: Problem, b: Problem): number => a.line - b.line || a.column - b.column;

export function sortProblems(problems: readonly Problem[]): readonly Problem[] {
  return [...problems].sort(byPlace);
}
