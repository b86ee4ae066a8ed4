import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { encodingName, openPieceDecoder } from 'syncx/plugin-kit';

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

/** The one name of an encoding; null: it is not known. */
export function lineEncoding(name: string): string | null {
  return /^\s*utf8mb4\s*$/i.test(name) ? 'utf-8' : encodingName(name);
}

function utf16(encoding: string): Coding {
  return {
    wide: true,
    stream: () => {
      const decoder = new TextDecoder(encoding, { fatal: true });
      return (bytes, last) => Buffer.from(decoder.decode(bytes, { stream: !last }));
    },
    lines: never,
  };
}

/**
 * Only UTF-16 through TextDecoder: in Node 20 that one takes windows-1252 for latin1 and half of euc-kr for control
 * characters, and has characters for bytes of gbk, big5 and windows-874 that are none.
 *
 * @param encoding as `lineEncoding` gives it.
 */
export async function openCoding(encoding: string): Promise<Coding> {
  if (encoding === 'utf-8') return UTF8;
  if (encoding.startsWith('utf-16')) return utf16(encoding === 'utf-16be' ? encoding : 'utf-16le');
  const decode = await openPieceDecoder(encoding);
  return {
    wide: false,
    stream: never,
    // A line feed is never part of another character in these, and no state goes from one line to the next.
    lines: (bytes) => {
      const text = decode(bytes);
      return isUtf8(text) ? Buffer.from(text.buffer, text.byteOffset, text.byteLength) : null;
    },
  };
}
