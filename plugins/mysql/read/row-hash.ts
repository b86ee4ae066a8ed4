/** Tells whether rows without an order of their own come again as they came before. */
import type { RowPacket } from '../connect/row-text.js';

/** Rows so far, and a hash over their bytes (XXH64, hex). */
export class RowHash {
  rows = 0;
  readonly #hash: { update(bytes: Uint8Array): unknown; digest(): bigint };

  private constructor(hash: { update(bytes: Uint8Array): unknown; digest(): bigint }) {
    this.#hash = hash;
  }

  static async open(): Promise<RowHash> {
    const { default: xxhash } = await import('xxhash-wasm');
    return new RowHash((await xxhash()).create64());
  }

  /** The row's packet as the server sent it: lengths are in it, so that cells cannot run into each other. */
  add({ buffer, offset, end }: RowPacket): void {
    this.#hash.update(buffer.subarray(offset, end));
    this.rows++;
  }

  /** May be asked at any time; goes on afterwards. */
  get digest(): string {
    return this.#hash.digest().toString(16).padStart(16, '0');
  }
}
