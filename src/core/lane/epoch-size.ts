import { SyncError, type EpochLimit, type RowBatch } from '../../plugin-api/index.js';

/** Bytes of cells in the epoch that a lane reads, against the limit of its writer. */
export class EpochSize {
  readonly #limit: EpochLimit | null;
  #bytes = 0;

  constructor(limit: EpochLimit | null) {
    this.#limit = limit;
  }

  /**
   * @returns whether the epoch has just reached its limit.
   * @throws SyncError TRANSACTION_TOO_LARGE where it was at the hard one before.
   */
  add(batch: RowBatch): boolean {
    const limit = this.#limit;
    if (!limit) return false;
    if (this.#bytes >= limit.hardBytes) {
      const most = String(limit.hardBytes);
      throw new SyncError('TRANSACTION_TOO_LARGE', `a source transaction holds more than ${most} bytes of rows`, {
        place: batch.splitId,
        hint: "The target takes an epoch in one transaction of its own: see the limits in the writer's options.",
      });
    }
    const before = this.#bytes;
    this.#bytes += batch.data.byteLength;
    return before < limit.bytes && this.reached;
  }

  /** It should end. */
  get reached(): boolean {
    return this.#limit !== null && this.#bytes >= this.#limit.bytes;
  }

  /** Twice as large as it should be: nothing more goes in but what ends an open source transaction. */
  get full(): boolean {
    return this.#limit !== null && this.#bytes >= 2 * this.#limit.bytes;
  }

  /** The next epoch begins. @returns the bytes of the last. */
  cut(): number {
    const bytes = this.#bytes;
    this.#bytes = 0;
    return bytes;
  }

  /** The end of the last epoch is taken back. */
  uncut(bytes: number): void {
    this.#bytes += bytes;
  }
}
