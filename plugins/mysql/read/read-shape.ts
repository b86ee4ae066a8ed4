/** A shape as the lane reads it: with types, SELECT expressions, and where in a row the order key stands. */
import { parseType, type LogicalType } from 'syncx/plugin-api';
import { typeOf, type CellFix } from '../catalog/columns.js';
import { quoteName, showTable } from '../sql/names.js';
import { operandOf } from './plan/expressions.js';
import { isConstant, isOwn, type ConstantColumn, type Shape, type ShapeColumn } from './split-spec.js';
import { textSelect } from './text-select.js';

export interface ReadColumn {
  readonly name: string;
  readonly rawType: string | null;
  readonly type: LogicalType;
  readonly nullable: boolean;
  readonly fix: CellFix;
  /** Empty for a constant. */
  readonly select: string;
  readonly constant: string | null;
}

export interface KeyPlace {
  readonly type: LogicalType;
  /** Whether it is read for the position only. */
  readonly hidden: boolean;
  /** Index into the shape's columns, or into its hidden ones. */
  readonly at: number;
}

export interface ReadShape {
  readonly connection: number;
  /** For messages: `shop.orders`, or the query's beginning. */
  readonly name: string;
  /** For the schema of rows; null for queries. */
  readonly table: string | null;
  readonly from: string;
  readonly columns: readonly ReadColumn[];
  readonly hidden: readonly ReadColumn[];
  readonly key: readonly KeyPlace[];
  /** SQL names of the order key. */
  readonly orderBy: readonly string[];
  readonly primaryKey: readonly string[];
  readonly constantBytes: number;
}

function readColumn(c: ShapeColumn): ReadColumn {
  const facts = c.json ? { type: { is: 'json' } as const } : typeOf(c.rawType);
  const reference = c.expression === undefined ? quoteName(c.name) : operandOf(c.expression);
  return {
    name: c.name,
    rawType: c.rawType,
    type: facts?.type ?? { is: 'string' },
    nullable: c.nullable,
    fix: facts?.fix ?? 'plain',
    select: facts?.select?.(reference) ?? textSelect(c.charset ?? null, reference),
    constant: null,
  };
}

function constantColumn(c: ConstantColumn): ReadColumn {
  const type = parseType(c.type) ?? { is: 'string' };
  return { name: c.name, rawType: null, type, nullable: false, fix: 'plain', select: '', constant: c.constant };
}

/** Of columns: the server's rule. The job may spell them otherwise than the table. */
export const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Whether SQL has the name of a column of the key. */
const hides = (shape: Shape): boolean =>
  shape.columns.some((c) => !isOwn(c) && shape.primaryKey.some((k) => sameName(k, c.name)));

/** A derived table's name, as in the original, whose users know it from their slow-query logs. */
const DERIVED = 'chunjun_tmp';
const SHOWN_QUERY = 60;

export function readShape(shape: Shape): ReadShape {
  const columns = shape.columns.map((c) => (isConstant(c) ? constantColumn(c) : readColumn(c)));
  const hidden: ReadColumn[] = [];
  const key = shape.orderKey.map((k): KeyPlace => {
    const at = shape.columns.findIndex((c) => isOwn(c) && sameName(c.name, k.name));
    const column = readColumn(k);
    if (at >= 0) return { type: column.type, hidden: false, at };
    hidden.push(column);
    return { type: column.type, hidden: true, at: hidden.length - 1 };
  });
  const table =
    shape.database !== null && shape.table !== null ? { database: shape.database, table: shape.table } : null;
  const query = shape.query?.replace(/\s+/g, ' ').trim().slice(0, SHOWN_QUERY) ?? '';
  return {
    connection: shape.connection,
    name: table === null ? `(${query}…)` : showTable(table),
    table: table === null ? null : showTable(table),
    from:
      table === null ? `(${shape.query ?? ''}) ${DERIVED}` : `${quoteName(table.database)}.${quoteName(table.table)}`,
    columns,
    hidden,
    key,
    orderBy: shape.orderKey.map((k) => quoteName(k.name)),
    primaryKey: hides(shape) ? [] : shape.primaryKey,
    constantBytes: columns.reduce((n, c) => n + Buffer.byteLength(c.constant ?? ''), 0),
  };
}
