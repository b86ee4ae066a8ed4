/** Values as SQL literals that compare with a column by the column's own rules. */
import { cellKind, type LogicalType } from 'syncx/plugin-api';
import { quoteText } from './names.js';

/** A key value as JSON: canonical text, or hex for bytes; null for NULL. */
export type KeyValue = string | null;

/**
 * For comparisons with a column of this type. Numbers stand bare, bytes as 0x…, the rest quoted: the server then compares
 * texts by the column's collation, and dates as dates.
 */
export function keyLiteral(type: LogicalType, value: string): string {
  const kind = cellKind(type);
  if (kind === 'integer' || kind === 'decimal') return value;
  if (type.is === 'year') return String(Number(value));
  if (kind === 'bytes') return value === '' ? "''" : `0x${value}`;
  return quoteText(value);
}
