import { isUtf8 } from 'node:buffer';
import {
  internSchema,
  type BatchBuilder,
  type ColumnInit,
  type Finding,
  type LogicalType,
  type RowSchema,
} from 'syncx/plugin-api';
import {
  checkColumns,
  columnSpecs,
  isSpec,
  delimitedFormat,
  encodingHint,
  hasStar,
  jsonLinesFormat,
  showBytes,
  spelledOut,
  unnamed,
  type ColumnSpec,
  type WantedColumn,
  type DecodeState,
  type RecordDecoder,
  type RecordPoint,
} from 'syncx/plugin-kit';
import { parseAddress } from './address.js';
import { lineEncoding } from './encoding.js';
import type { ReaderOptions } from './options.js';

const LF = 10;
const CR = 13;

const MESSAGE: LogicalType = { is: 'string' };

/** The column that `*` means. */
const wholeLine = (o: ReaderOptions): string => (o.parse === 'json' ? 'json' : 'message');

/** The whole line as one cell, beside which there may be constants. Empty lines are no rows. */
class WholeLineDecoder implements RecordDecoder {
  readonly schema: RowSchema;
  readonly #place: string;
  /** The cells of a row; null: the line. */
  readonly #cells: readonly (Buffer | null)[];
  #block: Uint8Array = new Uint8Array();
  #at = 0;
  #line = 1;
  #clean = true;

  constructor(place: string, columns: readonly WantedColumn[]) {
    this.#place = place;
    this.#cells = columns.map((c) => (isSpec(c) ? Buffer.from(c.value ?? '') : null));
    this.schema = internSchema(
      columns.map((c, i): ColumnInit =>
        isSpec(c) ? { name: nameOf(c, i), type: c.type } : { name: 'message', type: MESSAGE },
      ),
    );
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
      for (const cell of this.#cells) {
        if (cell === null) builder.appendBytes(this.#block, from, to);
        else builder.appendBytes(cell);
      }
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

export interface LineFormat {
  /** Of one connection. `place` begins the place of its rejected rows, a colon and the line's number follow. */
  decoder(place: string, target: { readonly bytes: number; readonly rows: number }): RecordDecoder;
  /** True: an empty line would be a row, and must be taken out before. */
  readonly keepsBlank: boolean;
}

export function lineFormat(o: ReaderOptions): LineFormat {
  const columns = columnSpecs(o.column);
  if (o.parse === 'text' && hasStar(columns)) {
    const whole = columns ?? (['*'] as const);
    return { decoder: (place) => new WholeLineDecoder(place, whole), keepsBlank: false };
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

const isField = (c: WantedColumn): boolean => isSpec(c) && c.value === null;

const nameOf = (c: ColumnSpec, i: number): string => c.name ?? unnamed(c.index ?? i);

/** Names of the columns, in order. */
export function columnNames(o: ReaderOptions): readonly string[] {
  const columns = columnSpecs(o.column) ?? (['*'] as const);
  return columns.map((c, i) => (isSpec(c) ? nameOf(c, i) : wholeLine(o)));
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
  return [...findings, ...checkColumns(o.column, { json: o.parse === 'json', star: wholeLine(o) })];
}
