/** The options of CSV, as every plugin has them. */
import type { Finding } from '../../plugin-api/index.js';
import type { CsvDialect } from './csv-dialect.js';
import { spelledOut } from './spelled-out.js';

export const FIELD_DELIMITER = {
  title: 'Field delimiter',
  description: 'Stands between two fields; one or several characters, also spelled out as \\t, \\u0001 or \\x01.',
  type: 'string',
  minLength: 1,
  default: ',',
  examples: [',', '\\t', '\\u0001', '||'],
} as const;

export const QUOTE_CHAR = {
  title: 'Quote character',
  description: 'Encloses csv fields that hold delimiters, quotes or line ends; inside, it is doubled.',
  type: 'string',
  minLength: 1,
  maxLength: 1,
  default: '"',
  examples: ['"', "'"],
} as const;

export const ESCAPE_CHAR = {
  title: 'Escape character',
  description: 'In csv, takes the character behind it literally, inside and outside of quotes; empty means none.',
  type: 'string',
  maxLength: 1,
  default: '',
  examples: ['\\'],
} as const;

export const NULL_FORMAT = {
  title: 'NULL format',
  description: 'The unquoted text that stands for NULL in csv and text files; a quoted field is never NULL.',
  type: 'string',
  default: '\\N',
  examples: ['\\N', '', 'null'],
} as const;

export interface CsvOptions {
  readonly fieldDelimiter: string;
  readonly quoteChar: string;
  readonly escapeChar: string;
  readonly nullFormat: string;
}

const byteOf = (char: string): number | null => (char === '' ? null : (Buffer.from(char)[0] ?? null));

export function csvDialect(o: CsvOptions): CsvDialect & { readonly quote: number } {
  return {
    delimiter: Buffer.from(spelledOut(o.fieldDelimiter)),
    quote: byteOf(spelledOut(o.quoteChar)) ?? 34,
    escape: o.escapeChar === '' || o.escapeChar === o.quoteChar ? null : byteOf(spelledOut(o.escapeChar)),
    nullText: Buffer.from(o.nullFormat),
  };
}

const isAscii = (char: string): boolean => Buffer.from(char).length === 1 && char !== '\n' && char !== '\r';

/** What the schema cannot say about the four. */
export function checkCsv(o: CsvOptions): readonly Finding[] {
  const findings: Finding[] = [];
  const say = (path: string, message: string, hint?: string): void => {
    findings.push({ path, message, ...(hint === undefined ? {} : { hint }) });
  };
  const delimiter = spelledOut(o.fieldDelimiter);
  const quote = spelledOut(o.quoteChar);
  const escape = spelledOut(o.escapeChar);
  if (/[\r\n]/.test(delimiter)) say('fieldDelimiter', 'a line end cannot be the delimiter, as it ends the record');
  if (!isAscii(quote)) say('quoteChar', 'the quote must be one ASCII character, and no line end');
  if (escape !== '' && !isAscii(escape)) say('escapeChar', 'the escape must be one ASCII character, and no line end');
  if (delimiter.includes(quote)) say('fieldDelimiter', 'the delimiter holds the quote character');
  if (escape !== '' && delimiter.includes(escape)) say('fieldDelimiter', 'the delimiter holds the escape character');
  const bad = [delimiter, quote, '\n', '\r'].find((t) => t !== '' && o.nullFormat.includes(t));
  if (bad !== undefined) {
    say(
      'nullFormat',
      'the null format holds a delimiter, a quote or a line end',
      'An unquoted field can never be that text.',
    );
  }
  return findings;
}
