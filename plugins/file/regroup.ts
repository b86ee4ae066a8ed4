import { ABSENT_FLAG, END_MASK, NULL_FLAG, type RowBatch, type Section } from 'syncx/plugin-api';

export interface Group {
  readonly batch: RowBatch;
  readonly section: Section;
  /** Its number in what was asked for. */
  readonly number: number;
}

/**
 * The rows of a section by group, in their order; `of`: the group of each row, -1: left out. Encoders like long runs of
 * rows, so they are copied together once.
 */
export function regroup(batch: RowBatch, section: Section, of: Int32Array, groups: number): readonly Group[] {
  const width = section.schema.columns.length;
  const { ends } = batch;
  const bytes = new Uint32Array(groups);
  const rows = new Uint32Array(groups);
  const startOf = (row: number): number => {
    const cell = section.firstCell + row * width;
    return cell === 0 ? 0 : (ends[cell - 1] ?? 0) & END_MASK;
  };
  for (let row = 0; row < section.rows; row++) {
    const g = of[row] ?? -1;
    if (g < 0) continue;
    bytes[g] = (bytes[g] ?? 0) + startOf(row + 1) - startOf(row);
    rows[g] = (rows[g] ?? 0) + 1;
  }
  const out = Array.from({ length: groups }, (_, number) => ({
    number,
    data: new Uint8Array(bytes[number] ?? 0),
    ends: new Uint32Array((rows[number] ?? 0) * width),
    at: 0,
    cell: 0,
  }));
  for (let row = 0; row < section.rows; row++) {
    const o = out[of[row] ?? -1];
    if (o === undefined) continue;
    const from = startOf(row);
    o.data.set(batch.data.subarray(from, startOf(row + 1)), o.at);
    const base = section.firstCell + row * width;
    for (let c = 0; c < width; c++) {
      const e = ends[base + c] ?? 0;
      o.ends[o.cell++] = (((e & END_MASK) - from + o.at) | (e & (NULL_FLAG | ABSENT_FLAG))) >>> 0;
    }
    o.at += startOf(row + 1) - from;
  }
  return out.map((o): Group => {
    const own: Section = { schema: section.schema, firstRow: 0, firstCell: 0, rows: rows[o.number] ?? 0 };
    const { data, ends: cells } = o;
    return {
      number: o.number,
      section: own,
      batch: { ...batch, sections: [own], rows: own.rows, data, ends: cells, ops: null, eventTimes: null },
    };
  });
}
