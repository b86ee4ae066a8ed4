import { isSpec, type ColumnSpec, type WantedColumn } from 'syncx/plugin-kit';
import type { TopicPartition } from '../../client/kafka-client.js';
import { CanalChanges } from './canal-changes.js';
import { ChangeRows, type ChangeOptions } from './change-rows.js';
import { DebeziumChanges } from './debezium-changes.js';
import { JsonRows } from './json-rows.js';
import { MaxwellChanges } from './maxwell-changes.js';
import { RawRows } from './raw-rows.js';
import type { Place } from './record-cells.js';
import type { RecordRows } from './record-rows.js';
import { TimeCell } from './time-cell.js';
import { TextRows } from './text-rows.js';

export type Codec = 'json' | 'text' | 'raw' | ChangeCodec;

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

/** @param columns null: `*`. */
export function codecRows(
  codec: Codec,
  columns: readonly WantedColumn[] | null,
  { topic, partition }: TopicPartition,
  changes: ChangeSettings,
): RecordRows {
  const place: Place = { topic, partition: String(partition), time: new TimeCell() };
  if (isChangeCodec(codec)) return new ChangeRows(CHANGES[codec](), place, { columns, ...changes });
  if (codec === 'raw') return new RawRows(place);
  if (codec === 'json') return new JsonRows(columns, place);
  return new TextRows(
    (columns ?? ['*']).map((c) => (isSpec(c) ? c : MESSAGE)),
    place,
  );
}
