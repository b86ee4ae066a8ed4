import { isSpec, type ColumnSpec, type CsvDialect, type WantedColumn } from 'syncx/plugin-kit';
import type { TopicPartition } from '../../client/kafka-client.js';
import { CanalChanges } from './canal-changes.js';
import { ChangeRows, type ChangeOptions } from './change-rows.js';
import { CsvRows } from './csv-rows.js';
import { DebeziumChanges } from './debezium-changes.js';
import { JsonRows } from './json-rows.js';
import { MaxwellChanges } from './maxwell-changes.js';
import { RawRows } from './raw-rows.js';
import type { Place } from './record-cells.js';
import type { NullValues, RecordRows } from './record-rows.js';
import { TextRows } from './text-rows.js';
import { TimeCell } from './time-cell.js';
import { ValuedRows } from './valued-rows.js';

export type Codec = 'json' | 'text' | 'raw' | 'csv' | 'avro' | ChangeCodec;

const CHANGES = {
  'canal-json': () => new CanalChanges(),
  'debezium-json': () => new DebeziumChanges(),
  'maxwell-json': () => new MaxwellChanges(),
} as const;
export type ChangeCodec = keyof typeof CHANGES;
export const isChangeCodec = (codec: string): codec is ChangeCodec => Object.hasOwn(CHANGES, codec);

const MESSAGE: ColumnSpec = {
  name: 'message',
  index: null,
  type: { is: 'string' },
  value: null,
  format: null,
  meta: null,
};

/** What codecs that tell of changes need to know beside the columns. */
export type ChangeSettings = Pick<ChangeOptions, 'included' | 'note'>;

export interface RowsOptions {
  readonly codec: Codec;
  /** Null: `*`. */
  readonly columns: readonly WantedColumn[] | null;
  readonly csv: CsvDialect;
  readonly changes: ChangeSettings;
  /** Null: it is not loaded, as the codec is another one. */
  readonly avro: ((place: Place, nulls: NullValues) => RecordRows) | null;
}

export function codecRows(o: RowsOptions, { topic, partition }: TopicPartition, nulls: NullValues): RecordRows {
  const { codec, columns } = o;
  const place: Place = { topic, partition: String(partition), time: new TimeCell() };
  if (isChangeCodec(codec)) return new ChangeRows(CHANGES[codec](), place, { columns, ...o.changes });
  if (o.avro !== null) return o.avro(place, nulls);
  if (codec === 'raw') {
    const rows = new RawRows(place);
    return nulls.are === 'row' ? rows : new ValuedRows(rows, place, nulls);
  }
  if (codec === 'json') return new JsonRows(columns, place, nulls);
  const specs = (columns ?? ['*']).map((c) => (isSpec(c) ? c : MESSAGE));
  return codec === 'csv' ? new CsvRows(o.csv, specs, place, nulls) : new TextRows(specs, place, nulls);
}
