import type { RowSchema } from 'syncx/plugin-api';
import { CanalMessage } from './canal-message.js';
import { ChangeRecords } from './change-records.js';
import { DebeziumMessage } from './debezium-message.js';
import { JsonRecords } from './json-records.js';
import { RawRecords } from './raw-records.js';
import type { RecordOptions, RowRecords } from './row-records.js';
import { TextRecords } from './text-records.js';

export type WriteCodec = 'json' | 'text' | 'raw' | 'canal-json' | 'debezium-json';

/** @throws SyncError COLUMN_MISMATCH */
export function codecRecords(codec: WriteCodec, schema: RowSchema, o: RecordOptions): RowRecords {
  if (codec === 'canal-json') return new ChangeRecords(schema, o, new CanalMessage(schema, o.columns));
  if (codec === 'debezium-json') return new ChangeRecords(schema, o, new DebeziumMessage(schema, o.columns));
  if (codec === 'json') return new JsonRecords(schema, o);
  return codec === 'raw' ? new RawRecords(schema, o) : new TextRecords(schema, o);
}
