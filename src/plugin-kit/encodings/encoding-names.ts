import leven from 'leven';

/** Encodings by the name that messages show, each with its other names. Letter case, `-`, `_` and spaces do not count. */
const ENCODINGS: Readonly<Record<string, readonly string[]>> = {
  'utf-8': ['utf8'],
  // By its byte order mark, which must be there.
  'utf-16': ['utf16', 'ucs2', 'unicode'],
  'utf-16le': ['utf16le', 'ucs2le', 'unicodelittle'],
  'utf-16be': ['utf16be', 'ucs2be', 'unicodebig'],
  gbk: ['cp936', 'ms936', 'windows936', 'gb2312', 'euccn', 'chinese'],
  gb18030: [],
  big5: ['cp950', 'windows950', 'big5hkscs', 'big5tw'],
  shift_jis: ['sjis', 'cp932', 'ms932', 'windows932', 'windows31j', 'mskanji'],
  'euc-jp': ['eucjp'],
  'euc-kr': ['euckr', 'cp949', 'ms949', 'windows949', 'uhc', 'ksc5601'],
  'us-ascii': ['ascii'],
  'windows-874': ['cp874', 'tis620'],
  'koi8-r': ['cp20866'],
  'koi8-u': ['cp21866'],
  macintosh: ['macroman', 'mac'],
  ...numbered('windows-', 'cp', [1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258]),
  ...numbered('ibm', 'cp', [437, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864, 865, 866, 869]),
  ...numbered('iso-8859-', 'latin', [2, 3, 4]),
  'iso-8859-1': ['latin1', 'l1', 'cp819'],
  'iso-8859-5': ['cyrillic'],
  'iso-8859-6': ['arabic'],
  'iso-8859-7': ['greek'],
  'iso-8859-8': ['hebrew'],
  'iso-8859-9': ['latin5'],
  'iso-8859-10': ['latin6'],
  'iso-8859-11': ['thai'],
  'iso-8859-13': ['latin7'],
  'iso-8859-14': ['latin8'],
  'iso-8859-15': ['latin9'],
  'iso-8859-16': ['latin10'],
};

function numbered(prefix: string, other: string, numbers: readonly number[]): Record<string, readonly string[]> {
  return Object.fromEntries(numbers.map((n) => [`${prefix}${String(n)}`, [`${other}${String(n)}`]]));
}

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** The one name of an encoding that has many (`GB2312`, `cp936` → `gbk`); null: it is not known. */
export function encodingName(name: string): string | null {
  const wanted = plain(name);
  const found = Object.entries(ENCODINGS).find(([known, others]) => plain(known) === wanted || others.includes(wanted));
  return found?.[0] ?? null;
}

/** What to say to a name that is not known: the nearest known one, or all. */
export function encodingHint(name: string): string {
  const wanted = plain(name);
  const known = Object.entries(ENCODINGS).flatMap(([n, others]) => [n, ...others]);
  const near = known
    .map((n) => ({ n, distance: leven(wanted, plain(n)) }))
    .reduce((a, b) => (b.distance < a.distance ? b : a));
  if (near.distance <= Math.max(1, Math.floor(wanted.length / 3))) return `Did you mean \`${near.n}\`?`;
  return `Known are ${Object.keys(ENCODINGS).join(', ')}.`;
}
