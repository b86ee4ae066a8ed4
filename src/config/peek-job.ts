import { findNodeAtLocation, parseTree } from 'jsonc-parser';

/** What a job file says about its state, even where the rest of it is wrong; null: nothing. */
export function peekJob(text: string): { readonly jobId: string | null; readonly stateDir: string | null } {
  const root = parseTree(text.replace(/^\uFEFF/, ''));
  const find = (...path: readonly string[]): string | null => {
    const value: unknown = root && findNodeAtLocation(root, ['job', 'setting', ...path])?.value;
    return typeof value === 'string' && value !== '' ? value : null;
  };
  return { jobId: find('jobId'), stateDir: find('checkpoint', 'dir') };
}
