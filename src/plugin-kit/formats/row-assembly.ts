import { ABSENT_FLAG, END_MASK, NULL_FLAG, type BatchBuilder } from '../../plugin-api/index.js';
import type { FieldPlan, OutputCell } from './field-plan.js';

/** Why a row is dirty. */
export interface RowFault {
  readonly column: string | null;
  readonly reason: string;
}

/** Longest piece of a cell that a message quotes, in bytes. */
const SHOWN = 60;

function wrongType(cell: OutputCell, data: Buffer, start: number, end: number): RowFault {
  const text = data.toString('utf8', start, Math.min(end, start + SHOWN)) + (end - start > SHOWN ? '…' : '');
  const hint = start === end ? '; an empty field is no NULL unless nullFormat is empty' : '';
  return { column: cell.name, reason: `\`${text}\` is not a valid ${cell.type}${hint}` };
}

/** The road of rows whose cells are checked, converted, reordered or constant: one call a row. */
export class RowAssembly {
  readonly #plan: FieldPlan;

  constructor(plan: FieldPlan) {
    this.#plan = plan;
  }

  /** Checks a row whose cells, from `first` on and from byte `from` on, already stand in the batch. */
  check(data: Buffer, ends: Uint32Array, first: number, from: number): RowFault | null {
    let start = from;
    const cells = this.#plan.cells;
    for (let c = 0; c < cells.length; c++) {
      const e = ends[first + c] ?? 0;
      const end = e & END_MASK;
      const cell = cells[c];
      if (cell?.check && (e & NULL_FLAG) === 0 && !cell.check(data, start, end))
        return wrongType(cell, data, start, end);
      start = end;
    }
    return null;
  }

  /** Puts a row together from kept fields that stand in `data` from its start on. */
  append(data: Buffer, ends: Uint32Array, builder: BatchBuilder): RowFault | null {
    for (const cell of this.#plan.cells) {
      if (cell.kept < 0) {
        builder.appendBytes(cell.constant);
        continue;
      }
      const e = ends[cell.kept] ?? 0;
      const start = cell.kept === 0 ? 0 : (ends[cell.kept - 1] ?? 0) & END_MASK;
      const end = e & END_MASK;
      if ((e & (NULL_FLAG | ABSENT_FLAG)) !== 0) {
        if ((e & NULL_FLAG) !== 0) builder.appendNull();
        else builder.appendAbsent();
        continue;
      }
      const bytes = cell.convert ? cell.convert(data, start, end) : null;
      if (cell.convert ? bytes === null : cell.check !== null && !cell.check(data, start, end)) {
        builder.dropRow();
        return wrongType(cell, data, start, end);
      }
      if (bytes) builder.appendBytes(bytes);
      else builder.appendBytes(data, start, end);
    }
    builder.endRow();
    return null;
  }
}
