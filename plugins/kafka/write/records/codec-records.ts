import type { RowSchema } from 'syncx/plugin-api';
import { csvOutput } from 'syncx/plugin-kit';
import { CanalMessage } from './canal-message.js';
import { ChangeRecords } from './change-records.js';
import { DebeziumMessage } from './debezium-message.js';
import { EncodedRecords } from './encoded-records.js';
import { HeadedRecords, NO_HEADERS, type HeaderOptions } from './headed-records.js';
import { RawRecords } from './raw-records.js';
import { JSON_FORMAT } from './row-key.js';
import type { RecordOptions, RowRecords } from './row-records.js';
import { TextRecords } from './text-records.js';

export type WriteCodec = 'json' | 'text' | 'raw' | 'csv' | 'canal-json' | 'debezium-json';

/** @throws SyncError COLUMN_MISMATCH */
export function codecRecords(
  codec: WriteCodec,
  schema: RowSchema,
  o: RecordOptions,
  headers: HeaderOptions = NO_HEADERS,
): RowRecords {
  if (headers.always.length === 0 && headers.column === null) return plainRecords(codec, schema, o);
  const value = headers.column === null ? o : { ...o, columns: columnsBeside(headers.column, codec, schema, o) };
  return new HeadedRecords(plainRecords(codec, schema, value), schema, headers);
}

/** Those of the value. Of codec text the key is none of them, unless the job says so. */
function columnsBeside(
  header: string,
  codec: WriteCodec,
  schema: RowSchema,
  o: RecordOptions,
): readonly string[] | null {
  if (codec === 'raw') return null;
  const key = codec === 'text' ? o.keyColumns : [];
  const data = schema.columns.flatMap(({ name, role }) => (role === 'data' && !key.includes(name) ? [name] : []));
  return (o.columns ?? data).filter((c) => c !== header);
}

function plainRecords(codec: WriteCodec, schema: RowSchema, o: RecordOptions): RowRecords {
  switch (codec) {
    case 'json':
      return new EncodedRecords(schema, o, JSON_FORMAT);
    case 'csv':
      return new EncodedRecords(schema, o, csvOutput({ dialect: o.csv, header: false }));
    case 'raw':
      return new RawRecords(schema, o);
    case 'text':
      return new TextRecords(schema, o);
    case 'canal-json':
      return new ChangeRecords(schema, o, new CanalMessage(schema, o.columns));
    case 'debezium-json':
      return new ChangeRecords(schema, o, new DebeziumMessage(schema, o.columns));
  }
}
