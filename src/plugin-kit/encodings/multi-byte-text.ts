import { isAscii } from 'node:buffer';
import { nextSpecial } from './gb18030.js';
import { PairTable } from './pair-table.js';
import type { Transcoder } from './transcoder.js';
import { NOT_UTF8, utf8OfReplaced } from './utf8-text.js';

/** A decoder of iconv-lite: what it cannot decode comes out as U+FFFD. */
export interface TextDecoding {
  write(bytes: Buffer): string;
  /** What is left of a character that was cut, decoded by force: one U+FFFD or character a byte. The decoder is as new. */
  end(): string | undefined;
}

const ASCII = Buffer.from(Array.from({ length: 128 }, (_, i) => i));
/** Making the table takes as long as it saves in so many bytes. */
const WORTH_A_TABLE = 4 << 20;
const REPLACEMENT = Buffer.from('\ufffd');

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Encodings of one or several bytes a character, through iconv-lite.
 *
 * A trap: its decoder holds cut characters back itself, but sizes its output by the chunk alone, so that behind the
 * beginning of a character that is none, the last characters of the next chunk are lost in silence. Here the bytes of a
 * cut character are held back, and the decoder begins each chunk as new.
 */
export class MultiByteText implements Transcoder {
  readonly #decoder: TextDecoding;
  readonly #gb18030: boolean;
  /** ASCII bytes are ASCII in it, so that chunks of nothing else pass as they are. */
  readonly #holdsAscii: boolean;
  #held: Buffer = Buffer.alloc(0);
  #seen = 0;
  /** Null until it is worth it. */
  #table: PairTable | null = null;

  constructor(decoder: TextDecoding, encoding: string) {
    this.#decoder = decoder;
    this.#gb18030 = encoding === 'gb18030';
    this.#holdsAscii = decoder.write(ASCII) + (decoder.end() ?? '') === ASCII.toString('latin1');
  }

  push(chunk: Uint8Array, last: boolean): Uint8Array {
    if (this.#holdsAscii && this.#held.length === 0 && isAscii(chunk)) return chunk;
    const bytes = this.#held.length === 0 ? viewOf(chunk) : Buffer.concat([this.#held, chunk]);
    const fast = this.#fast(bytes);
    if (fast && (!last || fast.whole === bytes.length)) {
      this.#held = Buffer.from(bytes.subarray(fast.whole)); // the chunk is another's
      return fast.utf8;
    }
    const text = this.#decoder.write(bytes);
    const cut = this.#decoder.end() ?? '';
    if (last) return this.#utf8(text + cut, bytes);
    const whole = bytes.length - cut.length;
    this.#held = Buffer.from(bytes.subarray(whole)); // the chunk is another's
    return this.#utf8(text, bytes.subarray(0, whole));
  }

  /** Null: the decoder must see to it. */
  #fast(bytes: Buffer): ReturnType<PairTable['decode']> {
    if (!this.#holdsAscii) return null;
    this.#seen += bytes.length;
    if (this.#seen > WORTH_A_TABLE) this.#table ??= new PairTable(this.#decoder);
    return this.#table?.decode(bytes) ?? null;
  }

  #utf8(text: string, bytes: Buffer): Buffer {
    if (!this.#gb18030 || !/[\ud800-\udfff\ufffd]/.test(text)) return utf8OfReplaced(text);
    const parts: Buffer[] = [];
    let at = 0;
    for (let special = nextSpecial(bytes, at); special !== null; special = nextSpecial(bytes, at)) {
      parts.push(this.#segment(bytes.subarray(at, special.at)), special.legal ? REPLACEMENT : NOT_UTF8);
      at = special.at + 4;
    }
    parts.push(this.#segment(bytes.subarray(at)));
    return Buffer.concat(parts);
  }

  #segment(bytes: Buffer): Buffer {
    return utf8OfReplaced(this.#decoder.write(bytes) + (this.#decoder.end() ?? ''));
  }
}
