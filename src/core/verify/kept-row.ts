import type { Bound } from './pairing.js';

/** A cell as it came: its bytes; null: NULL. */
export type KeptCell = Buffer | null;

const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;

/** Room for the cells of a row: their lengths and their bytes, in one buffer, as very many rows may be kept. */
export class CellPacker {
  #buffer = Buffer.allocUnsafeSlow(1 << 12);
  #at = 0;

  begin(): void {
    this.#at = 0;
  }

  add(data: Buffer, start: number, end: number): void {
    this.#length(end - start, end - start);
    data.copy(this.#buffer, this.#at, start, end);
    this.#at += end - start;
  }

  addNull(): void {
    this.#length(NULL_LENGTH, 0);
  }

  take(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#at));
  }

  #length(length: number, bytes: number): void {
    const need = this.#at + LENGTH_BYTES + bytes;
    if (need > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(need, this.#buffer.length * 2));
      this.#buffer.copy(grown, 0, 0, this.#at);
      this.#buffer = grown;
    }
    this.#at = this.#buffer.writeInt32LE(length, this.#at);
  }
}

/** A row that is kept for a closer look. */
export class KeptRow {
  readonly bound: Bound;
  /** Another one with the same cells, of the same side. */
  next: KeptRow | null = null;
  readonly #packed: Buffer;

  constructor(bound: Bound, packed: Buffer) {
    this.bound = bound;
    this.#packed = packed;
  }

  /** In the order of the compared columns; made anew each time. */
  get cells(): readonly KeptCell[] {
    const cells: KeptCell[] = [];
    for (let at = 0; at < this.#packed.length;) {
      const length = this.#packed.readInt32LE(at);
      at += LENGTH_BYTES;
      cells.push(length === NULL_LENGTH ? null : this.#packed.subarray(at, at + length));
      at += Math.max(0, length);
    }
    return cells;
  }
}
