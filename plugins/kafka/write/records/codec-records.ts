import type { RowSchema } from 'syncx/plugin-api';
import { JsonRecords } from './json-records.js';
import { RawRecords } from './raw-records.js';
import type { RecordOptions, RowRecords } from './row-records.js';
import { TextRecords } from './text-records.js';

export type WriteCodec = 'json' | 'text' | 'raw';

/** @throws SyncError COLUMN_MISMATCH */
export function codecRecords(codec: WriteCodec, schema: RowSchema, o: RecordOptions): RowRecords {
  if (codec === 'json') return new JsonRecords(schema, o);
  return codec === 'raw' ? new RawRecords(schema, o) : new TextRecords(schema, o);
}
