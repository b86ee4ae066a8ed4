import { findNodeAtLocation, parseTree } from 'jsonc-parser';
import { SyncError } from '../plugin-api/index.js';
import type { JobInput } from './job.js';
import { parametersFor } from './parameters/load.js';
import { templateOf } from './parameters/template.js';
import { quoteBare } from './parse-job.js';

/**
 * What a job file says about its state, even where the rest of it is wrong; null: nothing.
 * @throws SyncError USAGE where it says so with a parameter that has no value.
 */
export async function peekJob(
  input: JobInput,
): Promise<{ readonly jobId: string | null; readonly stateDir: string | null }> {
  const text = input.text.replace(/^\uFEFF/, '');
  const root = parseTree(quoteBare(text));
  const { parameters } = await parametersFor(input);
  const find = (...path: readonly string[]): string | null => {
    const node = root && findNodeAtLocation(root, ['job', 'setting', ...path]);
    if (typeof node?.value !== 'string' || node.value === '') return null;
    const found = templateOf(node, text);
    if (!parameters || !found) return node.value;
    const r = parameters.replace(node, found.template, found.bare, []);
    if ('message' in r) {
      throw new SyncError('USAGE', `job.setting.${path.join('.')}: ${r.message}`, {
        place: input.name,
        ...(r.hint === null ? {} : { hint: r.hint }),
      });
    }
    return r.node.value as string;
  };
  return { jobId: find('jobId'), stateDir: find('checkpoint', 'dir') };
}
