import type { Encoding } from 'iconv-lite';

/** Characters as bytes. */
export interface Charset {
  readonly name: string;
  /** What a file begins with; null: nothing. */
  readonly mark: Uint8Array | null;
  /** Null where it lacks a character of the text: nothing is ever written as `?`. */
  encode(text: string): Uint8Array | null;
}

/** `name` as the kit's `encodingName` gives it; not for utf-8. The tables load here, for those who need them. */
export async function openCharset(name: string): Promise<Charset> {
  const { default: iconv } = await import('iconv-lite');
  if (name.startsWith('utf-16')) {
    const as: Encoding = name === 'utf-16be' ? 'utf-16be' : 'utf-16le';
    return {
      name,
      mark: name === 'utf-16' ? Uint8Array.of(0xff, 0xfe) : null,
      encode: (text) => iconv.encode(text, as, { addBOM: false }),
    };
  }
  return {
    name,
    mark: null,
    // iconv-lite puts `?` where it has no character, and says nothing: only reading it back tells.
    encode(text) {
      const bytes = iconv.encode(text, name, { addBOM: false });
      return iconv.decode(bytes, name, { stripBOM: false }) === text ? bytes : null;
    },
  };
}

/** The first character that cannot be written; null: all can. */
export function lackingIn(charset: Charset, text: string): string | null {
  for (const c of text) if (charset.encode(c) === null) return c;
  return null;
}
