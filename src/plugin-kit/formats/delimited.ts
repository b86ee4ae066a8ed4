import { isUtf8 } from 'node:buffer';
import { SyncError } from '../../plugin-api/index.js';
import type { WantedColumn } from './column-spec.js';
import { CsvDecoder } from './csv-decoder.js';
import { bomLength, type CsvDialect } from './csv-dialect.js';
import { readCsvRecord, skipBlankLines } from './csv-record.js';
import { fieldPlan, hasStar, starNames } from './field-plan.js';
import type { FileFormat, FileHead, TextLabel } from './record-decoder.js';
import { MAX_RECORD_BYTES, notInEncoding } from './record-faults.js';

export interface DelimitedOptions extends TextLabel {
  readonly dialect: CsvDialect;
  /** The first line names the columns. */
  readonly header: boolean;
  /** Null: all columns. */
  readonly columns: readonly WantedColumn[] | null;
}

/** A header with replaced characters would name columns that the file does not have. */
function notText(bytes: Buffer, place: string, encoding: string | null): SyncError {
  const mark = encoding === null ? bytes.subarray(0, 2).toString('hex') : '';
  const utf16 = mark === 'fffe' || mark === 'feff';
  const message = `the header in ${place} ${notInEncoding(encoding)}${utf16 ? ': the file is UTF-16' : ''}`;
  return new SyncError('SOURCE_FORMAT', message, {
    place,
    hint: utf16 ? 'Set encoding to utf-16.' : 'Set encoding to what the file is in: gbk, windows-1252 …',
  });
}

function readHead(bytes: Buffer, last: boolean, place: string, options: DelimitedOptions): FileHead | null {
  const bom = bomLength(bytes, last);
  if (bom === null) return null;
  if (bytes.length > MAX_RECORD_BYTES) {
    throw new SyncError('ROW_TOO_LARGE', `the first record of ${place} does not end within 64 MiB`, {
      place: `${place}:1`,
      hint: 'Look for a quote that is never closed in its first line.',
    });
  }
  const start = skipBlankLines(bytes, bom, last);
  if (start === null) return null;
  const line = 1 + start.lines;
  const first = start.next < bytes.length ? readCsvRecord(bytes, start.next, last, options.dialect, place, line) : null;
  if (first === null) {
    // Only empty lines so far; if nothing else comes, they are rows of one empty field.
    if (!last) return null;
    if (options.header) return { names: null, width: 0, body: { offset: bytes.length, line: 1 } };
    return { names: null, width: bytes.length > bom ? 1 : 0, body: { offset: bom, line: 1 } };
  }
  const { fields } = first;
  if (!options.header) return { names: null, width: fields.length, body: { offset: bom, line: 1 } };
  if (!isUtf8(bytes.subarray(bom, first.next))) {
    throw notText(bytes, `${place}:${String(line)}`, options.encoding ?? null);
  }
  const twice = fields.find((name, i) => fields.indexOf(name) !== i);
  if (twice !== undefined) {
    throw new SyncError('SOURCE_FORMAT', `the header of ${place} has the name \`${twice}\` twice`, {
      place: `${place}:${String(line)}`,
      hint: 'Give every column a name of its own, or read without isFirstLineHeader and pick columns by index.',
    });
  }
  return { names: fields, width: fields.length, body: { offset: first.next, line: line + first.lines } };
}

/** CSV, or (without a quote in the dialect) delimited text. */
export function delimitedFormat(options: DelimitedOptions): FileFormat {
  return {
    head: (bytes, last, place) => readHead(bytes, last, place, options),
    starColumns: (head) => (hasStar(options.columns) && head.width > 0 ? starNames(head) : null),
    decoder: (head, o) =>
      new CsvDecoder(options.dialect, fieldPlan(options.columns, head, o), o.from ?? head.body, {
        ...o,
        encoding: options.encoding ?? null,
      }),
  };
}
