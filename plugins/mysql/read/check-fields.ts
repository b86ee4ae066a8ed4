/**
 * What the server says that a result's columns are, against what the run was planned with. Cells are taken at their column's
 * word (a number is not looked at again), so a table that was altered between two splits must not be read on.
 */
import { SyncError, type LogicalType } from 'syncx/plugin-api';
import type { FieldPacket } from '../connect/raw-connection.js';
import type { ReadColumn, ReadShape } from './read-shape.js';

/** Of MySQL's protocol documentation, Column Type. */
const KINDS: Readonly<Record<number, string>> = {
  0: 'decimal',
  1: 'integer',
  2: 'integer',
  3: 'integer',
  4: 'float',
  5: 'float',
  7: 'timestamp',
  8: 'integer',
  9: 'integer',
  10: 'date',
  11: 'time',
  12: 'datetime',
  13: 'year',
  14: 'date',
  16: 'bit',
  246: 'decimal',
};
const BINARY_CHARSET = 63;
const UNSIGNED = 32;

function expectedKind(c: ReadColumn): string {
  const { is } = c.type;
  switch (is) {
    case 'float32':
    case 'float64':
      return 'float';
    case 'decimal':
    case 'date':
    case 'time':
    case 'datetime':
    case 'timestamp':
      return is;
    case 'bit':
      return 'integer';
    case 'year':
      return /^year\(2\)/i.test(c.rawType ?? '') ? 'integer' : 'year';
    case 'binary':
    case 'geometry':
      return 'bytes';
    case 'string':
    case 'json':
    case 'enum':
    case 'set':
    case 'boolean':
      return 'text';
    default:
      return 'integer';
  }
}

function kindOf(f: FieldPacket, expected: string): string {
  const kind = KINDS[f.columnType];
  if (kind !== undefined) return kind;
  // Texts may be selected as bytes (text-select.ts); bytes never as texts.
  return expected === 'bytes' && f.characterSet === BINARY_CHARSET ? 'bytes' : 'text';
}

/** Digits behind the point that the type has room for; null: they do not count. */
const roomOf = (t: LogicalType): number | null => (t.is === 'decimal' ? t.scale : 'fraction' in t ? t.fraction : null);

/** What the lane saw first of each. */
const seen = new WeakMap<ReadShape, readonly string[]>();

const signature = (f: FieldPacket): string =>
  [f.columnType, f.flags & UNSIGNED, f.decimals, f.characterSet, f.columnLength].join(' ');

/** @throws SyncError SOURCE_CHANGED naming the column. */
export function checkFields(shape: ReadShape, fields: readonly FieldPacket[]): void {
  // A query's types were made out of its own result, and a single split reads it.
  if (shape.table === null) return;
  const columns = [...shape.columns.filter((c) => c.constant === null), ...shape.hidden];
  const before = seen.get(shape);
  const now = fields.map(signature);
  columns.forEach((c, i) => {
    const field = fields[i];
    if (field === undefined) return;
    const expected = expectedKind(c);
    const room = roomOf(c.type);
    const fits = kindOf(field, expected) === expected && (room === null || field.decimals <= room);
    if (fits && (before === undefined || before[i] === now[i])) return;
    throw new SyncError(
      'SOURCE_CHANGED',
      `the column \`${c.name}\` of ${shape.name} was ${c.rawType ?? ''} when the run began, and has been altered`,
      { place: shape.name, hint: 'Undo the change to go on with the run, or start a new one with --fresh.' },
    );
  });
  if (before === undefined) seen.set(shape, now);
}
