/** Why a row was refused before anything was sent, and rows as dirty rows. */
import type { RejectedRow } from 'syncx/plugin-api';
import { showBytes, showRow } from 'syncx/plugin-kit';
import { CELL_ROOM, REFUSED } from './cell-bytes.js';
import { cellOf, endOf, isAbsent, isNull, startOf, type Piece, type RowForm } from './row-forms.js';

export interface Refusal {
  /** The target's. */
  readonly column: string | null;
  readonly reason: string;
}

const SHOWN = 100;

function shown(bytes: Buffer): string {
  const cut = bytes.subarray(0, SHOWN);
  const show = showBytes(cut);
  const text = typeof show === 'string' ? `'${show}'` : `0x${cut.toString('hex')}`;
  return bytes.length > SHOWN ? `${text}… (${String(bytes.length)} bytes)` : text;
}

/** Asks each column again. */
export function refusalOf(form: RowForm, piece: Piece, row: number): Refusal {
  const { binding } = form;
  for (const c of binding.columns) {
    const cell = cellOf(binding, piece, row, c);
    if (isAbsent(piece, cell)) continue;
    const column = c.target.name;
    if (isNull(piece, cell)) {
      if (c.codec.nulls) continue;
      const own = c.target.autoIncrement ? 'the next number' : 'the time of writing';
      const how = c.target.autoIncrement ? '; leave the column out to have the rows numbered' : '';
      return { column, reason: `\`${column}\` cannot be NULL: the server would store ${own} in its place${how}` };
    }
    const [start, end] = [startOf(piece, cell), endOf(piece, cell)];
    const scratch = Buffer.allocUnsafe((end - start) * 2 + CELL_ROOM);
    if (c.codec.literal(piece.data, start, end, scratch, 0) !== REFUSED) continue;
    const value = shown(piece.data.subarray(start, end));
    return { column, reason: `\`${column}\` cannot hold ${value} unchanged: it is ${c.codec.holds}` };
  }
  const key = binding.key?.columns.map((c) => `\`${c.target.name}\``).join(', ') ?? '';
  return { column: null, reason: `the row has no value that its key (${key}) could have` };
}

export function rejectedRow(piece: Piece, row: number, { column, reason }: Refusal): RejectedRow {
  return { row: showRow(piece.batch, piece.section, row), column, code: 'ROW_INVALID', reason, place: null };
}
