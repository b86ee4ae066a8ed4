import { compareAll, lookCloser } from './compare-rows.js';
import type { Look } from './look.js';
import type { Sides } from './sides.js';
import type { VerifyProgress } from './verify-types.js';

/** Compares by reading both sides. */
export async function rowsLook(sides: Sides, progress: (p: VerifyProgress) => void): Promise<Look> {
  const { pairing, source, target, groups } = await compareAll(sides, progress);
  return {
    by: 'rows',
    same: groups.length === 0,
    source,
    target,
    chunks: null,
    groups: groups.length,
    pairing: () => pairing,
    closer: async function* () {
      for (const buckets of groups) yield lookCloser(sides, buckets, progress);
    },
    again: () => Promise.resolve(null),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
