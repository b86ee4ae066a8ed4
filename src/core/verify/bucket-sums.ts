/** A power of two. Finer ones make the second look shorter: 100 million rows are 1,500 a bucket. */
export const BUCKETS = 1 << 16;

/**
 * Rows of one side, counted and summed by the hash of their key. A sum modulo 2^64, as an XOR would let pairs cancel: two rows
 * that are both doubled, or the same change made twice.
 */
export class BucketSums {
  readonly rows = new Float64Array(BUCKETS);
  readonly #low = new Uint32Array(BUCKETS);
  readonly #high = new Uint32Array(BUCKETS);

  add(bucket: number, high: number, low: number): void {
    const sum = (this.#low[bucket] ?? 0) + low;
    this.#low[bucket] = sum;
    this.#high[bucket] = (this.#high[bucket] ?? 0) + high + (sum > 0xffff_ffff ? 1 : 0);
    this.rows[bucket] = (this.rows[bucket] ?? 0) + 1;
  }

  differing(other: BucketSums): readonly number[] {
    const found: number[] = [];
    for (let i = 0; i < BUCKETS; i++) {
      const same = this.rows[i] === other.rows[i] && this.#low[i] === other.#low[i] && this.#high[i] === other.#high[i];
      if (!same) found.push(i);
    }
    return found;
  }
}

export const bucketOf = (keyLow: number): number => keyLow & (BUCKETS - 1);
