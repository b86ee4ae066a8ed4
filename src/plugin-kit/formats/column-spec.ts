import { parseType, type LogicalType } from '../../plugin-api/index.js';
import { canonicalCell } from '../../cells/cell-form.js';
import { META_TYPES, type MetaKind } from './meta-column.js';

/** A column as a job asks for it, of any row format. */
export interface ColumnSpec {
  readonly name: string | null;
  /** Position of the field in the record, from 0. */
  readonly index: number | null;
  readonly type: LogicalType;
  /** A constant: the canonical cell of every row. */
  readonly value: string | null;
  /** Pattern of dates and times in the source (`dd.MM.yyyy HH:mm`). */
  readonly format: string | null;
  /** Says something of the file or the record, in place of a field of it. Null: it is no meta column. */
  readonly meta: MetaKind | null;
}

/** An entry of the option `column` of a reader. */
export type ColumnOption =
  | string
  | {
      readonly name?: string | undefined;
      readonly index?: number | undefined;
      readonly type?: string | undefined;
      readonly value?: string | null | undefined;
      readonly format?: string | undefined;
      readonly meta?: MetaKind | undefined;
    };

/** `*`: all columns of the file, or the line as it stands, at this place. */
export type WantedColumn = ColumnSpec | '*';

/** The name of a field that has none, by its place. */
export const unnamed = (index: number): string => `f${String(index)}`;

/** False where columns depend on what a file holds. */
export const isSpec = (c: WantedColumn): c is ColumnSpec => c !== '*';

/** Null for `["*"]` and for no entries: all columns. The types must be known, and the constants of them (the plugin's `check` sees to that). */
export function columnSpecs(entries: readonly ColumnOption[]): readonly WantedColumn[] | null {
  if (entries.length === 0 || (entries.length === 1 && entries[0] === '*')) return null;
  return entries.map((e): WantedColumn => {
    if (e === '*') return e;
    if (typeof e === 'string') {
      return { name: e, index: null, type: { is: 'string' }, value: null, format: null, meta: null };
    }
    const meta = e.meta ?? null;
    const type = meta !== null ? META_TYPES[meta] : (parseType(e.type ?? 'string') ?? { is: 'string' });
    const value = e.value ?? null;
    return {
      name: e.name ?? null,
      index: e.index ?? null,
      type,
      value: value === null ? null : (canonicalCell(type, value) ?? value),
      format: e.format ?? null,
      meta,
    };
  });
}
