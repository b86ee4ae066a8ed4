import {
  SyncError,
  cellKind,
  formatType,
  internSchema,
  type ColumnInit,
  type RowSchema,
} from '../../plugin-api/index.js';
import { cellForm, mended, type CellForm } from '../../cells/cell-form.js';
import { unnamed, type ColumnSpec, type WantedColumn } from './column-spec.js';
import { datePattern } from '../../cells/date-pattern.js';
import { constantOf, fromRecord } from './meta-column.js';
import type { DecoderOptions, FileHead } from './record-decoder.js';

export interface OutputCell {
  /** Which of the kept fields it is; -1: none, but a constant or the line number. */
  readonly kept: number;
  /** The cell of every row, `null` for NULL, or the line number. */
  readonly constant: Uint8Array | 'null' | 'line';
  /** True: another cell is made of the same field, which must stay as it is. */
  readonly shared: boolean;
  /** Null: every text is a cell as it stands. */
  readonly form: CellForm | null;
  readonly name: string;
  /** The type as messages show it. */
  readonly type: string;
}

/** How the fields of a file's records become the cells of its rows. */
export interface FieldPlan {
  readonly schema: RowSchema;
  /** Fields that a record must have. */
  readonly width: number;
  /** False: more than `width` are fine, as columns are picked by index. */
  readonly exact: boolean;
  /** A 1 for every field that is needed. */
  readonly keep: Uint8Array;
  readonly keptCount: number;
  readonly cells: readonly OutputCell[];
  /** True: cells are the kept fields in their order, mostly as they stand. Otherwise rows are put together cell by cell. */
  readonly direct: boolean;
  /** True: some cells are checked against their type and brought to its form. */
  readonly checked: boolean;
}

/** How a column's text becomes its cell, where it never stands as it is; null: it mostly does. */
export function convertOf(c: ColumnSpec): CellForm | null {
  if (cellKind(c.type) === 'bytes') {
    return mended((d, start, end) => {
      const text = d.toString('latin1', start, end);
      const bytes = Buffer.from(text, 'base64');
      return bytes.toString('base64') === text ? bytes : null;
    });
  }
  return c.format === null ? null : mended(datePattern(c.format, c.type));
}

/**
 * Index of each wanted column among the fields; -1: it is in none. Without a header names go by position, where meta
 * columns do not count: they stand for no field.
 */
function fieldIndexes(columns: readonly ColumnSpec[], head: FileHead, place: string): number[] {
  let position = 0;
  return columns.map((c, i) => {
    const at = c.meta === null ? position++ : -1;
    if (!fromRecord(c)) return -1;
    if (c.index !== null) return c.index;
    if (head.names === null) return at;
    const named = head.names.indexOf(c.name ?? '');
    if (named >= 0) return named;
    throw new SyncError('COLUMN_MISMATCH', `${place} has no column \`${c.name ?? String(i)}\``, {
      place,
      hint: `Its header names ${head.names.map((n) => `\`${n}\``).join(', ')}.`,
    });
  });
}

/** Whether columns are those that a file has, alone or among others. */
export const hasStar = (columns: readonly WantedColumn[] | null): boolean => columns?.includes('*') ?? true;

/** Names that `*` means: the header's, else f0, f1, … */
export function starNames(head: FileHead): readonly string[] {
  return head.names ?? Array.from({ length: head.width }, (_, i) => unnamed(i));
}

function starSpecs(head: FileHead, agreed: readonly string[] | null, place: string): readonly ColumnSpec[] {
  const own = starNames(head);
  const names = agreed ?? own;
  const extra = head.names?.find((n) => !names.includes(n));
  if (extra !== undefined) {
    throw new SyncError('COLUMN_MISMATCH', `${place} has a column \`${extra}\` that the first file does not have`, {
      place,
      hint: 'Name the wanted columns in `column`, or read the files in jobs of their own.',
    });
  }
  // Without a header their places are their own, whatever stands beside them.
  return names.map((name, i): ColumnSpec => {
    const index = head.names === null ? i : null;
    return { name, index, type: { is: 'string' }, value: null, format: null, meta: null };
  });
}

/** A constant may have the name of a column that only the file knows of. */
function checkNames(names: readonly string[], place: string): void {
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return;
  throw new SyncError(
    'COLUMN_MISMATCH',
    `${place} has a column \`${twice}\`, and one of that name stands beside \`*\``,
    {
      place,
      hint: 'Give the column beside `*` another name, or name the wanted columns in place of `*`.',
    },
  );
}

/**
 * @param columns null: all.
 * @throws SyncError COLUMN_MISMATCH
 */
export function fieldPlan(columns: readonly WantedColumn[] | null, head: FileHead, options: DecoderOptions): FieldPlan {
  const { place } = options;
  const all = hasStar(columns) ? starSpecs(head, options.columns, place) : null;
  const specs = (columns ?? ['*' as const]).flatMap((c) => (c === '*' ? (all ?? []) : [c]));
  const at = fieldIndexes(specs, head, place);
  const byIndex = all === null && specs.some((c) => c.index !== null);
  const fields = at.filter((i) => i >= 0);
  const most = Math.max(0, ...fields.map((i) => i + 1));
  // A file without records has no columns that anything could be missing from.
  const width = head.names?.length ?? (all === null || all.length === 0 ? most : all.length);
  if (most > width) {
    throw new SyncError(
      'COLUMN_MISMATCH',
      `${place} has ${String(width)} columns; index ${String(most - 1)} is not there`,
      {
        place,
        hint: 'Indexes count from 0.',
      },
    );
  }
  const keep = new Uint8Array(Math.max(width, 1));
  for (const i of fields) keep[i] = 1;
  const order = [...keep.keys()].filter((i) => keep[i] === 1);
  const converts = specs.map((c) => (fromRecord(c) ? convertOf(c) : null));
  const cells = specs.map((c, i): OutputCell => ({
    kept: order.indexOf(at[i] ?? -1),
    shared: (at[i] ?? -1) >= 0 && at.indexOf(at[i] ?? -1) !== at.lastIndexOf(at[i] ?? -1),
    constant: constantOf(c, options.file ?? null) ?? 'null',
    form: fromRecord(c) ? (converts[i] ?? cellForm(c.type)) : null,
    name: c.name ?? unnamed(c.index ?? at[i] ?? -1),
    type: formatType(c.type),
  }));
  if (all !== null)
    checkNames(
      cells.map((c) => c.name),
      place,
    );
  return {
    schema: internSchema(
      specs.map((c, i): ColumnInit => ({
        name: cells[i]?.name ?? '',
        type: c.type,
        role: c.meta === null ? 'data' : 'meta',
      })),
    ),
    width,
    exact: head.names !== null || (!byIndex && fields.length > 0),
    keep,
    keptCount: order.length,
    cells,
    direct: cells.length === order.length && cells.every((c, i) => c.kept === i && converts[i] === null),
    checked: cells.some((c) => c.form !== null),
  };
}
