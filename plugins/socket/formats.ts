import { isUtf8 } from 'node:buffer';
import { internSchema, parseType, type BatchBuilder, type Finding, type RowSchema } from 'syncx/plugin-api';
import {
  canonicalCell,
  columnSpecs,
  delimitedFormat,
  encodingHint,
  isDatePattern,
  jsonLinesFormat,
  showBytes,
  type ColumnSpec,
  type DecodeState,
  type RecordDecoder,
  type RecordPoint,
} from 'syncx/plugin-kit';
import { parseAddress } from './address.js';
import { lineEncoding } from './encoding.js';
import type { ReaderOptions } from './options.js';

const LF = 10;
const CR = 13;

/** The whole line as one cell. Empty lines are no rows. */
class WholeLineDecoder implements RecordDecoder {
  readonly schema: RowSchema = internSchema([{ name: 'message', type: { is: 'string' } }]);
  readonly #place: string;
  #block: Uint8Array = new Uint8Array();
  #at = 0;
  #line = 1;
  #clean = true;

  constructor(place: string) {
    this.#place = place;
  }

  get point(): RecordPoint {
    return { offset: 0, line: this.#line };
  }

  /** Whole lines, once those before are decoded. */
  push(block: Uint8Array): void {
    this.#block = block;
    this.#at = 0;
    this.#clean = isUtf8(block);
  }

  decode(builder: BatchBuilder): DecodeState {
    const b = this.#block;
    while (this.#at < b.length) {
      if (builder.full) return 'full';
      const lf = b.indexOf(LF, this.#at);
      const end = lf > this.#at && b[lf - 1] === CR ? lf - 1 : lf;
      if (end > this.#at) this.#row(builder, this.#at, end);
      this.#at = lf + 1;
      this.#line++;
    }
    return 'hungry';
  }

  #row(builder: BatchBuilder, from: number, to: number): void {
    if (this.#clean || isUtf8(this.#block.subarray(from, to))) {
      builder.appendBytes(this.#block, from, to);
      builder.endRow();
      return;
    }
    builder.reject({
      row: showBytes(this.#block.subarray(from, to)),
      column: 'message',
      code: 'ROW_INVALID',
      reason: 'the line is not valid UTF-8',
      place: `${this.#place}:${String(this.#line)}`,
    });
  }
}

/** Control characters as job files spell them: `\t`, `\u0001`, `\x01`, `\001`. */
function spelledOut(text: string): string {
  const named: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '\\': '\\', '0': '\0' };
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-3][0-7]{2})|([tnr\\0]))/g, (_, u, x, o, c) => {
    if (c !== undefined) return named[String(c)] ?? '';
    return String.fromCharCode(o !== undefined ? parseInt(String(o), 8) : parseInt(String(u ?? x), 16));
  });
}

export interface LineFormat {
  /** Of one connection. `place` begins the place of its rejected rows, a colon and the line's number follow. */
  decoder(place: string, target: { readonly bytes: number; readonly rows: number }): RecordDecoder;
  /** True: an empty line would be a row, and must be taken out before. */
  readonly keepsBlank: boolean;
}

export function lineFormat(o: ReaderOptions): LineFormat {
  const columns = columnSpecs(o.column);
  if (o.parse === 'text' && columns === null) {
    return { decoder: (place) => new WholeLineDecoder(place), keepsBlank: false };
  }
  const format =
    o.parse === 'json'
      ? jsonLinesFormat(columns)
      : delimitedFormat({
          dialect: {
            delimiter: Buffer.from(spelledOut(o.fieldDelimiter)),
            quote: null,
            escape: null,
            nullText: Buffer.from(o.nullFormat),
          },
          header: false,
          columns,
        });
  const head = { names: null, width: 0, body: { offset: 0, line: 1 } };
  return {
    decoder: (place, target) => format.decoder(head, { place, from: null, target, columns: null }),
    keepsBlank: o.parse === 'text' && (columns ?? []).filter(isField).length === 1,
  };
}

const isField = (c: ColumnSpec): boolean => c.value === null;

/** Names of the columns, in order. */
export function columnNames(o: ReaderOptions): readonly string[] {
  const columns = columnSpecs(o.column);
  if (columns === null) return [o.parse === 'json' ? 'json' : 'message'];
  return columns.map((c, i) => c.name ?? `f${String(c.index ?? i)}`);
}

/** What the schema alone cannot say. */
export function check(o: ReaderOptions): readonly Finding[] {
  const findings: Finding[] = [];
  const say = (path: string, message: string, hint: string): void => void findings.push({ path, message, hint });
  if (parseAddress(o.address) === null) {
    say('address', `\`${o.address}\` is no host:port`, 'Write it as localhost:9000, or [::1]:9000.');
  }
  if (lineEncoding(o.encoding) === null) {
    say('encoding', `encoding \`${o.encoding}\` is not known`, encodingHint(o.encoding));
  }
  const delimiter = spelledOut(o.fieldDelimiter);
  if (/[\r\n]/.test(delimiter)) {
    say('fieldDelimiter', 'a line end cannot be the delimiter, as it ends the row', 'Take another one.');
  }
  if (/[\r\n]/.test(o.nullFormat) || o.nullFormat.includes(delimiter)) {
    say('nullFormat', 'the null format holds the delimiter or a line end', 'No field can ever be that text.');
  }
  return [...findings, ...checkColumns(o)];
}

function checkColumns(o: ReaderOptions): readonly Finding[] {
  const findings: Finding[] = [];
  const names = new Set<string>();
  const say = (path: string, message: string, hint: string): void => void findings.push({ path, message, hint });
  o.column.forEach((c, i) => {
    const at = `column[${String(i)}]`;
    const entry = typeof c === 'string' ? { name: c } : c;
    const { name, index, value, format } = { index: undefined, value: null, format: undefined, ...entry };
    if (name === '*' && o.column.length > 1) say(at, '`*` stands beside other columns', 'Name all columns, or none.');
    if (name === undefined && index === undefined) say(at, 'the column has neither name nor index', 'Give it a name.');
    if (name !== undefined && names.has(name)) say(at, `the column \`${name}\` stands here twice`, 'Rename one.');
    if (name !== undefined) names.add(name);
    if (typeof c === 'string') return;
    const type = parseType(c.type ?? 'string');
    if (type === null) {
      say(`${at}.type`, `\`${String(c.type)}\` is no type`, 'Use string, bigint, decimal(p,s), date …');
      return;
    }
    if (typeof value === 'string' && canonicalCell(type, value) === null) {
      say(`${at}.value`, `\`${value}\` is not a valid ${String(c.type)}`, 'Write it in its plain form.');
    }
    if (format === undefined) return;
    if (!['date', 'time', 'datetime', 'timestamp', 'year'].includes(type.is)) {
      say(`${at}.format`, 'a format is for date and time types', 'Give the column such a type.');
    } else if (!isDatePattern(format)) {
      say(`${at}.format`, `\`${format}\` is no date pattern`, 'Use yyyy MM dd HH mm ss S and plain characters.');
    }
  });
  return findings;
}
