/** Where the range of an integer key is cut. Exact at all 64 bits. */

/** Questions to the table; each costs a query. */
export interface KeySpace {
  /** Estimated rows with keys from `lo` up to and with `hi`. */
  rows(lo: bigint, hi: bigint): Promise<number>;
  /** The highest key below `at`, and the lowest from it on; null: none. */
  around(at: bigint): Promise<{ readonly below: bigint | null; readonly from: bigint | null }>;
}

export interface Cuts {
  /** Rising; part i begins with cut i-1. The first part has no lower bound, the last no upper one. */
  readonly cuts: readonly bigint[];
  /** Estimated, of each part: one more than cuts. */
  readonly rows: readonly number[];
}

interface Region {
  /** Both are keys that were there. */
  readonly lo: bigint;
  readonly hi: bigint;
  readonly rows: number;
}

/** Beginnings of `parts` equal steps from lo to hi, without the first. */
export function evenSteps(lo: bigint, hi: bigint, parts: number): readonly bigint[] {
  const width = hi - lo + 1n;
  const n = width < BigInt(parts) ? width : BigInt(parts);
  return Array.from({ length: Math.max(0, Number(n) - 1) }, (_, i) => lo + (width * BigInt(i + 1)) / n);
}

export function evenCuts(lo: bigint, hi: bigint, rows: number, parts: number): Cuts {
  const cuts = evenSteps(lo, hi, parts);
  return { cuts, rows: Array.from({ length: cuts.length + 1 }, () => Math.ceil(rows / (cuts.length + 1))) };
}

/** Of one halving: where its middle lies between keys, and two estimates. */
const QUERIES_PER_HALVING = 3;
const MOST_QUERIES = 96;
/** What is left larger than that is cut in equal steps. */
const LARGE = 1.5;

/**
 * Halves the largest region until all are about `target` rows, or the queries run out; each half is then shrunk to keys that
 * are there, so that gaps cost nothing, be they of 60 bits.
 */
export async function sampledCuts(
  space: KeySpace,
  lo: bigint,
  hi: bigint,
  rows: number,
  target: number,
): Promise<Cuts> {
  const regions: Region[] = [{ lo, hi, rows }];
  for (let left = MOST_QUERIES; left >= QUERIES_PER_HALVING; left -= QUERIES_PER_HALVING) {
    const at = largest(regions, target);
    const region = regions[at];
    if (region === undefined) break;
    regions.splice(at, 1, ...(await halves(space, region)));
  }
  return merged(
    regions.flatMap((r) => stepped(r, target)),
    target,
  );
}

function largest(regions: readonly Region[], target: number): number {
  let at = -1;
  regions.forEach((r, i) => {
    if (r.lo < r.hi && r.rows > target && r.rows > (regions[at]?.rows ?? 0)) at = i;
  });
  return at;
}

async function halves(space: KeySpace, { lo, hi }: Region): Promise<readonly Region[]> {
  const middle = lo + (hi - lo + 1n) / 2n;
  const { below, from } = await space.around(middle);
  // Rows may come and go meanwhile; the bounds stay within the region all the same.
  const left = { lo, hi: below === null || below < lo ? lo : below };
  const right = { lo: from === null || from > hi ? hi : from, hi };
  return [
    { ...left, rows: await space.rows(left.lo, left.hi) },
    { ...right, rows: await space.rows(right.lo, right.hi) },
  ];
}

function stepped(r: Region, target: number): readonly Region[] {
  if (r.rows <= target * LARGE || r.lo === r.hi) return [r];
  const starts = [r.lo, ...evenSteps(r.lo, r.hi, Math.ceil(r.rows / target))];
  return starts.map((lo, i) => ({ lo, hi: starts[i + 1] ?? r.hi, rows: Math.ceil(r.rows / starts.length) }));
}

function merged(regions: readonly Region[], target: number): Cuts {
  const cuts: bigint[] = [];
  const rows: number[] = [];
  let sum = 0;
  for (const r of regions) {
    if (rows.length > 0 && sum + r.rows <= target) {
      sum += r.rows;
      rows[rows.length - 1] = sum;
      continue;
    }
    if (rows.length > 0) cuts.push(r.lo);
    rows.push(r.rows);
    sum = r.rows;
  }
  return { cuts, rows };
}
