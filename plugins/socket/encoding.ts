import { TextDecoder } from 'node:util';

/** How the bytes of lines become UTF-8. */
export interface Coding {
  /** Lines cannot be told apart before they are decoded: a line feed is more than one byte. */
  readonly wide: boolean;
  /** Decodes a piece of a stream; `last`: nothing follows. Only for wide ones. @throws TypeError where it is not of the encoding. */
  stream(): (bytes: Uint8Array, last: boolean) => Buffer;
  /** Decodes whole lines; null: they are not of the encoding. */
  lines(bytes: Buffer): Buffer | null;
}

const never = (): never => {
  throw new Error('not for this encoding');
};

const UTF8: Coding = { wide: false, stream: never, lines: (bytes) => bytes };
// What WHATWG calls latin1 is windows-1252.
const LATIN1: Coding = { wide: false, stream: never, lines: (bytes) => Buffer.from(bytes.toString('latin1')) };

/** Null: no such encoding is known. */
export function codingOf(name: string): Coding | null {
  const label = name.trim().toLowerCase();
  if (/^(?:iso[-_]?8859-1|latin-?1)$/.test(label)) return LATIN1;
  let encoding: string;
  try {
    ({ encoding } = new TextDecoder(label === 'utf8mb4' ? 'utf-8' : label));
  } catch {
    return null;
  }
  if (encoding === 'utf-8') return UTF8;
  const make = (): TextDecoder => new TextDecoder(encoding, { fatal: true });
  if (encoding.startsWith('utf-16')) {
    return {
      wide: true,
      stream: () => {
        const decoder = make();
        return (bytes, last) => Buffer.from(decoder.decode(bytes, { stream: !last }));
      },
      lines: never,
    };
  }
  const decoder = make();
  return {
    wide: false,
    stream: never,
    // A line feed is never part of another character in these, and no state goes from one line to the next.
    lines: (bytes) => {
      try {
        return Buffer.from(decoder.decode(bytes));
      } catch {
        return null;
      }
    },
  };
}
