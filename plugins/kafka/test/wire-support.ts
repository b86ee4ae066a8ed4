import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { batchSizeAt } from '../wire/batch-header.js';
import { BatchWriter, NO_PRODUCER, type BatchProducer, type HeaderToWrite } from '../wire/batch-writer.js';
import type { Codec } from '../wire/codec.js';
import { headersOf } from '../wire/record-headers.js';
import { RecordReader, newRecordSlot, type RecordReaderOptions } from '../wire/record-reader.js';

/** Bytes in hex; long ones by their SHA-256. As the files of fixtures/. */
export interface PlainRecord {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: string | null;
  readonly value: string | null;
  readonly headers: readonly (readonly [string | null, string | null])[];
}

export interface ReadRecords {
  readonly records: readonly PlainRecord[];
  readonly nextOffset: number;
  readonly cutBytes: number;
}

export const ALL: RecordReaderOptions = { from: 0, committedOnly: false, aborted: [], place: 'orders-3' };

export async function readAll(bytes: Buffer, o: Partial<RecordReaderOptions> = {}): Promise<ReadRecords> {
  const reader = new RecordReader(bytes, { ...ALL, ...o });
  const slot = newRecordSlot();
  const records: PlainRecord[] = [];
  do {
    while (reader.next(slot)) {
      const { buffer, offset, timestamp, keyStart, keyEnd, valueStart, valueEnd } = slot;
      records.push({
        offset,
        timestamp,
        key: keyStart < 0 ? null : plain(buffer.subarray(keyStart, keyEnd)),
        value: valueStart < 0 ? null : plain(buffer.subarray(valueStart, valueEnd)),
        headers: headersOf(slot).map((h) => [plain(Buffer.from(h.key)), h.value === null ? null : plain(h.value)]),
      });
    }
  } while (await reader.more());
  return { records, nextOffset: reader.nextOffset, cutBytes: reader.cutBytes };
}

export function plain(bytes: Uint8Array): string {
  if (bytes.length > 1000) return `sha256 ${createHash('sha256').update(bytes).digest('hex')}`;
  return Buffer.from(bytes).toString('hex');
}

export interface RecordToWrite {
  readonly timestamp: number;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: readonly HeaderToWrite[];
}

export async function batchOf(
  records: readonly RecordToWrite[],
  o: { readonly codec?: Codec; readonly baseOffset?: number; readonly producer?: BatchProducer } = {},
): Promise<Buffer> {
  const writer = new BatchWriter({ codec: o.codec ?? 'none' });
  for (const r of records) writer.append(r.timestamp, r.key, r.value, r.headers);
  return atOffset(await writer.finish(o.producer ?? NO_PRODUCER), o.baseOffset ?? 0);
}

/** As the broker does it; the CRC is not over it. */
export function atOffset(batch: Buffer, offset: number): Buffer {
  batch.writeBigInt64BE(BigInt(offset), 0);
  return batch;
}

export function plainOf(r: RecordToWrite, offset: number): PlainRecord {
  return {
    offset,
    timestamp: r.timestamp,
    key: r.key === null ? null : plain(r.key),
    value: r.value === null ? null : plain(r.value),
    headers: r.headers.map((h) => [plain(Buffer.from(h.key)), h.value === null ? null : plain(h.value)]),
  };
}

export function text(value: string, timestamp = 1_700_000_000_123): RecordToWrite {
  return { timestamp, key: null, value: Buffer.from(value), headers: [] };
}

/** What follows one another in a log or a fetch. */
export function batchesIn(bytes: Buffer): readonly Buffer[] {
  const batches: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = batchSizeAt(bytes, at) ?? 0;
    batches.push(bytes.subarray(at, at + size));
    at += size;
  }
  return batches;
}

const FIXTURES = join(import.meta.dirname, '../../../../plugins/kafka/test/fixtures');

export function fixturePath(name: string): string {
  return join(FIXTURES, name);
}

export function fixture(name: string): Buffer {
  return readFileSync(fixturePath(name));
}

/** What Java's consumer read. */
export interface JavaReport {
  readonly committed: readonly PlainRecord[];
  readonly all: readonly PlainRecord[];
  readonly end: number;
}

export function javaReport(json: string): JavaReport {
  return JSON.parse(json) as JavaReport;
}
