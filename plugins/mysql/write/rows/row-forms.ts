/** What a row becomes: a tuple of an INSERT, a condition of a DELETE, an UPDATE of its own, a line of LOAD DATA. */
import { ABSENT_FLAG, END_MASK, NULL_FLAG, type RowBatch, type Section } from 'syncx/plugin-api';
import { quoteName, quoteTable, type TableName } from '../../sql/names.js';
import type { Binding, BoundColumn } from './bind-columns.js';
import { CELL_ROOM, REFUSED, type CellWriter } from './cell-bytes.js';

/** Rows of one section, with their bytes at hand. */
export interface Piece {
  readonly batch: RowBatch;
  readonly section: Section;
  readonly data: Buffer;
  readonly ends: Uint32Array;
}

export function pieceOf(batch: RowBatch, section: Section): Piece {
  const data = Buffer.from(batch.data.buffer, batch.data.byteOffset, batch.data.byteLength);
  return { batch, section, data, ends: batch.ends };
}

export interface RowForm {
  /** For messages: `insert into shop.orders`. */
  readonly doing: string;
  /** SQL before the first row, between rows and behind the last one. */
  readonly head: Buffer;
  readonly separator: Buffer;
  readonly tail: Buffer;
  /** In place of `tail`, where the statement has one row. */
  readonly loneTail?: Buffer;
  /** Rows of a statement, at most. */
  readonly most: number;
  /** Bytes of the cells that it writes of the row, at most; exact where they are many. */
  cells(piece: Piece, row: number): number;
  /** Bytes that it may write beside twice those of the cells. */
  readonly extra: number;
  /** Writes the row. @returns the offset behind it, or {@link REFUSED}: {@link refusalOf} says why. */
  append(piece: Piece, row: number, out: Buffer, at: number): number;
  readonly binding: Binding;
  /** The statement must find a row of the target. */
  readonly found?: boolean;
  /** Rows whose key is there already stay as they are, and are no bad rows. */
  readonly keepsOld?: boolean;
}

const SET = NULL_FLAG | ABSENT_FLAG;
const OPEN = 40;
const CLOSE = 41;
const COMMA = 44;
const NULL_WORD = Buffer.from('NULL');
const DEFAULT_WORD = Buffer.from('DEFAULT');
const TAB = 9;
const NEWLINE = 10;
const BACKSLASH = 92;
const CAPITAL_N = 78;

export const cellOf = (binding: Binding, { section }: Piece, row: number, column: BoundColumn): number =>
  section.firstCell + row * binding.width + column.source;

export function isAbsent({ ends }: Piece, cell: number): boolean {
  return ((ends[cell] ?? 0) & ABSENT_FLAG) !== 0;
}

export function isNull({ ends }: Piece, cell: number): boolean {
  return ((ends[cell] ?? 0) & NULL_FLAG) !== 0;
}

export function startOf({ ends }: Piece, cell: number): number {
  return cell === 0 ? 0 : (ends[cell - 1] ?? 0) & END_MASK;
}

export function endOf({ ends }: Piece, cell: number): number {
  return (ends[cell] ?? 0) & END_MASK;
}

/** From here on cells that are not written are told from those that are. */
const MANY_BYTES = 1 << 20;

export function rowBytes(binding: Binding, piece: Piece, row: number): number {
  const first = piece.section.firstCell + row * binding.width;
  const all = endOf(piece, first + binding.width - 1) - startOf(piece, first);
  return all < MANY_BYTES ? all : bytesOf(binding, binding.columns, piece, row);
}

export function bytesOf(binding: Binding, columns: readonly BoundColumn[], piece: Piece, row: number): number {
  let bytes = 0;
  for (const c of columns) {
    const cell = cellOf(binding, piece, row, c);
    bytes += endOf(piece, cell) - startOf(piece, cell);
  }
  return bytes;
}

/** Hot loops read arrays, not objects. */
function split(columns: readonly BoundColumn[], writer: 'literal' | 'field') {
  return {
    sources: Uint32Array.from(columns, (c) => c.source),
    writers: columns.map((c): CellWriter => c.codec[writer]),
    nulls: columns.map((c) => c.codec.nulls),
  };
}

