/** A byte that UTF-8 has no use for: it makes the row that holds it invalid UTF-8, which the decoders reject. */
export const NOT_UTF8 = Buffer.from([0xff]);

const REPLACED = /\ufffd/u;
/** With the flag u it finds the halves only, not the pairs. */
const LONE = /\p{Surrogate}/u;

/** Newer than the library that the compiler knows. */
const isWellFormed = (text: string): boolean =>
  (text as string & { readonly isWellFormed: () => boolean }).isWellFormed();

function marked(pieces: readonly string[]): Buffer {
  const parts = pieces.flatMap((p, i) => (i === 0 ? [Buffer.from(p)] : [NOT_UTF8, Buffer.from(p)]));
  return Buffer.concat(parts);
}

/** Decoded text whose U+FFFD stand for bytes that could not be decoded. They come out as bytes that are not UTF-8. */
export function utf8OfReplaced(text: string): Buffer {
  if (!text.includes('\ufffd') && isWellFormed(text)) return Buffer.from(text);
  return marked(text.split(REPLACED).flatMap((piece) => piece.split(LONE)));
}

/** Decoded text whose U+FFFD stand for themselves; halves of surrogate pairs come out as bytes that are not UTF-8. */
export function utf8OfUnits(text: string): Buffer {
  return isWellFormed(text) ? Buffer.from(text) : marked(text.split(LONE));
}
