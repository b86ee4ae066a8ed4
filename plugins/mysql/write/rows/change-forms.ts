/** Statements for changed rows: they find the target's row by its key. */
import { quoteName, quoteTable, type TableName } from '../../sql/names.js';
import type { Binding, BoundColumn, RowKey } from './bind-columns.js';
import { CELL_ROOM, REFUSED } from './cell-bytes.js';
import { bytesOf, cellOf, endOf, isAbsent, isNull, rowBytes, startOf, type Piece, type RowForm } from './row-forms.js';

/** A server that must weigh more conditions than these against each other may give up and read the whole table. */
const MOST_CONDITIONS = 500;

const COMMA = Buffer.from(',');
const OR = Buffer.from(' or ');
const AND = Buffer.from(' and ');
const NULL_WORD = Buffer.from('NULL');

/** A name in backquotes and a comparison. */
const NAME_ROOM = 300;

function appendKeyCell(binding: Binding, piece: Piece, row: number, c: BoundColumn, out: Buffer, at: number): number {
  const cell = cellOf(binding, piece, row, c);
  if (isAbsent(piece, cell)) return REFUSED;
  if (isNull(piece, cell)) return at + NULL_WORD.copy(out, at);
  return c.codec.key(piece.data, startOf(piece, cell), endOf(piece, cell), out, at);
}

/** `a=1 and b<=>null`: with `<=>` where there may be NULLs, which equal each other there. */
function conditionWriter(binding: Binding, key: RowKey) {
  const names = key.columns.map((c) => Buffer.from(`${quoteName(c.target.name)}${c.target.nullable ? '<=>' : '='}`));
  return (piece: Piece, row: number, out: Buffer, at: number): number => {
    for (const [i, c] of key.columns.entries()) {
      if (i > 0) at += AND.copy(out, at);
      at += names[i]?.copy(out, at) ?? 0;
      at = appendKeyCell(binding, piece, row, c, out, at);
      if (at === REFUSED) return REFUSED;
    }
    return at;
  };
}

/** Rows that are not there are none to delete: a replayed delete finds nothing. */
export function deleteForm(binding: Binding, key: RowKey, table: TableName, most: number): RowForm {
  const [first] = key.columns;
  const shared = {
    doing: `delete from ${quoteTable(table)}`,
    binding,
    most: Math.min(most, MOST_CONDITIONS),
    cells: (piece: Piece, row: number): number => bytesOf(binding, key.columns, piece, row),
    extra: key.columns.length * (CELL_ROOM + NAME_ROOM) + 64,
  };
  if (first !== undefined && key.columns.length === 1 && !first.target.nullable) {
    return {
      ...shared,
      head: Buffer.from(`delete from ${quoteTable(table)} where ${quoteName(first.target.name)} in (`),
      separator: COMMA,
      tail: Buffer.from(')'),
      append: (piece, row, out, at) => appendKeyCell(binding, piece, row, first, out, at),
    };
  }
  const condition = conditionWriter(binding, key);
  return {
    ...shared,
    head: Buffer.from(`delete from ${quoteTable(table)} where (`),
    separator: Buffer.from(`)${OR.toString()}(`),
    tail: Buffer.from(')'),
    append: condition,
  };
}

/**
 * One row, some columns: `update t set b=2 where a=1`. The row is the after-image; its before-image, which has the key, is
 * the row in front of it where there is one.
 */
export function updateForm(binding: Binding, key: RowKey, table: TableName, keyRow: (row: number) => number): RowForm {
  const condition = conditionWriter(binding, key);
  const names = binding.columns.map((c) => Buffer.from(`${quoteName(c.target.name)}=`));
  const where = Buffer.from(' where ');
  return {
    doing: `update ${quoteTable(table)}`,
    head: Buffer.from(`update ${quoteTable(table)} set `),
    separator: COMMA,
    tail: Buffer.alloc(0),
    most: 1,
    found: true,
    binding,
    cells: (piece, row) => rowBytes(binding, piece, row) + bytesOf(binding, key.columns, piece, keyRow(row)),
    extra: (binding.columns.length + key.columns.length) * (CELL_ROOM + NAME_ROOM) + 64,
    append: (piece, row, out, at) => {
      let some = false;
      for (const [i, c] of binding.columns.entries()) {
        const cell = cellOf(binding, piece, row, c);
        if (isAbsent(piece, cell)) continue;
        if (some) at += COMMA.copy(out, at);
        some = true;
        at += names[i]?.copy(out, at) ?? 0;
        if (isNull(piece, cell)) {
          if (!c.codec.nulls) return REFUSED;
          at += NULL_WORD.copy(out, at);
          continue;
        }
        at = c.codec.literal(piece.data, startOf(piece, cell), endOf(piece, cell), out, at);
        if (at === REFUSED) return REFUSED;
      }
      at += where.copy(out, at);
      return condition(piece, keyRow(row), out, at);
    },
  };
}
