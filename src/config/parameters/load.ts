import { SyncError } from '../../plugin-api/index.js';
import type { JobInput } from '../job.js';
import type { Parameters } from './parameters.js';

export interface LoadedParameters {
  /** Null where the file has no `${` and nothing is given: most starts load nothing of this. */
  readonly parameters: Parameters | null;
  /** ms since 1970. */
  readonly now: number;
  /** True: the command line says what the clock shows. */
  readonly fixed: boolean;
}

/** @throws SyncError USAGE where `-p now=…` is no moment. */
export async function parametersFor(input: JobInput): Promise<LoadedParameters> {
  const given = input.parameters ?? new Map<string, never>();
  if (!input.text.includes('${') && given.size === 0) return { parameters: null, now: 0, fixed: false };
  const { Parameters } = await import('./parameters.js');
  const { momentOf } = await import('./clock.js');
  const asked = given.get('now');
  const moment = typeof asked === 'string' ? momentOf(asked) : asked === undefined ? undefined : null;
  if (moment === null) {
    throw new SyncError('USAGE', 'parameter now is no moment', { hint: 'Write it as 2026-11-28T02:00:00.' });
  }
  const now = moment ?? input.now ?? Date.now();
  return {
    parameters: new Parameters({ given, now, env: input.env ?? {} }),
    now,
    fixed: moment !== undefined,
  };
}
