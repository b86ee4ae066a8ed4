/** Rows become records. */
import type { RejectedRow, RowBatch, Section } from 'syncx/plugin-api';
import type { CsvDialect } from 'syncx/plugin-kit';
import type { HeaderToWrite } from '../../wire/batch-writer.js';

/** One record, used again for the next one; its buffers hold until then. Null: an end before its start. */
export interface RecordToWrite {
  key: Uint8Array | null;
  value: Uint8Array;
  valueStart: number;
  valueEnd: number;
  /** ms since 1970. */
  timestamp: number;
  headers: readonly HeaderToWrite[] | null;
  /** True: a record of the same key without a value comes behind it. */
  tombstone: boolean;
}

export interface RecordOptions {
  /** Null: all data columns. */
  readonly columns: readonly string[] | null;
  /** Empty: records have no key. */
  readonly keyColumns: readonly string[];
  /** Of codecs of changes: whether a record without a value comes behind each delete. */
  readonly tombstones: boolean;
  /** All records go to one partition, so that they keep their order without keys. */
  readonly onePartition: boolean;
  /** Of codec csv. */
  readonly csv: CsvDialect & { readonly quote: number };
}

export const NONE = Buffer.alloc(0);

export const newRecord = (): RecordToWrite => ({
  key: null,
  value: NONE,
  valueStart: 0,
  valueEnd: -1,
  timestamp: 0,
  headers: null,
  tombstone: false,
});

/** Makes of a record the one that comes behind it. False: none does. */
export function becomeTombstone(r: RecordToWrite): boolean {
  if (!r.tombstone) return false;
  r.tombstone = false;
  r.valueEnd = r.valueStart - 1;
  return true;
}

/** Makes the records of rows of one schema. */
export interface RowRecords {
  /** False: the row gives no record: it was rejected, or is the old image of one that changed and kept its key. */
  record(batch: RowBatch, section: Section, row: number, to: RecordToWrite, reject: (r: RejectedRow) => void): boolean;
}
