import {
  cellKind,
  OP_DELETE,
  OP_INSERT,
  OP_UPDATE_AFTER,
  OP_UPDATE_BEFORE,
  RowView,
  type JsonValue,
  type RowBatch,
  type SimpleValue,
} from 'syncx/plugin-api';

/** A cell in the store: text, bytes as base64 in a list, null. A cell that is absent has no entry. */
type StoredCell = string | readonly [string] | null;

export interface StoredRow {
  readonly table: string | null;
  readonly op: 'insert' | 'before' | 'after' | 'delete';
  readonly cells: Readonly<Record<string, StoredCell>>;
}

const OPS = {
  [OP_INSERT]: 'insert',
  [OP_UPDATE_BEFORE]: 'before',
  [OP_UPDATE_AFTER]: 'after',
  [OP_DELETE]: 'delete',
} as const;

/** The rows of a batch in order. One object a row: this is a test double, not a fast path. */
export function* storedRows(batch: RowBatch): Generator<StoredRow> {
  for (const section of batch.sections) {
    const view = new RowView(batch, section);
    const { columns, table } = section.schema;
    for (let r = 0; r < section.rows; r++) {
      view.at(r);
      const cells: [string, StoredCell][] = [];
      columns.forEach((c, i) => {
        if (view.isAbsent(i)) return;
        if (view.isNull(i)) cells.push([c.name, null]);
        else if (cellKind(c.type) !== 'bytes') cells.push([c.name, view.text(i)]);
        else cells.push([c.name, [Buffer.from(view.bytes(i)).toString('base64')]]);
      });
      const op = batch.ops?.[section.firstRow + r] ?? OP_INSERT;
      yield { table, op: OPS[op as keyof typeof OPS], cells: Object.fromEntries(cells) };
    }
  }
}

export function rejectedJson(row: StoredRow): JsonValue {
  return row.cells;
}

export function simpleRow(row: StoredRow): Record<string, SimpleValue> {
  return Object.fromEntries(
    Object.entries(row.cells).map(([name, v]): [string, SimpleValue] => [
      name,
      typeof v === 'string' || v === null ? v : Uint8Array.from(Buffer.from(v[0], 'base64')),
    ]),
  );
}
