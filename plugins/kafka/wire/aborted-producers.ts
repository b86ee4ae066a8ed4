import { readVarint, readVarlong, varintEnd } from './varint.js';

export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: number;
}

/**
 * Which producers are within an aborted transaction, batch after batch. A fetch tells where aborted transactions begin;
 * each ends at its producer's abort marker.
 */
export class AbortedProducers {
  /** By first offset. */
  readonly #coming: readonly AbortedTransaction[];
  #next = 0;
  readonly #open = new Set<bigint>();

  constructor(aborted: readonly AbortedTransaction[]) {
    this.#coming = [...aborted].sort((a, b) => a.firstOffset - b.firstOffset);
  }

  /** Tells what begins up to there; with the last offset of each batch, in order. */
  goTo(offset: number): void {
    for (;;) {
      const coming = this.#coming[this.#next];
      if (coming === undefined || coming.firstOffset > offset) return;
      this.#open.add(coming.producerId);
      this.#next++;
    }
  }

  has(producerId: bigint): boolean {
    return this.#open.has(producerId);
  }

  /** At an abort marker. */
  end(producerId: bigint): void {
    this.#open.delete(producerId);
  }
}

const ABORT = 0;

/** `at`: where the records of a control batch begin. The one record's key says what it is: version, then kind (int16s). */
export function isAbortMarker(bytes: Buffer, at: number): boolean {
  readVarint(bytes, at); // length
  readVarlong(bytes, varintEnd + 1); // behind the attributes: timestamp
  readVarint(bytes, varintEnd); // offset
  const keyLength = readVarint(bytes, varintEnd);
  return keyLength >= 4 && bytes.readInt16BE(varintEnd + 2) === ABORT;
}
