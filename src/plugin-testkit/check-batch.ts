import {
  END_MASK,
  NULL_FLAG,
  ABSENT_FLAG,
  OP_UPDATE_AFTER,
  OP_UPDATE_BEFORE,
  RowView,
  type RowBatch,
} from '../plugin-api/index.js';
import { cellProblem } from './canonical.js';

/** Everything that is wrong with a batch by itself; empty: nothing. */
export function batchProblems(b: RowBatch): string[] {
  const out = [...layoutProblems(b), ...opProblems(b)];
  if (out.length > 0) return out; // cells of a torn layout say nothing
  return cellProblems(b);
}

function layoutProblems(b: RowBatch): string[] {
  const out: string[] = [];
  let row = 0;
  let cell = 0;
  for (const s of b.sections) {
    if (s.firstRow !== row || s.firstCell !== cell) out.push(`a section does not follow the one before it`);
    if (s.rows <= 0) out.push('a section is empty');
    row += s.rows;
    cell += s.rows * s.schema.columns.length;
  }
  if (row !== b.rows) out.push(`sections hold ${String(row)} rows, the batch says ${String(b.rows)}`);
  if (cell !== b.ends.length) out.push(`${String(b.ends.length)} cells, the sections ask for ${String(cell)}`);
  let at = 0;
  b.ends.forEach((e, i) => {
    const end = e & END_MASK;
    if (end < at) out.push(`cell ${String(i)} ends before it starts`);
    if ((e & (NULL_FLAG | ABSENT_FLAG)) !== 0 && end !== at)
      out.push(`cell ${String(i)} is NULL or ABSENT and not empty`);
    if ((e & NULL_FLAG) !== 0 && (e & ABSENT_FLAG) !== 0) out.push(`cell ${String(i)} is both NULL and ABSENT`);
    at = end;
  });
  if (at !== b.data.length) out.push(`cells end at byte ${String(at)}, data has ${String(b.data.length)}`);
  if (!(b.sourceBytes >= 0)) out.push('sourceBytes is not a number from 0');
  if (b.eventTimes && b.eventTimes.length !== b.rows) out.push('eventTimes is not one a row');
  if (b.rows === 0 && b.position === null && b.rejected === null)
    out.push('the batch says nothing: no rows, no position');
  for (const r of b.rejected ?? []) {
    if (r.reason.trim() === '' || r.row === null) out.push('a rejected row has no reason or no content');
  }
  return out;
}

function opProblems(b: RowBatch): string[] {
  if (!b.ops) return [];
  if (b.ops.length !== b.rows) return ['ops is not one a row'];
  const out: string[] = [];
  b.ops.forEach((op, i) => {
    if (op > 3) out.push(`row ${String(i)} has the unknown op ${String(op)}`);
    const before = i > 0 ? b.ops?.[i - 1] : undefined;
    if ((op === OP_UPDATE_AFTER) !== (before === OP_UPDATE_BEFORE)) out.push(`row ${String(i)} tears an update apart`);
  });
  if (b.ops.at(-1) === OP_UPDATE_BEFORE) out.push('the batch ends between an update-before and its update-after');
  return out;
}

function cellProblems(b: RowBatch): string[] {
  const out: string[] = [];
  for (const s of b.sections) {
    const view = new RowView(b, s);
    for (let r = 0; r < s.rows; r++) {
      view.at(r);
      s.schema.columns.forEach((c, i) => {
        if (view.isAbsent(i)) return;
        if (view.isNull(i)) {
          if (!c.nullable) out.push(`${c.name} is NULL and not nullable`);
          return;
        }
        const problem = cellProblem(c.type, view.bytes(i));
        if (problem !== null) out.push(`${c.name} (${c.type.is}) ${problem}`);
      });
    }
  }
  return out.slice(0, 10);
}
