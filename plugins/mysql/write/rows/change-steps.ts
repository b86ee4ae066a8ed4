/** In which order the rows of a section with operations become statements. */
import { OP_DELETE, OP_INSERT, OP_UPDATE_AFTER, OP_UPDATE_BEFORE, SyncError } from 'syncx/plugin-api';
import type { Binding, RowKey } from './bind-columns.js';
import { cellOf, endOf, isAbsent, isNull, startOf, type Piece } from './row-forms.js';

/** `put`: the row as it is now, over one with its key. `patchBy…`: some of its columns, found by the key of that row. */
export const PUT = 0;
export const DELETE = 1;
export const PATCH_BY_BEFORE = 2;
export const PATCH_BY_ITSELF = 3;

/** Steps in order; runs of the same kind may share a statement. */
export interface Steps {
  readonly kinds: Uint8Array;
  /** Of the section. */
  readonly rows: Uint32Array;
  readonly count: number;
}

/** True: every operation of the section is an insert. */
export function onlyInserts({ batch, section }: Piece): boolean {
  const { ops } = batch;
  if (ops === null) return true;
  for (let r = 0; r < section.rows; r++) if (ops[section.firstRow + r] !== OP_INSERT) return false;
  return true;
}

function isPartial(binding: Binding, piece: Piece, row: number): boolean {
  for (const c of binding.columns) if (isAbsent(piece, cellOf(binding, piece, row, c))) return true;
  return false;
}

function sameCell(piece: Piece, a: number, b: number): boolean {
  if (isNull(piece, a) || isNull(piece, b)) return isNull(piece, a) && isNull(piece, b);
  return piece.data.compare(piece.data, startOf(piece, b), endOf(piece, b), startOf(piece, a), endOf(piece, a)) === 0;
}

/** A key cell that one of the images lacks did not change. */
function sameKey(binding: Binding, key: RowKey, piece: Piece, before: number, after: number): boolean {
  return key.columns.every((c) => {
    const a = cellOf(binding, piece, before, c);
    const b = cellOf(binding, piece, after, c);
    return isAbsent(piece, a) || isAbsent(piece, b) || sameCell(piece, a, b);
  });
}

const hasKey = (binding: Binding, key: RowKey, piece: Piece, row: number): boolean =>
  key.columns.every((c) => !isAbsent(piece, cellOf(binding, piece, row, c)));

/** @param key Of the target; null: only inserts can be written. @throws SyncError where there is none and a row needs it. */
export function changeSteps(piece: Piece, binding: Binding, key: RowKey | null, table: string): Steps {
  const { batch, section } = piece;
  const kinds = new Uint8Array(section.rows * 2);
  const rows = new Uint32Array(section.rows * 2);
  let count = 0;
  const step = (kind: number, row: number): void => {
    kinds[count] = kind;
    rows[count++] = row;
  };
  for (let r = 0; r < section.rows; r++) {
    const op = batch.ops?.[section.firstRow + r] ?? OP_INSERT;
    if (op === OP_INSERT) {
      step(PUT, r);
      continue;
    }
    if (key === null) throw noKey(table);
    if (op === OP_DELETE) {
      step(DELETE, r);
      continue;
    }
    if (op === OP_UPDATE_AFTER) {
      step(isPartial(binding, piece, r) ? PATCH_BY_ITSELF : PUT, r);
      continue;
    }
    const after = ++r;
    const next = batch.ops?.[section.firstRow + after];
    if (op !== OP_UPDATE_BEFORE || after >= section.rows || next !== OP_UPDATE_AFTER) {
      throw new SyncError('PLUGIN_BROKEN', 'an update-before is not followed by its update-after', { place: table });
    }
    if (isPartial(binding, piece, after)) {
      step(hasKey(binding, key, piece, after - 1) ? PATCH_BY_BEFORE : PATCH_BY_ITSELF, after);
    } else {
      if (!key.unique || !sameKey(binding, key, piece, after - 1, after)) step(DELETE, after - 1);
      step(PUT, after);
    }
  }
  return { kinds, rows, count };
}

function noKey(table: string): SyncError {
  return new SyncError(
    'COLUMN_MISMATCH',
    `the rows of ${table} have no key, so changed and deleted rows cannot be found in it`,
    {
      place: table,
      hint: 'Give the table a primary key, or name the columns of a key in `uniqueKey`; the writer must write all of them.',
    },
  );
}
