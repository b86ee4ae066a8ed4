import { batchSizeAt } from '../wire/batch-header.js';
import { BASE_OFFSET, LAST_OFFSET_DELTA, RECORD_COUNT, int64At } from '../wire/batch-layout.js';

/** Of the record behind the whole batches, from their headers alone; null: there is no whole one, or what it says is not to be trusted. */
export function offsetBehind(batches: Buffer): number | null {
  let behind: number | null = null;
  for (let at = 0; ;) {
    const size = batchSizeAt(batches, at);
    if (size === null || size < RECORD_COUNT || at + size > batches.length) return behind;
    behind = int64At(batches, at + BASE_OFFSET) + batches.readInt32BE(at + LAST_OFFSET_DELTA) + 1;
    at += size;
  }
}
