import type { RecordSlot } from './record-reader.js';
import { readVarint, varintEnd } from './varint.js';
import { damagedBatch } from './wire-faults.js';

export interface RecordHeader {
  readonly key: string;
  /** A view of the record's buffer. */
  readonly value: Buffer | null;
}

/**
 * In order; names may come more than once.
 * @throws SyncError SOURCE_FORMAT
 */
export function headersOf(slot: RecordSlot): readonly RecordHeader[] {
  const { buffer, headersEnd: end } = slot;
  const headers: RecordHeader[] = [];
  let at = slot.headersStart;
  for (let i = 0; i < slot.headers; i++) {
    const keyLength = readVarint(buffer, at);
    const keyEnd = varintEnd + keyLength;
    if (keyLength < 0 || keyEnd > end) throw damagedHeaders(slot);
    const key = buffer.toString('utf8', varintEnd, keyEnd);
    const valueLength = readVarint(buffer, keyEnd);
    const valueEnd = varintEnd + Math.max(0, valueLength);
    if (valueEnd > end) throw damagedHeaders(slot);
    headers.push({ key, value: valueLength < 0 ? null : buffer.subarray(varintEnd, valueEnd) });
    at = valueEnd;
  }
  if (at !== end) throw damagedHeaders(slot);
  return headers;
}

function damagedHeaders(slot: RecordSlot): Error {
  return damagedBatch(slot.place, `the headers of offset ${String(slot.offset)} do not fit its length`);
}
