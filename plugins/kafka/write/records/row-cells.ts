/** Cells of rows, and what is told of rows that are no records. */
import { RowView, SyncError, type RejectedRow, type RowBatch, type RowSchema, type Section } from 'syncx/plugin-api';
import { showRow } from 'syncx/plugin-kit';
import type { RecordToWrite } from './row-records.js';

export function mismatch(message: string, hint: string): SyncError {
  return new SyncError('COLUMN_MISMATCH', message, { place: 'writer.parameter.column', blame: 'config', hint });
}

export function indexOf(schema: RowSchema, name: string): number {
  const at = schema.columns.findIndex((c) => c.name === name);
  if (at >= 0) return at;
  const names = schema.columns.map((c) => `\`${c.name}\``).join(', ');
  throw mismatch(`the reader has no column \`${name}\``, `It delivers ${names}.`);
}

/** Cells of rows that come one after another: one view serves a section. */
export class Cells {
  #view: RowView | null = null;
  #section: Section | null = null;

  /** At the row. */
  view(batch: RowBatch, section: Section, row: number): RowView {
    let view = this.#view;
    if (view?.batch !== batch || this.#section !== section) {
      view = this.#view = new RowView(batch, section);
      this.#section = section;
    }
    return view.at(row);
  }

  /** Null: NULL, or not sent. */
  of(batch: RowBatch, section: Section, row: number, column: number): Uint8Array | null {
    const view = this.view(batch, section, row);
    return isThere(view, column) ? view.bytes(column) : null;
  }
}

/** False: NULL, or not sent. */
export const isThere = (view: RowView, column: number): boolean => !view.isNull(column) && !view.isAbsent(column);

/** The cell is the value. */
export function putCell(to: RecordToWrite, view: RowView, column: number): void {
  to.value = view.data;
  to.valueStart = view.start(column);
  to.valueEnd = isThere(view, column) ? view.end(column) : to.valueStart - 1;
}

export function refused(
  batch: RowBatch,
  section: Section,
  row: number,
  column: string | null,
  reason: string,
): RejectedRow {
  return { row: showRow(batch, section, row), column, code: 'ROW_INVALID', reason, place: null };
}
