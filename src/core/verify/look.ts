import type { Pairing } from './pairing.js';
import type { Found } from './row-differences.js';
import type { SideCount } from './verify-types.js';

export interface FoundIn {
  readonly pairing: Pairing;
  readonly found: readonly Found[];
}

/** What a comparison came to. */
export interface Look extends AsyncDisposable {
  readonly by: 'rows' | 'digest';
  /** No sum differs. */
  readonly same: boolean;
  readonly source: SideCount & { readonly filtered: number };
  readonly target: SideCount;
  readonly chunks: { readonly all: number; readonly differing: number } | null;
  /** How many readings `closer` takes. */
  readonly groups: number;
  /** Names may be known before rows were read. */
  pairing(): Pick<Pairing, 'columns' | 'keyNames' | 'keyOfTarget'>;
  /** The rows that differ; one reading an item. */
  closer(): AsyncGenerator<FoundIn>;
  /** Only what differed, compared once more; null: all must be. */
  again(): Promise<Look | null>;
}
