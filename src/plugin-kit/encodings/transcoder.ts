import { SyncError } from '../../plugin-api/index.js';
import { MultiByteText } from './multi-byte-text.js';
import { Utf16Text } from './utf16-text.js';

/**
 * Turns the bytes of a file into UTF-8, whatever the chunks they come in. Bytes that are no character of the encoding
 * become bytes that are not UTF-8, never a replacement character: the format's own check then rejects the row.
 */
export interface Transcoder {
  /**
   * The UTF-8 of the chunk; what it cuts off of a character is held back. Valid until the next call, or as long as the
   * chunk itself. Nothing may follow `last`.
   * @throws SyncError SOURCE_FORMAT where a byte order mark says that the file is of another encoding.
   */
  push(chunk: Uint8Array, last: boolean): Uint8Array;
}

export type ByteOrderMark = 'utf-8' | 'utf-16le' | 'utf-16be' | 'utf-32le' | 'utf-32be';

const MARKS: readonly (readonly [ByteOrderMark, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  // Before utf-16le, whose mark it begins with.
  ['utf-32le', [0xff, 0xfe, 0, 0]],
  ['utf-32be', [0, 0, 0xfe, 0xff]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];
/** So many bytes tell which mark a file begins with. */
export const LONGEST_MARK = 4;

/** The byte order mark at the start of the bytes, if there is one. */
export function byteOrderMark(bytes: Uint8Array): ByteOrderMark | null {
  return MARKS.find(([, mark]) => mark.every((b, i) => bytes[i] === b))?.[0] ?? null;
}

/** Looks at the first bytes of the file before anything is decoded. */
class CheckedStart implements Transcoder {
  readonly #open: (start: Uint8Array) => Transcoder;
  #held: Buffer = Buffer.alloc(0);
  #inner: Transcoder | null = null;

  constructor(open: (start: Uint8Array) => Transcoder) {
    this.#open = open;
  }

  push(chunk: Uint8Array, last: boolean): Uint8Array {
    if (this.#inner !== null) return this.#inner.push(chunk, last);
    this.#held = Buffer.concat([this.#held, chunk]);
    if (this.#held.length < LONGEST_MARK && !last) return Buffer.alloc(0);
    this.#inner = this.#open(this.#held);
    return this.#inner.push(this.#held, last);
  }
}

function otherMark(place: string, encoding: string, mark: ByteOrderMark): SyncError {
  const message = `${place} begins with the byte order mark of ${mark}, but encoding says ${encoding}`;
  const hint = mark.startsWith('utf-32') ? 'Convert it to utf-8; utf-32 is not read.' : `Set encoding to ${mark}.`;
  return new SyncError('SOURCE_FORMAT', message, { place, hint });
}

/**
 * For bytes that are read as UTF-8 and so pass through no transcoder.
 * @throws SyncError SOURCE_FORMAT where they begin with the byte order mark of another encoding.
 */
export function refuseOtherMark(start: Uint8Array, place: string): void {
  const mark = byteOrderMark(start);
  if (mark !== null && mark !== 'utf-8') throw otherMark(place, 'utf-8', mark);
}

function noMark(place: string): SyncError {
  return new SyncError('SOURCE_FORMAT', `${place} has no byte order mark, which utf-16 needs to tell the byte order`, {
    place,
    hint: 'Set encoding to utf-16le or utf-16be.',
  });
}

/**
 * @param encoding as `encodingName` gives it, and not utf-8.
 * @param place the file, for messages.
 */
export async function openTranscoder(encoding: string, place: string): Promise<Transcoder> {
  if (encoding.startsWith('utf-16')) {
    return new CheckedStart((start) => {
      const mark = byteOrderMark(start);
      if (mark !== null && encoding !== 'utf-16' && mark !== encoding) throw otherMark(place, encoding, mark);
      if (mark !== null && !mark.startsWith('utf-16')) throw otherMark(place, encoding, mark);
      if (mark === null && encoding === 'utf-16' && start.length > 0) throw noMark(place);
      return new Utf16Text((mark ?? encoding) === 'utf-16be');
    });
  }
  const { default: iconv } = await import('iconv-lite'); // its tables take their time to load
  return new CheckedStart((start) => {
    const mark = byteOrderMark(start);
    if (mark !== null) throw otherMark(place, encoding, mark);
    return new MultiByteText(iconv.getDecoder(encoding), encoding);
  });
}

/**
 * For bytes in pieces that end between characters, as whole lines do: each is decoded by itself, and no byte order mark is
 * looked for.
 *
 * @param encoding as `encodingName` gives it, and neither utf-8 nor utf-16.
 * @returns gives UTF-8, as a transcoder does.
 */
export async function openPieceDecoder(encoding: string): Promise<(piece: Uint8Array) => Uint8Array> {
  const { default: iconv } = await import('iconv-lite');
  const text = new MultiByteText(iconv.getDecoder(encoding), encoding);
  return (piece) => text.push(piece, true);
}
