import { ABSENT_FLAG, END_MASK, NULL_FLAG } from '../../plugin-api/index.js';

/** Where a column's cell is while a row goes through: in the batch, computed, or the same for all rows (null: NULL). */
export type Slot =
  | { readonly is: 'input'; readonly index: number }
  | { readonly is: 'register'; readonly index: number }
  | { readonly is: 'constant'; readonly bytes: Buffer | null };

const FLAGS = (NULL_FLAG | ABSENT_FLAG) >>> 0;
const NOTHING = Buffer.alloc(0);
const SCRATCH = 1 << 16;

/** The current row: cells of the batch, and registers for what steps computed. Nothing is made per row. */
export class Frame {
  data: Buffer = NOTHING;
  ends: Uint32Array = new Uint32Array(0);
  /** Number of the row's first cell. */
  base = 0;

  /** The cell that `load` found last. */
  buf: Buffer = NOTHING;
  start = 0;
  end = 0;

  readonly #bufs: Buffer[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #flags: number[] = [];
  #scratch = Buffer.allocUnsafeSlow(SCRATCH);
  #used = 0;

  /** Registers keep what they hold until the next row. */
  at(base: number): void {
    this.base = base;
    this.#used = 0;
  }

  /** Finds a cell: `buf[start .. end]`. @returns 0, NULL_FLAG or ABSENT_FLAG, then the cell is empty. */
  load(slot: Slot): number {
    switch (slot.is) {
      case 'input': {
        const cell = this.base + slot.index;
        const e = this.ends[cell] ?? 0;
        this.buf = this.data;
        this.start = cell === 0 ? 0 : (this.ends[cell - 1] ?? 0) & END_MASK;
        this.end = e & END_MASK;
        return (e & FLAGS) >>> 0;
      }
      case 'register':
        return this.loadRegister(slot.index);
      case 'constant':
        this.buf = slot.bytes ?? NOTHING;
        this.start = 0;
        this.end = this.buf.length;
        return slot.bytes === null ? NULL_FLAG : 0;
    }
  }

  loadRegister(i: number): number {
    this.buf = this.#bufs[i] ?? NOTHING;
    this.start = this.#starts[i] ?? 0;
    this.end = this.#ends[i] ?? 0;
    return this.#flags[i] ?? 0;
  }

  /** The loaded cell as text. */
  text(): string {
    return this.buf.toString('utf8', this.start, this.end);
  }

  setFlag(register: number, flag: number): void {
    this.setBytes(register, NOTHING, 0, 0, flag);
  }

  setNull(register: number): void {
    this.setFlag(register, NULL_FLAG);
  }

  /** The bytes are not copied: they must stand until the next row. */
  setBytes(register: number, buf: Buffer, start: number, end: number, flag = 0): void {
    this.#bufs[register] = buf;
    this.#starts[register] = start;
    this.#ends[register] = end;
    this.#flags[register] = flag;
  }

  setText(register: number, text: string): void {
    const at = this.room(text.length * 3);
    const n = this.#scratch.write(text, at, 'utf8');
    this.#used = at + n;
    this.setBytes(register, this.#scratch, at, at + n);
  }

  setCopy(register: number, bytes: Uint8Array): void {
    const at = this.setRoom(register, bytes.length);
    this.registerBuffer(register).set(bytes, at);
  }

  /** Makes the register hold `bytes` bytes, to be written into its buffer. @returns where they start there. */
  setRoom(register: number, bytes: number): number {
    const at = this.room(bytes);
    this.#used = at + bytes;
    this.setBytes(register, this.#scratch, at, at + bytes);
    return at;
  }

  registerBuffer(register: number): Buffer {
    return this.#bufs[register] ?? NOTHING;
  }

  /** Offset of `bytes` free bytes in the scratch buffer. What earlier registers hold stays where it is. */
  room(bytes: number): number {
    if (this.#used + bytes > this.#scratch.length) {
      this.#scratch = Buffer.allocUnsafeSlow(Math.max(SCRATCH, bytes));
      this.#used = 0;
    }
    return this.#used;
  }
}