export interface InsertSql {
  readonly verb: string;
  readonly tail: string;
  readonly most: number;
}

/** `insert into t (a,b) values (…),(…)`, REPLACE and INSERT … ON DUPLICATE KEY UPDATE too. */
export function insertForm(binding: Binding, table: TableName, sql: InsertSql): RowForm {
  const { sources, writers, nulls } = split(binding.columns, 'literal');
  const count = sources.length;
  const { width } = binding;
  const names = binding.columns.map((c) => quoteName(c.target.name)).join(',');
  return {
    doing: `${sql.verb} ${quoteTable(table)}`,
    head: Buffer.from(`${sql.verb} ${quoteTable(table)} (${names}) values `),
    separator: Buffer.from(','),
    tail: Buffer.from(sql.tail),
    most: sql.most,
    binding,
    cells: (piece, row) => rowBytes(binding, piece, row),
    extra: count * CELL_ROOM + 64,
    append: (piece, row, out, at) => {
      const { data, ends } = piece;
      const base = piece.section.firstCell + row * width;
      out[at++] = OPEN;
      for (let c = 0; c < count; c++) {
        if (c > 0) out[at++] = COMMA;
        const cell = base + (sources[c] ?? 0);
        const end = ends[cell] ?? 0;
        if ((end & SET) === 0) {
          const start = cell === 0 ? 0 : (ends[cell - 1] ?? 0) & END_MASK;
          const next = writers[c]?.(data, start, end, out, at) ?? REFUSED;
          if (next === REFUSED) return REFUSED;
          at = next;
        } else if ((end & NULL_FLAG) !== 0) {
          if (nulls[c] !== true) return REFUSED;
          at += NULL_WORD.copy(out, at);
        } else {
          at += DEFAULT_WORD.copy(out, at);
        }
      }
      out[at++] = CLOSE;
      return at;
    },
  };
}

/** Lines of LOAD DATA LOCAL. Rows with ABSENT cells have no such line: they are refused, and INSERT takes them. */
export function loadForm(binding: Binding, table: TableName, most: number): RowForm {
  const { sources, writers, nulls } = split(binding.columns, 'field');
  const count = sources.length;
  const { width } = binding;
  const fields = binding.columns.map((c, i) =>
    c.codec.fieldValue === null ? quoteName(c.target.name) : `@f${String(i)}`,
  );
  const values = binding.columns.flatMap((c, i) =>
    c.codec.fieldValue === null ? [] : [`${quoteName(c.target.name)}=${c.codec.fieldValue(`@f${String(i)}`)}`],
  );
  const sql =
    `load data local infile 'rows' into table ${quoteTable(table)} character set utf8mb4 ` +
    `fields terminated by '\\t' escaped by '\\\\' lines terminated by '\\n' (${fields.join(',')})` +
    (values.length === 0 ? '' : ` set ${values.join(',')}`);
  return {
    doing: `load rows into ${quoteTable(table)}`,
    head: Buffer.from(sql),
    separator: Buffer.alloc(0),
    tail: Buffer.alloc(0),
    most,
    binding,
    cells: (piece, row) => rowBytes(binding, piece, row),
    extra: count * CELL_ROOM + 64,
    append: (piece, row, out, at) => {
      const { data, ends } = piece;
      const base = piece.section.firstCell + row * width;
      for (let c = 0; c < count; c++) {
        if (c > 0) out[at++] = TAB;
        const cell = base + (sources[c] ?? 0);
        const end = ends[cell] ?? 0;
        if ((end & SET) === 0) {
          const start = cell === 0 ? 0 : (ends[cell - 1] ?? 0) & END_MASK;
          const next = writers[c]?.(data, start, end, out, at) ?? REFUSED;
          if (next === REFUSED) return REFUSED;
          at = next;
        } else {
          if ((end & NULL_FLAG) === 0 || nulls[c] !== true) return REFUSED;
          out[at++] = BACKSLASH;
          out[at++] = CAPITAL_N;
        }
      }
      out[at++] = NEWLINE;
      return at;
    },
  };
}
