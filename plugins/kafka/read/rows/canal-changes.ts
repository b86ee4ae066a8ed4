import { parseType, type LogicalType } from 'syncx/plugin-api';
import { skipSpace, skipValue } from 'syncx/plugin-kit';
import type { Change, ChangeFormat } from './change.js';
import { ObjectFields, isThere, textAt, type Span } from './object-fields.js';

const OPEN = 123;
/** Types of messages that are no changes of rows, beside those that say isDdl; the last one is TiCDC's. */
const NO_ROWS: ReadonlySet<string> = new Set([
  ...['CREATE', 'ALTER', 'ERASE', 'RENAME', 'CINDEX', 'DINDEX', 'QUERY'],
  ...['GTID', 'XACOMMIT', 'XAROLLBACK', 'MHEARTBEAT', 'TIDB_WATERMARK'],
]);
const SILENT: ReadonlySet<string> = new Set(['GTID', 'XACOMMIT', 'XAROLLBACK', 'MHEARTBEAT', 'TIDB_WATERMARK']);

const GEOMETRY = /^(geometry|point|linestring|polygon|multi\w+|geometrycollection|geomcollection)$/;

/**
 * The type of a cell by MySQL's word for its column; null: a text. Bytes are not told by {@link parseType} where the word
 * is one that only MySQL has.
 */
export function mysqlType(word: string): LogicalType | null {
  const name = word.trim().toLowerCase();
  const base = name.replace(/[( ].*$/, '');
  if (base.endsWith('blob') || base.endsWith('binary')) return { is: 'binary' };
  if (GEOMETRY.test(base)) return { is: 'geometry' };
  if (base === 'enum' || base === 'set') return { is: base, labels: null };
  return parseType(name);
}

/**
 * Flat messages of Canal (and TiCDC): `{"data": [{…}], "old": [{…}], "type": "UPDATE", "isDdl": false, "database", "table",
 * "pkNames", "mysqlType", "es", "ts", …}`. Values are texts; `old` holds the columns that changed. Bytes are texts of
 * characters up to U+00FF, JSON is text.
 */
export class CanalChanges implements ChangeFormat {
  readonly notation = { jsonInText: true, latin1: true };
  readonly #fields = new ObjectFields([
    ...['data', 'database', 'isDdl', 'mysqlType', 'old', 'pkNames', 'table', 'type'],
  ]);

  open(b: Buffer, start: number, end: number, to: Change): string | null {
    const fault = wholeObject(this.#fields, b, start, end);
    if (fault !== null) return fault;
    this.#take(1, to.database);
    this.#take(3, to.types);
    this.#take(5, to.keys);
    this.#take(6, to.table);
    return null;
  }

  read(b: Buffer, to: Change): string | null {
    const { starts, ends } = this.#fields;
    const at = (i: number): Span => ({ start: starts[i] ?? -1, end: ends[i] ?? -1 });
    const type = textAt(b, at(7));
    if (type === null) return 'the message has no `type`';
    if (type === 'TRUNCATE')
      return 'the message says that its table was emptied, which no row can tell: empty the target';
    const isDdl = b[starts[2] ?? -1] === 116;
    if (isDdl || NO_ROWS.has(type)) {
      to.note = SILENT.has(type) ? null : type;
      return null;
    }
    if (type !== 'INSERT' && type !== 'UPDATE' && type !== 'DELETE')
      return `the message is of the unknown type \`${type}\``;
    const fault = rowsOf(b, at(0), 'data', to.images);
    if (fault !== null) return fault;
    to.is = type === 'INSERT' ? 'insert' : type === 'DELETE' ? 'delete' : 'update';
    if (to.is !== 'update') return null;
    to.partialOlds = true;
    const lacking = rowsOf(b, at(4), 'old', to.olds);
    if (lacking !== null) return lacking;
    return to.olds.length === to.images.length ? null : 'the message has not as many rows in `old` as in `data`';
  }

  typeOf(word: string): LogicalType {
    return mysqlType(word) ?? { is: 'string' };
  }

  #take(i: number, to: Span): void {
    to.start = this.#fields.starts[i] ?? -1;
    to.end = this.#fields.ends[i] ?? -1;
  }
}

/** The one object in `b[start .. end]`, blanks around it allowed. @returns what is wrong with it. */
export function wholeObject(fields: ObjectFields, b: Buffer, start: number, end: number): string | null {
  if (start === end) return 'the value is empty, not JSON';
  if (b[start] !== OPEN) return skipValue(b, start, end) < 0 ? 'the value is not JSON' : 'the value is no JSON object';
  const behind = fields.scan(b, start, end);
  if (typeof behind === 'string') return behind;
  return skipSpace(b, behind, end) === end ? null : 'the value goes on behind its JSON object';
}

/** Places of the objects of a JSON list, which was scanned before. @returns what is wrong with it. */
function rowsOf(b: Buffer, list: Span, name: string, to: number[]): string | null {
  if (!isThere(b, list)) return `the message has no \`${name}\``;
  if (b[list.start] !== 91) return `\`${name}\` is no list of rows`;
  let i = skipSpace(b, list.start + 1, list.end);
  if (b[i] === 93) return null;
  for (;;) {
    if (b[i] !== OPEN) return `\`${name}\` is no list of rows`;
    const end = skipValue(b, i, list.end); // the envelope's scan has found it to be JSON
    to.push(i, end);
    i = skipSpace(b, end, list.end);
    if (b[i] === 93) return null;
    i = skipSpace(b, i + 1, list.end);
  }
}
