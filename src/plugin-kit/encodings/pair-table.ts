import type { TextDecoding } from './multi-byte-text.js';

/** No second byte of a pair is below: those are control characters and digits. */
const FIRST_TRAIL = 0x40;

/** UTF-8 of one character as a number: its bytes, the first lowest; 0: none. All but four-byte ones have a 0 on top. */
type Packed = number;

function packed(character: string): Packed {
  const p = character.codePointAt(0) ?? 0;
  const tail = (shift: number): number => 0x80 | ((p >> shift) & 0x3f);
  if (p < 0x80) return p;
  if (p < 0x800) return 0xc0 | (p >> 6) | (tail(0) << 8);
  if (p < 0x10000) return 0xe0 | (p >> 12) | (tail(6) << 8) | (tail(0) << 16);
  return (0xf0 | (p >> 18) | (tail(12) << 8) | (tail(6) << 16) | (tail(0) << 24)) >>> 0;
}

/** What one character makes of an encoding, where that is one and no doubt about it. */
function onlyCharacter(text: string): string | null {
  const p = text.codePointAt(0) ?? 0;
  if (p === 0 || p === 0xfffd || text.length > (p > 0xffff ? 2 : 1) || (p >= 0xd800 && p < 0xe000)) return null;
  return text;
}

/**
 * The characters of one and two bytes of an encoding, taken from its decoder once. Going through bytes with it is several
 * times faster than making strings of them; what it does not know it leaves to the decoder.
 */
export class PairTable {
  /** By byte; for a byte that begins a pair 0. */
  readonly #single = new Uint32Array(256);
  /** By both bytes, the first higher. */
  readonly #pair = new Uint32Array(65_536);
  /** Of the last call. */
  #out: Buffer = Buffer.alloc(0);

  /** `decoder` is as new, before and after. ASCII bytes must be ASCII in its encoding. */
  constructor(decoder: TextDecoding) {
    for (let b = 0; b < 0x80; b++) this.#single[b] = b;
    for (let b = 0x80; b < 256; b++) {
      const text = decoder.write(Buffer.from([b]));
      decoder.end();
      const one = onlyCharacter(text);
      if (one !== null) this.#single[b] = packed(one);
      else if (text === '') this.#pairsOf(b, decoder);
    }
  }

  /** Each pair on a line of its own, so that one call of the decoder does for all of them. */
  #pairsOf(lead: number, decoder: TextDecoding): void {
    const trails = Array.from({ length: 256 - FIRST_TRAIL }, (_, i) => FIRST_TRAIL + i);
    const lines = (decoder.write(Buffer.from(trails.flatMap((t) => [lead, t, 0x0a]))) + (decoder.end() ?? '')).split(
      '\n',
    );
    // A lead of longer codes swallows line ends; it is left to the decoder.
    if (lines.length !== trails.length + 1) return;
    for (const [i, trail] of trails.entries()) {
      const one = onlyCharacter(lines[i] ?? '');
      if (one !== null) this.#pair[(lead << 8) | trail] = packed(one);
    }
  }

  /**
   * The UTF-8 of the bytes. `whole` is how many of them it is of: all, or all but the first byte of a pair at their end.
   * Null: there is something among them that the table does not know. The text is valid until the next call.
   */
  decode(bytes: Buffer): { readonly utf8: Buffer; readonly whole: number } | null {
    const n = bytes.length;
    const single = this.#single;
    if (this.#out.length < n * 3) this.#out = Buffer.allocUnsafeSlow(n * 3); // a byte has at most three, a pair four
    const out = this.#out;
    const pair = this.#pair;
    let to = 0;
    let i = 0;
    while (i < n) {
      const b = bytes[i] ?? 0;
      if (b < 0x80) {
        out[to++] = b;
        i++;
        continue;
      }
      let code = single[b] ?? 0;
      let length = 1;
      if (code === 0) {
        if (i + 1 === n) break;
        code = pair[(b << 8) | (bytes[i + 1] ?? 0)] ?? 0;
        length = 2;
        if (code === 0) return null;
      }
      i += length;
      do {
        out[to++] = code & 0xff;
        code >>>= 8;
      } while (code !== 0);
    }
    return { utf8: out.subarray(0, to), whole: i };
  }
}
