import { isSpec, type ColumnSpec, type WantedColumn } from 'syncx/plugin-kit';
import { JsonRows } from './json-rows.js';
import { RawRows } from './raw-rows.js';
import type { Place } from './record-cells.js';
import type { RecordRows } from './record-rows.js';
import { TextRows } from './text-rows.js';

export type Codec = 'json' | 'text' | 'raw';

const MESSAGE: ColumnSpec = {
  name: 'message',
  index: null,
  type: { is: 'string' },
  value: null,
  format: null,
  meta: null,
};

/** @param columns null: `*`. */
export function codecRows(
  codec: Codec,
  columns: readonly WantedColumn[] | null,
  topic: string,
  partition: number,
): RecordRows {
  const place: Place = { topic, partition: String(partition) };
  if (codec === 'raw') return new RawRows(place);
  if (codec === 'json') return new JsonRows(columns, place);
  return new TextRows(
    (columns ?? ['*']).map((c) => (isSpec(c) ? c : MESSAGE)),
    place,
  );
}
