import { ABSENT_FLAG, END_MASK, NULL_FLAG, SyncError, type RowBatch, type Section } from '../../plugin-api/index.js';
import type { Bound, Pairing } from './pairing.js';
import { CellPacker, type KeptCell } from './kept-row.js';
import { RowHash } from './row-hash.js';
import { CellRef } from './verify-form.js';

/** Hashes rows one after the other. Nothing is made per row where types agree. */
export class RowScan {
  readonly row = new RowHash();
  readonly #own = new RowHash();
  /** The same as `row` where there is no key. */
  readonly key: RowHash;
  readonly #isKey: readonly boolean[];
  readonly #keyed: boolean;
  readonly #cell = new CellRef();
  readonly #packer = new CellPacker();
  #data: Buffer = Buffer.alloc(0);
  #ends: Uint32Array = new Uint32Array(0);

  constructor(pairing: Pairing) {
    this.#keyed = pairing.key.length > 0;
    this.#isKey = pairing.columns.map((_, i) => pairing.key.includes(i));
    this.key = this.#keyed ? this.#own : this.row;
  }

  begin(batch: RowBatch): void {
    if (batch.ops?.some((op) => op !== 0) === true) {
      throw new SyncError('JOB_INVALID', 'the reader delivers changes, not rows, so there is nothing to compare');
    }
    this.#data = Buffer.from(batch.data.buffer, batch.data.byteOffset, batch.data.byteLength);
    this.#ends = batch.ends;
  }

  #load(index: number): number {
    const entry = this.#ends[index] ?? 0;
    const cell = this.#cell;
    cell.data = this.#data;
    cell.start = index === 0 ? 0 : (this.#ends[index - 1] ?? 0) & END_MASK;
    cell.end = entry & END_MASK;
    return entry;
  }

  hash(bound: Bound, section: Section, row: number): void {
    const base = section.firstCell + row * section.schema.columns.length;
    const { at, forms } = bound;
    const { row: whole } = this;
    const own = this.#own;
    const cell = this.#cell;
    whole.begin();
    if (this.#keyed) own.begin();
    for (let c = 0; c < at.length; c++) {
      const entry = this.#load(base + (at[c] ?? 0));
      const isKey = this.#isKey[c] === true;
      if ((entry & NULL_FLAG) !== 0) {
        whole.addNull();
        if (isKey) own.addNull();
      } else if ((entry & ABSENT_FLAG) !== 0) {
        whole.addAbsent();
        if (isKey) own.addAbsent();
      } else {
        forms[c]?.(cell);
        whole.add(cell.data, cell.start, cell.end);
        if (isKey) own.add(cell.data, cell.start, cell.end);
      }
    }
    whole.finish();
    if (this.#keyed) own.finish();
  }

  /** The compared cells of a row as they came, packed for a `KeptRow`. */
  keep(bound: Bound, section: Section, row: number): Buffer {
    const base = section.firstCell + row * section.schema.columns.length;
    const packer = this.#packer;
    packer.begin();
    for (const index of bound.at) {
      const entry = this.#load(base + index);
      if ((entry & (NULL_FLAG | ABSENT_FLAG)) !== 0) packer.addNull();
      else packer.add(this.#cell.data, this.#cell.start, this.#cell.end);
    }
    return packer.take();
  }
}

/** Both in the form in which they are compared. */
export function sameCell(
  a: KeptCell,
  formA: Bound['forms'][number],
  b: KeptCell,
  formB: Bound['forms'][number],
): boolean {
  if (a === null || b === null) return a === b;
  const [x, y] = [formed(a, formA), formed(b, formB)];
  return x.data.compare(y.data, y.start, y.end, x.start, x.end) === 0;
}

function formed(bytes: Buffer, form: Bound['forms'][number]): CellRef {
  const cell = new CellRef();
  cell.data = Buffer.from(bytes);
  cell.end = bytes.length;
  form?.(cell);
  return cell;
}
