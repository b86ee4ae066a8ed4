/**
 * Where a character set has no character for some of its bytes, the server reads them as `?` (TIS-620: U+FFFD) and says nothing:
 * any byte above 7f in ASCII, a few in most Windows and ISO sets, the user's own characters in GBK and its kin.
 */

/** Of these each byte, or each form that the server stores, is a character. */
const WHOLE: ReadonlySet<string> = new Set([
  'utf8',
  'utf8mb3',
  'utf8mb4',
  'utf16',
  'utf16le',
  'utf32',
  'ucs2',
  'latin1',
  'latin2',
  'latin5',
  'latin7',
  'koi8r',
  'koi8u',
  'cp850',
  'cp852',
  'cp866',
  'keybcs2',
  'macce',
  'macroman',
  'binary',
]);

/** What no UTF-8 holds: the row is refused, and its bytes stand in the dirty file behind it. */
const REFUSED = '0xff';

/**
 * The text as UTF-8, or bytes that are none where a character would be lost: where it has more question marks than the bytes do
 * (3f is no part of another character in any set but the UTFs).
 */
export function textSelect(charset: string | null, reference: string): string {
  if (charset === null || WHOLE.has(charset)) return reference;
  const text = `convert(${reference} using utf8mb4)`;
  const utf8 = `cast(${text} as binary)`;
  const marks = (bytes: string): string => `length(${bytes}) - length(replace(${bytes}, '?', ''))`;
  const raw = `cast(${reference} as binary)`;
  const lost = `concat(${REFUSED}, ${raw})`;
  if (charset === 'tis620') return `if(locate(0xefbfbd, ${utf8}) > 0, ${lost}, ${utf8})`;
  return `if(locate('?', ${utf8}) = 0 or ${marks(utf8)} = ${marks(raw)}, ${utf8}, ${lost})`;
}
