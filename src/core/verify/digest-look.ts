import { DigestSides, readable, readChunks, type DigestCompared, type FineChunk } from './compare-digest.js';
import type { Look } from './look.js';
import type { Sides } from './sides.js';
import type { VerifyProgress } from './verify-types.js';

/** Compares by sums that both sides compute; null: they have none in common. */
export async function digestLook(
  sides: Sides,
  key: readonly string[] | null,
  progress: (p: VerifyProgress) => void,
): Promise<Look | null> {
  const digest = await DigestSides.open(sides, key);
  if (digest === null) return null;
  try {
    return lookOf(sides, digest, await digest.compareAll(progress), progress);
  } catch (e) {
    await digest[Symbol.asyncDispose]().catch(() => undefined);
    throw e;
  }
}

function lookOf(sides: Sides, digest: DigestSides, done: DigestCompared, progress: (p: VerifyProgress) => void): Look {
  const { sourceRows, targetRows, chunks, differing, fine } = done;
  const groups = readable(fine);
  const all = { unreadable: 0, why: null };
  return {
    by: 'digest',
    same: fine.length === 0,
    source: { ...all, rows: sourceRows, filtered: 0 },
    target: { ...all, rows: targetRows },
    chunks: { all: chunks, differing },
    groups: groups.length,
    pairing: () => ({ columns: digest.columns, keyNames: digest.key, keyOfTarget: true }),
    closer: async function* () {
      for (const group of groups) yield readChunks(sides, digest.splits(group), progress);
    },
    again: async () => lookOf(sides, digest, await compareAgain(digest, done), progress),
    [Symbol.asyncDispose]: () => digest[Symbol.asyncDispose](),
  };
}

async function compareAgain(digest: DigestSides, before: DigestCompared): Promise<DigestCompared> {
  const fine: FineChunk[] = [];
  for (const { range } of before.fine) {
    const { same, rows } = await digest.compare(range);
    if (!same) fine.push({ range, rows: Math.max(...rows) });
  }
  return { ...before, fine };
}
