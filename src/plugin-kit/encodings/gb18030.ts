/** Codes of four bytes, counted from 81 30 81 30: U+FFFD itself, the last of the basic plane, and the other planes. */
const REPLACEMENT = 39_417;
const LAST_BASIC = 39_419;
const FIRST_OTHER = 189_000;
const LAST_OTHER = 1_237_575;

const isHigh = (b: number): boolean => b >= 0x81 && b <= 0xfe;
const isDigit = (b: number): boolean => b >= 0x30 && b <= 0x39;

export interface SpecialCode {
  readonly at: number;
  /** U+FFFD itself, which the source may hold; else a code that means no character. */
  readonly legal: boolean;
}

/**
 * The next code of four bytes that iconv-lite's answer says nothing about: the code of U+FFFD, which looks like an error,
 * and codes behind the last character of a range, which it takes for other characters. `from` is where a character begins.
 */
export function nextSpecial(bytes: Uint8Array, from: number): SpecialCode | null {
  for (let i = from; i < bytes.length; i++) {
    const a = bytes[i] ?? 0;
    if (!isHigh(a)) continue;
    const b = bytes[i + 1] ?? 0;
    if (!isDigit(b)) {
      if (b >= 0x40 && b !== 0x7f && b !== 0xff) i++;
      continue;
    }
    const c = bytes[i + 2] ?? 0;
    const d = bytes[i + 3] ?? 0;
    if (!isHigh(c) || !isDigit(d)) continue;
    const code = (a - 0x81) * 12_600 + (b - 0x30) * 1260 + (c - 0x81) * 10 + (d - 0x30);
    if (code === REPLACEMENT) return { at: i, legal: true };
    if (code > LAST_OTHER || (code > LAST_BASIC && code < FIRST_OTHER)) return { at: i, legal: false };
    i += 3;
  }
  return null;
}
