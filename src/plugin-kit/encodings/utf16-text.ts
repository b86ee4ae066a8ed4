import type { Transcoder } from './transcoder.js';
import { NOT_UTF8, utf8OfUnits } from './utf8-text.js';

const isLead = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;

/** UTF-16 to UTF-8; a byte order mark stays, as the one of UTF-8. */
export class Utf16Text implements Transcoder {
  readonly #bigEndian: boolean;
  #held: Buffer = Buffer.alloc(0);

  constructor(bigEndian: boolean) {
    this.#bigEndian = bigEndian;
  }

  push(chunk: Uint8Array, last: boolean): Uint8Array {
    const bytes = Buffer.concat([this.#held, chunk]);
    let end = bytes.length & ~1;
    if (end > 0 && !last) {
      const unit = this.#bigEndian ? bytes.readUInt16BE(end - 2) : bytes.readUInt16LE(end - 2);
      if (isLead(unit)) end -= 2;
    }
    this.#held = bytes.subarray(end);
    const units = bytes.subarray(0, end);
    if (this.#bigEndian) units.swap16();
    const utf8 = utf8OfUnits(units.toString('utf16le'));
    return last && this.#held.length > 0 ? Buffer.concat([utf8, NOT_UTF8]) : utf8;
  }
}
