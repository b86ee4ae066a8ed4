const NULL_MARK = 0x7fffffff;
const ABSENT_MARK = 0x7ffffffe;

/**
 * 64 bits over the cells of a row, as two lanes of 32: JavaScript has no fast whole numbers beyond those. Each cell goes in
 * with its length, so that ('a','bc') and ('ab','c') differ, and NULL has a length that no cell has.
 */
export class RowHash {
  /** After `finish`, each from 0 to 2^32 - 1. */
  high = 0;
  low = 0;
  #a = 0;
  #b = 0;

  begin(): void {
    this.#a = 0x243f6a88;
    this.#b = 0x13198a2e;
  }

  addNull(): void {
    this.#word(NULL_MARK);
  }

  addAbsent(): void {
    this.#word(ABSENT_MARK);
  }

  add(data: Uint8Array, start: number, end: number): void {
    this.#word(end - start);
    let a = this.#a;
    let b = this.#b;
    let i = start;
    for (; i + 4 <= end; i += 4) {
      const k = (data[i] ?? 0) | ((data[i + 1] ?? 0) << 8) | ((data[i + 2] ?? 0) << 16) | ((data[i + 3] ?? 0) << 24);
      a = Math.imul(a ^ k, 0x9e3779b1);
      a ^= a >>> 15;
      b = Math.imul(b ^ ((k << 16) | (k >>> 16)), 0x85ebca77);
      b ^= b >>> 13;
    }
    if (i < end) {
      let k = 0;
      for (let shift = 0; i < end; i++, shift += 8) k |= (data[i] ?? 0) << shift;
      a = Math.imul(a ^ k, 0x9e3779b1);
      a ^= a >>> 15;
      b = Math.imul(b ^ ((k << 16) | (k >>> 16)), 0x85ebca77);
      b ^= b >>> 13;
    }
    this.#a = a;
    this.#b = b;
  }

  finish(): void {
    this.high = mixed(this.#a ^ Math.imul(this.#b, 0xc2b2ae3d));
    this.low = mixed(this.#b ^ Math.imul(this.#a, 0x27d4eb2f));
  }

  #word(k: number): void {
    this.#a = Math.imul(this.#a ^ k, 0xcc9e2d51);
    this.#a ^= this.#a >>> 16;
    this.#b = Math.imul(this.#b ^ Math.imul(k, 0x1b873593), 0xe6546b65);
    this.#b ^= this.#b >>> 14;
  }
}

function mixed(h: number): number {
  let x = h ^ (h >>> 16);
  x = Math.imul(x, 0x85ebca6b);
  x ^= x >>> 13;
  x = Math.imul(x, 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}
