import { ABSENT_FLAG, END_MASK, NULL_FLAG, type BatchBuilder } from '../../plugin-api/index.js';
import { notOfType } from '../../cells/cell-fault.js';
import { AS_IS } from '../../cells/cell-form.js';
import type { FieldPlan, OutputCell } from './field-plan.js';
import type { OtherCell } from './meta-column.js';

/** Why a row is dirty. */
export interface RowFault {
  readonly column: string | null;
  readonly reason: string;
}

function wrongType(cell: OutputCell, data: Buffer, start: number, end: number): RowFault {
  const hint = start === end ? '; an empty field is no NULL unless nullFormat is empty' : '';
  return { column: cell.name, reason: notOfType(cell.type, data, start, end) + hint };
}

/** Puts other bytes in the place of cell `at`; the cells from `at` to the last one of the batch move. */
function replaceCell(sink: BatchBuilder, at: number, start: number, end: number, bytes: Uint8Array): void {
  const grown = bytes.length - (end - start);
  if (grown > 0) sink.reserve(grown, 0);
  sink.data.copyWithin(end + grown, end, sink.length);
  sink.data.set(bytes, start);
  sink.length += grown;
  // Flags are the high bits, which a move by some bytes leaves alone.
  for (let c = at; c < sink.cells; c++) sink.ends[c] = (sink.ends[c] ?? 0) + grown;
}

/** The road of rows whose cells are checked, converted, reordered or constant: one call a row. */
export class RowAssembly {
  readonly #plan: FieldPlan;

  constructor(plan: FieldPlan) {
    this.#plan = plan;
  }

  /**
   * Brings the last row of `sink` to its canonical form, in its place; its cells begin at cell `first` and byte `from`.
   * The sink's `data` may be another one afterwards.
   */
  settle(sink: BatchBuilder, first: number, from: number): RowFault | null {
    let start = from;
    let { data, ends } = sink;
    const cells = this.#plan.cells;
    for (let c = 0; c < cells.length; c++) {
      const e = ends[first + c] ?? 0;
      let end = e & END_MASK;
      const cell = cells[c];
      if (cell?.form && (e & NULL_FLAG) === 0 && !cell.form.scan(data, start, end)) {
        const bytes = cell.form.mend(data, start, end);
        if (bytes === null) return wrongType(cell, data, start, end);
        if (bytes !== AS_IS) {
          replaceCell(sink, first + c, start, end, bytes);
          ({ data, ends } = sink);
          end = start + bytes.length;
        }
      }
      start = end;
    }
    return null;
  }

  /** Puts a row together from kept fields that stand in `data` from its start on, and others. */
  append(data: Buffer, ends: Uint32Array, builder: BatchBuilder, other: OtherCell): RowFault | null {
    const { cells } = this.#plan;
    for (let c = 0; c < cells.length; c++) {
      const cell = cells[c];
      if (cell === undefined) continue;
      if (cell.kept < 0) {
        other(builder, c);
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
      if (cell.form === null) {
        builder.appendBytes(data, start, end);
        continue;
      }
      // A scan may mend letter case in place, which another cell of the field must not see.
      const own = cell.shared ? Buffer.from(data.subarray(start, end)) : data;
      const from = cell.shared ? 0 : start;
      const to = from + end - start;
      const bytes = cell.form.scan(own, from, to) ? AS_IS : cell.form.mend(own, from, to);
      if (bytes === null) {
        builder.dropRow();
        return wrongType(cell, own, from, to);
      }
      if (bytes === AS_IS) builder.appendBytes(own, from, to);
      else builder.appendBytes(bytes);
    }
    builder.endRow();
    return null;
  }
}
