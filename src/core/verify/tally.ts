import type { Pairing } from './pairing.js';
import { showFound, type Found } from './row-differences.js';
import type { Difference, DifferenceKind, Differences } from './verify-types.js';

/** Keys that are told. */
const FIRST = 10;

export class Tally {
  complete = true;
  readonly #counts: Record<DifferenceKind, number> = { missing: 0, extra: 0, different: 0 };
  readonly #first: Difference[] = [];

  add(pairing: Pairing, found: readonly Found[]): void {
    for (const f of found) {
      this.#counts[f.is]++;
      if (this.#first.length < FIRST) this.#first.push(showFound(pairing, f));
    }
  }

  get differences(): Differences {
    return { ...this.#counts, complete: this.complete, first: this.#first };
  }

  get any(): boolean {
    const { missing, extra, different } = this.#counts;
    return missing + extra + different > 0 || !this.complete;
  }
}
