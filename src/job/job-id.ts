/** Line ends and other control characters, and halves of surrogate pairs: no list could show them on a line of its own. */
const UNSHOWABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

/** What is wrong with a job id; null: nothing. */
export function jobIdProblem(jobId: string): string | null {
  if (jobId.trim() === '') return 'the job id is empty';
  const found = UNSHOWABLE.exec(jobId);
  if (!found) return null;
  const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `the job id has the control character U+${code} at position ${String(found.index + 1)}`;
}
