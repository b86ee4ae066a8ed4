import {
  SyncError,
  cellKind,
  formatType,
  internSchema,
  type ColumnInit,
  type RowSchema,
} from '../../plugin-api/index.js';
import { cellForm, mended, type CellForm } from './cell-form.js';
import type { ColumnSpec } from './column-spec.js';
import { datePattern } from './date-pattern.js';
import type { FileHead } from './record-decoder.js';

export interface OutputCell {
  /** Which of the kept fields it is; -1: a constant. */
  readonly kept: number;
  readonly constant: Uint8Array;
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

/** Index of each wanted column among the fields; -1: a constant. */
function fieldIndexes(columns: readonly ColumnSpec[], head: FileHead, place: string): number[] {
  return columns.map((c, i) => {
    if (c.value !== null) return -1;
    if (c.index !== null) return c.index;
    if (head.names === null) return i;
    const at = head.names.indexOf(c.name ?? '');
    if (at >= 0) return at;
    throw new SyncError('COLUMN_MISMATCH', `${place} has no column \`${c.name ?? String(i)}\``, {
      place,
      hint: `Its header names ${head.names.map((n) => `\`${n}\``).join(', ')}.`,
    });
  });
}

/** Names that `*` means: the header's, else f0, f1, … */
export function starNames(head: FileHead): readonly string[] {
  return head.names ?? Array.from({ length: head.width }, (_, i) => `f${String(i)}`);
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
  return names.map((name) => ({ name, index: null, type: { is: 'string' }, value: null, format: null }));
}

/**
 * @param columns null: all.
 * @param agreed what `*` means in this job; null: what this file's head says.
 * @throws SyncError COLUMN_MISMATCH
 */
export function fieldPlan(
  columns: readonly ColumnSpec[] | null,
  head: FileHead,
  agreed: readonly string[] | null,
  place: string,
): FieldPlan {
  const specs = columns ?? starSpecs(head, agreed, place);
  const at = fieldIndexes(specs, head, place);
  const byIndex = specs.some((c) => c.index !== null);
  const fields = at.filter((i) => i >= 0);
  const most = Math.max(0, ...fields.map((i) => i + 1));
  const width = head.names !== null ? head.names.length : most;
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
  const converts = specs.map((c) => (c.value === null ? convertOf(c) : null));
  const cells = specs.map((c, i): OutputCell => ({
    kept: order.indexOf(at[i] ?? -1),
    constant: Buffer.from(c.value ?? ''),
    form: c.value === null ? (converts[i] ?? cellForm(c.type)) : null,
    name: c.name ?? `f${String(at[i])}`,
    type: formatType(c.type),
  }));
  return {
    schema: internSchema(specs.map((c, i): ColumnInit => ({ name: cells[i]?.name ?? '', type: c.type }))),
    width,
    exact: head.names !== null || !byIndex,
    keep,
    keptCount: order.length,
    cells,
    direct: cells.length === order.length && cells.every((c, i) => c.kept === i && converts[i] === null),
    checked: cells.some((c) => c.form !== null),
  };
}
