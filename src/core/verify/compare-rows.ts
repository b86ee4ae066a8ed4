/**
 * Compares by reading both sides whole. First all rows go into sums by the hash of their key; then the rows of those buckets
 * whose sums differ are read again and compared one by one. Memory does not grow with the number of rows.
 */
import { BUCKETS, BucketSums, bucketOf } from './bucket-sums.js';
import type { Pairing } from './pairing.js';
import { RowDifferences, type Found } from './row-differences.js';
import { RowScan } from './row-scan.js';
import type { SideRows } from './side-rows.js';
import type { Opened, Sides } from './sides.js';
import type { SideCount, SideName, VerifyProgress } from './verify-types.js';

/** Rows and bytes of them that one second look keeps at most. */
export const MOST_KEPT = { rows: 100_000, bytes: 32 << 20 };

export interface Compared {
  readonly pairing: Pairing;
  readonly source: SideCount & { readonly filtered: number };
  readonly target: SideCount;
  /** Sets of buckets; each is small enough for one second look. */
  readonly groups: readonly (readonly number[])[];
}

export async function compareAll(sides: Sides, progress: (p: VerifyProgress) => void): Promise<Compared> {
  await using opened = await sides.open();
  const { source, target, pairing } = opened;
  const sums = { source: new BucketSums(), target: new BucketSums() };
  const tell = (): void => {
    progress({ phase: 'comparing', sourceRows: source.rows, targetRows: target.rows });
  };
  await bothSides(opened, async (rows, side) => {
    const scan = new RowScan(pairing);
    const into = sums[side];
    for await (const batch of rows.batches()) {
      scan.begin(batch);
      for (const section of batch.sections) {
        const bound = pairing.bind(side, section.schema);
        for (let r = 0; r < section.rows; r++) {
          scan.hash(bound, section, r);
          into.add(bucketOf(scan.key.low), scan.row.high, scan.row.low);
        }
      }
      tell();
    }
  });
  const bytes = (source.bytes + target.bytes) / Math.max(1, source.rows + target.rows);
  const most = Math.max(1, Math.min(MOST_KEPT.rows, MOST_KEPT.bytes / Math.max(1, bytes)));
  const groups = grouped(
    sums.source.differing(sums.target),
    (b) => (sums.source.rows[b] ?? 0) + (sums.target.rows[b] ?? 0),
    most,
  );
  return {
    pairing,
    source: { ...source.count, filtered: source.filtered },
    target: target.count,
    groups,
  };
}

/** Looks at the rows of some buckets one by one. */
export async function lookCloser(
  sides: Sides,
  buckets: readonly number[],
  progress: (p: VerifyProgress) => void,
): Promise<{ readonly pairing: Pairing; readonly found: readonly Found[] }> {
  const wanted = new Uint8Array(BUCKETS);
  for (const b of buckets) wanted[b] = 1;
  await using opened = await sides.open();
  const found = await differencesOf(opened, (low) => wanted[bucketOf(low)] === 1, progress);
  return { pairing: opened.pairing, found };
}

export async function differencesOf(
  opened: Opened,
  wanted: (keyLow: number) => boolean,
  progress: (p: VerifyProgress) => void,
): Promise<readonly Found[]> {
  const { pairing, source, target } = opened;
  const differences = new RowDifferences();
  await bothSides(opened, async (rows, side) => {
    const scan = new RowScan(pairing);
    for await (const batch of rows.batches()) {
      scan.begin(batch);
      for (const [i, section] of batch.sections.entries()) {
        differences.add(pairing.bind(side, section.schema), batch, i, scan, wanted);
      }
      progress({ phase: 'looking closer', sourceRows: source.rows, targetRows: target.rows });
    }
  });
  return differences.found();
}

/** Both at the same time; after a failure of one the other is not waited for any longer than a batch takes. */
async function bothSides(
  { source, target }: Opened,
  read: (rows: SideRows, side: SideName) => Promise<void>,
): Promise<void> {
  await Promise.all([read(source, 'source'), read(target, 'target')]);
}

/** In as few sets as the bound allows; a bucket that is larger by itself is a set of its own. */
export function grouped(
  buckets: readonly number[],
  rowsOf: (bucket: number) => number,
  most: number,
): readonly (readonly number[])[] {
  const groups: number[][] = [];
  let rows = Infinity;
  for (const b of buckets) {
    rows += rowsOf(b);
    if (rows > most) {
      groups.push([]);
      rows = rowsOf(b);
    }
    groups.at(-1)?.push(b);
  }
  return groups;
}
