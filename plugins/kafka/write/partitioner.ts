import { partitionOfKey } from './murmur2.js';

/** Which partition a record goes to. */
export interface Partitioner {
  partitionOf(key: Uint8Array | null): number;
}

/** Records without a key go to one partition for so many of them, then to the next: batches stay large. */
const RUN = 256;

/**
 * @param fixed All go there; null: by key, as Java's producer does, and in turns without one.
 * @param lane Lanes begin at different partitions: what one has committed is hidden while another's transaction that began before it is open.
 */
export function partitionerOf(partitions: number, fixed: number | null, lane: number): Partitioner {
  if (fixed !== null) return { partitionOf: () => fixed };
  let turn = lane * RUN;
  return {
    partitionOf: (key) => (key === null ? Math.floor(turn++ / RUN) % partitions : partitionOfKey(key, partitions)),
  };
}
