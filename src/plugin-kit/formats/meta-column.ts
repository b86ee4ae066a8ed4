import { basename } from 'node:path';
import type { BatchBuilder, LogicalType } from '../../plugin-api/index.js';
import type { ColumnSpec } from './column-spec.js';
import type { FileFacts } from './record-decoder.js';

/** What a column can say of the file that its row comes from. */
export type FileMeta = 'file' | 'path' | 'line' | 'mtime' | 'size';
/** What a column can say of the record of a topic that its row comes from. */
export type RecordMeta = 'topic' | 'partition' | 'offset' | 'timestamp' | 'key' | 'headers' | ChangeMeta;
/** Of the table whose change a record tells. */
export type ChangeMeta = 'database' | 'table';
export type MetaKind = FileMeta | RecordMeta;

export const META_TYPES: Readonly<Record<MetaKind, LogicalType>> = {
  file: { is: 'string' },
  path: { is: 'string' },
  /** The line where the record begins, from 1. */
  line: { is: 'int64' },
  mtime: { is: 'timestamp', fraction: 6 },
  size: { is: 'int64' },
  topic: { is: 'string' },
  partition: { is: 'int32' },
  offset: { is: 'int64' },
  timestamp: { is: 'timestamp', fraction: 3 },
  key: { is: 'string' },
  headers: { is: 'json' },
  database: { is: 'string' },
  table: { is: 'string' },
};

const FILE_META: ReadonlySet<MetaKind> = new Set<FileMeta>(['file', 'path', 'line', 'mtime', 'size']);
const isFileMeta = (kind: MetaKind): kind is FileMeta => FILE_META.has(kind);

/** Appends the cell of a column that is not in the record: a constant, or what is known of where the record comes from. */
export type OtherCell = (builder: BatchBuilder, column: number) => void;

/** True: the cell is in the record; else it is a constant or a meta column. */
export const fromRecord = (c: ColumnSpec): boolean => c.value === null && c.meta === null;

/** `2024-03-31 01:30:00.123456`, in UTC; what is smaller than a microsecond is cut off. */
function timestampText(ns: bigint): string {
  const micros = ns / 1000n - (ns % 1000n < 0n ? 1n : 0n);
  const fraction = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const date = new Date(Number((micros - fraction) / 1000n));
  return `${date.toISOString().slice(0, 19).replace('T', ' ')}.${fraction.toString().padStart(6, '0')}`;
}

function metaText(kind: Exclude<FileMeta, 'line'>, file: FileFacts): string {
  if (kind === 'file') return basename(file.path);
  if (kind === 'path') return file.path;
  return kind === 'size' ? String(file.size) : timestampText(file.mtimeNs);
}

/**
 * The cell that all rows of a file have in the column; `null`: NULL, as the source is no file; `line`: each its own.
 * Null: the cell is in the record.
 */
export function constantOf(c: ColumnSpec, file: FileFacts | null): Buffer | 'null' | 'line' | null {
  if (c.meta === 'line') return 'line';
  if (c.meta !== null) return file === null || !isFileMeta(c.meta) ? 'null' : Buffer.from(metaText(c.meta, file));
  return c.value === null ? null : Buffer.from(c.value);
}
