/**
 * A sum over rows that two servers compute alike. Each row becomes one text, from which its cells could be read back: which
 * cells are NULL, then the cells, the free texts among them behind their length. The CRC-32 of its SHA-1 is summed up: two
 * parts that differ come out alike once in 2^32. SHA-1 is faster on today's processors than MD5, and not linear, as CRC-32
 * alone is; CRC-32 makes a number of its digits in a third of the time that `conv` takes for 64 bits of them.
 */
import { cellKind, type LogicalType, type SummedColumn } from 'syncx/plugin-api';
import type { MysqlColumn } from '../catalog/columns.js';
import { quoteName } from '../sql/names.js';

/** Types of one family have a text in common. Null: the type has none that both sides are sure to print alike. */
function familyOf(t: LogicalType): string {
  const kind = cellKind(t);
  if (kind === 'integer' || kind === 'decimal') return 'number';
  switch (t.is) {
    case 'string':
    case 'json':
    case 'enum':
    case 'set':
      return 'text';
    case 'datetime':
    case 'timestamp':
      return 'moment';
    default:
      return t.is;
  }
}

export const comparable = (a: LogicalType, b: LogicalType): boolean => familyOf(a) === familyOf(b);

/** The word of `DigestColumn.order`. */
export function orderOf(c: MysqlColumn): string | null {
  const family = familyOf(c.type);
  if (family === 'text') return c.type.is === 'string' ? c.collation : null;
  return family === 'float32' || family === 'float64' || family === 'geometry' ? null : family;
}

/** Their texts are UTF-8 as they stand. */
const UTF8: ReadonlySet<string> = new Set(['utf8mb4', 'utf8mb3', 'utf8', 'ascii']);

const digitsOf = (t: LogicalType): number => (t.is === 'decimal' ? t.scale : 'fraction' in t ? t.fraction : 0);

/**
 * What a column adds to the text of a row. `alike`: all texts of the row are UTF-8 of one collation, so that they can be put
 * together as they are; else the server would refuse to mix them, and they must be bytes.
 */
function termsOf(column: MysqlColumn, other: LogicalType, alike: boolean): readonly string[] {
  const value = column.select(quoteName(column.name));
  switch (familyOf(column.type)) {
    case 'text': {
      if (alike) return [`length(${value})`, value];
      const plain = column.charset !== null && UTF8.has(column.charset);
      const bytes = `cast(${plain ? value : `convert(${value} using utf8mb4)`} as binary)`;
      return [`length(${plain ? value : bytes})`, bytes];
    }
    case 'binary':
    case 'geometry':
      return [`length(${value})`, value];
    case 'float32':
    case 'float64':
      // Minus zero becomes zero: MySQL has both, MariaDB has one.
      return [`${value}+0e0`];
    default:
      // With other digits on the other side `1.50` is `1.5` there. Without a fraction zeros at the end count.
      return digitsOf(column.type) === 0 || digitsOf(column.type) === digitsOf(other)
        ? [value]
        : [`trim(trailing '.' from trim(trailing '0' from ${value}))`];
  }
}

/** Far above any sum of hashes: of a row whose text is longer than the server makes texts (max_allowed_packet). */
export const UNHASHED = 2n ** 62n;

/** One number says which cells of so many columns are NULL. */
const BITS = 32;

/** `isnull(a) + 2 * isnull(b)` … */
function nullMarks(names: readonly string[]): readonly string[] {
  const groups = Array.from({ length: Math.ceil(names.length / BITS) }, (_, i) =>
    names.slice(i * BITS, (i + 1) * BITS),
  );
  return groups.map((g) => g.map((n, i) => `${String(2 ** i)}*isnull(${quoteName(n)})`).join('+'));
}

function textsAlike(columns: readonly MysqlColumn[]): boolean {
  const texts = columns.filter((c) => familyOf(c.type) === 'text');
  return texts.every((c) => c.charset === 'utf8mb4' && c.collation === texts[0]?.collation);
}

/** Of a row without long texts and blobs, as text in utf8mb4: a row of a table has 64 KiB. */
const MOST_BYTES = 4 << 16;
/** Types whose values are not bounded by the size of a row. */
const LONG = /text|blob|json|geometry|point|linestring|polygon|vector/i;

/**
 * The select list: the number of rows, and their sum.
 * @param maxPacket Bytes of a text, at most: of a longer one the server makes NULL. Looking for that takes its time.
 */
export function sumExpressions(
  columns: readonly { readonly column: MysqlColumn; readonly as: SummedColumn }[],
  maxPacket: number,
): string {
  const alike = textsAlike(columns.map((c) => c.column));
  const terms = [
    ...nullMarks(columns.filter((c) => c.as.nullable).map((c) => c.column.name)),
    ...columns.flatMap((c) => termsOf(c.column, c.as.other, alike)),
  ];
  const hash = `crc32(sha1(concat_ws('#', ${terms.join(', ')})))`;
  const fits = maxPacket > MOST_BYTES && !columns.some((c) => LONG.test(c.column.rawType));
  return `count(*), sum(${fits ? hash : `ifnull(${hash}, ${String(UNHASHED)})`})`;
}
