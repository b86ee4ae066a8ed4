/** Rows on their way into one statement: its bytes, and the rows that they came from, so that these can be sent otherwise. */
import { PACKET_HEADER, STATEMENT_HEAD } from '../../connect/raw-connection.js';
import { REFUSED } from './cell-bytes.js';
import { endOf, pieceOf, startOf, type Piece, type RowForm } from './row-forms.js';

export interface RowRef {
  readonly piece: Piece;
  readonly row: number;
}

interface Part {
  piece: Piece;
  rows: number[];
  /** A copy of ours. */
  own: boolean;
}

/**
 * `full`: the row would make it too long, and is not in it. `huge`: so would the row alone. A lone row that turns out to be
 * too long only when it is written is taken: {@link PendingStatement.bytes} tells.
 */
export type Appended = 'taken' | 'refused' | 'full' | 'huge';

/** Statements of one row are many, where they are. */
const FIRST_ROOM = 16 << 10;

export class PendingStatement {
  readonly form: RowForm;
  rows = 0;
  #buffer: Buffer;
  #length: number;
  readonly #parts: Part[] = [];
  #part: Part | null = null;
  readonly #target: number;
  readonly #limit: number;
  /** Bytes of the buffer, but for a long row. */
  readonly #most: number;

  /**
   * @param target Bytes from which on it is full.
   * @param limit Bytes that it must not have, but for a lone row.
   * @param file The bytes are a file, and the form's head is not in it.
   */
  constructor(form: RowForm, target: number, limit: number, file: boolean) {
    this.form = form;
    this.#target = target;
    this.#limit = limit;
    this.#most = target + (target >> 4) + 4096;
    this.#buffer = Buffer.allocUnsafeSlow(Math.min(this.#most, FIRST_ROOM));
    this.#length = file ? PACKET_HEADER : STATEMENT_HEAD;
    if (file) return;
    this.#reserve(form.head.length);
    this.#length += form.head.copy(this.#buffer, this.#length);
  }

  get full(): boolean {
    return this.rows >= this.form.most || this.#length >= this.#target;
  }

  /** Of the statement as it would be sent, its header aside. */
  get bytes(): number {
    return this.#length + this.form.tail.length;
  }

  append(piece: Piece, row: number): Appended {
    const { form } = this;
    const cells = form.cells(piece, row);
    if (cells > this.#limit) return 'huge';
    this.#reserve(cells * 2 + form.extra + form.tail.length + 16);
    const before = this.#length;
    let at = before;
    if (this.rows > 0) at += form.separator.copy(this.#buffer, at);
    at = form.append(piece, row, this.#buffer, at);
    if (at === REFUSED) return 'refused';
    if (this.rows > 0 && at + form.tail.length > this.#limit) return 'full';
    this.#length = at;
    this.rows++;
    if (this.#part?.piece !== piece) this.#parts.push((this.#part = { piece, rows: [], own: false }));
    this.#part.rows.push(row);
    return 'taken';
  }

  /** The bytes to be sent; nothing can be appended afterwards. */
  finish(): Buffer {
    const tail = this.rows === 1 ? (this.form.loneTail ?? this.form.tail) : this.form.tail;
    this.#reserve(tail.length);
    this.#length += tail.copy(this.#buffer, this.#length);
    const bytes = this.#buffer.subarray(0, this.#length);
    // The transaction keeps it: not with twice its room.
    return this.#length * 4 < this.#buffer.length * 3 ? Buffer.from(bytes) : bytes;
  }

  refs(): readonly RowRef[] {
    return this.#parts.flatMap(({ piece, rows }) => rows.map((row): RowRef => ({ piece, row })));
  }

  /** Copies the rows that are in it: the batches that they came from go back to their owner. */
  keep(): void {
    for (const part of this.#parts) {
      if (part.own) continue;
      const first = part.rows[0] ?? 0;
      part.piece = copyRows(part.piece, first, part.rows.at(-1) ?? first);
      part.own = true;
      part.rows = part.rows.map((r) => r - first);
    }
    this.#part = null;
  }

  #reserve(bytes: number): void {
    const need = this.#length + bytes;
    if (need <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(need, Math.min(this.#most, this.#buffer.length * 2)));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

function copyRows(piece: Piece, first: number, last: number): Piece {
  const width = piece.section.schema.columns.length;
  const from = piece.section.firstCell + first * width;
  const to = piece.section.firstCell + (last + 1) * width;
  const start = startOf(piece, from);
  const data = Buffer.from(piece.data.subarray(start, endOf(piece, to - 1)));
  const ends = piece.ends.slice(from, to);
  // The flags are above the offset, and no offset is below `start`.
  for (let i = 0; i < ends.length; i++) ends[i] = (ends[i] ?? 0) - start;
  const section = { schema: piece.section.schema, firstRow: 0, firstCell: 0, rows: last - first + 1 };
  return pieceOf({ ...piece.batch, data, ends, ops: null, sections: [section], rows: section.rows }, section);
}
