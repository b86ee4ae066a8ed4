/** How large tables and ranges are, by the server's own estimates: nothing is counted. */
import { cellKind } from 'syncx/plugin-api';
import type { TableFacts } from '../../catalog/tables.js';
import type { Session } from '../../connect/session.js';
import { typeOf } from '../../catalog/columns.js';
import { explain } from '../../sql/explain.js';
import { isConstant, type Shape, type ShapeColumn } from '../split-spec.js';
import { keyType } from './key-predicate.js';

export interface Size {
  readonly rows: number;
  readonly rowBytes: number;
}

const ROW_OVERHEAD = 20;

/** Of a row whose table's statistics are of no help: fresh ones may say a page for a thousand rows. */
function leastBytes(columns: readonly ShapeColumn[]): number {
  return columns.reduce((n, c) => n + (cellKind(keyType(c)) === 'integer' ? 4 : 8), ROW_OVERHEAD);
}

/** Rows that the server expects to look at; null: it does not say. */
export async function explainRows(session: Session, sql: string): Promise<number | null> {
  let product: number | null = null;
  for (const { rows, extra } of await explain(session, sql, 'ask for an estimate')) {
    const n = rows !== null && /^\d+$/.test(rows) ? Number(rows) : /impossible|no matching/i.test(extra) ? 0 : null;
    if (n !== null) product = (product ?? 1) * n;
  }
  return product;
}

export async function sizeOf(session: Session, facts: TableFacts | null, shape: Shape, sql: string): Promise<Size> {
  const columns = shape.columns.filter((c): c is ShapeColumn => !isConstant(c));
  const rows = (await explainRows(session, sql)) ?? facts?.rows ?? 0;
  const known = facts?.rows ?? 0;
  const average = known > 0 ? (facts?.bytes ?? 0) / known : 0;
  return { rows, rowBytes: Math.ceil(Math.max(average, leastBytes(columns))) };
}

const MIB = 1 << 20;
const PARTS_PER_LANE = 8;
/** Each stands in checkpoints until it is handed out. */
const MOST_PARTS = 10_000;

/** Bytes of a split: so large that lanes have several each, within 1 MiB and `splitSize`. */
export function targetBytes(bytes: number, lanes: number, splitSize: number): number {
  const shared = bytes / (lanes * PARTS_PER_LANE);
  return Math.max(Math.min(splitSize, Math.max(MIB, shared)), bytes / MOST_PARTS, 1);
}

/** An expression for the column's value as a key (sql/literals.ts). */
export function keySelect(c: ShapeColumn, reference: string): string {
  if (cellKind(keyType(c)) === 'bytes') return `lower(hex(${reference}))`;
  return c.json ? reference : (typeOf(c.rawType)?.select?.(reference) ?? reference);
}
