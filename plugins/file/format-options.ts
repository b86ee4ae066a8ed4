import type { Finding } from 'syncx/plugin-api';
import { encodingHint, encodingName, spelledOut, type CsvDialect } from 'syncx/plugin-kit';

/** The options that say how bytes are laid out, as both schemas have them. */
export interface FormatOptions {
  readonly fileType: 'csv' | 'json' | 'text';
  readonly fieldDelimiter: string;
  readonly quoteChar: string;
  readonly escapeChar: string;
  readonly isFirstLineHeader: boolean;
  readonly encoding: string;
  readonly nullFormat: string;
}

const byteOf = (char: string): number | null => (char === '' ? null : (Buffer.from(char)[0] ?? null));

export function csvDialect(o: FormatOptions): CsvDialect & { readonly quote: number } {
  return {
    delimiter: Buffer.from(spelledOut(o.fieldDelimiter)),
    quote: byteOf(spelledOut(o.quoteChar)) ?? 34,
    escape: o.escapeChar === '' || o.escapeChar === o.quoteChar ? null : byteOf(spelledOut(o.escapeChar)),
    nullText: Buffer.from(o.nullFormat),
  };
}

export function textDialect(o: FormatOptions): CsvDialect {
  return {
    delimiter: Buffer.from(spelledOut(o.fieldDelimiter)),
    quote: null,
    escape: null,
    nullText: Buffer.from(o.nullFormat),
  };
}

const isAscii = (char: string): boolean => Buffer.from(char).length === 1 && char !== '\n' && char !== '\r';

/** The layout in words: `csv with a header line, gbk, gzip`. */
export function layoutText(o: FormatOptions, compress: string): string {
  const kind = o.fileType === 'json' ? 'JSON lines' : o.fileType;
  const header = o.isFirstLineHeader && o.fileType !== 'json' ? ' with a header line' : '';
  const rest = [o.encoding, ...(compress === 'none' || compress === 'auto' ? [] : [compress])];
  return `${kind}${header}, ${rest.join(', ')}`;
}

/** What one schema cannot say about the layout options. `encodings`: which of them are known. */
export function checkFormat(o: FormatOptions, encodings: 'utf-8' | 'all' = 'utf-8'): readonly Finding[] {
  const findings: Finding[] = [];
  const say = (path: string, message: string, hint?: string): void => {
    findings.push({ path, message, ...(hint === undefined ? {} : { hint }) });
  };
  const encoding = encodingName(o.encoding);
  if (encoding === null) say('encoding', `encoding \`${o.encoding}\` is not known`, encodingHint(o.encoding));
  else if (encodings === 'utf-8' && encoding !== 'utf-8') {
    say('encoding', `encoding \`${o.encoding}\` is not written yet`, 'Use utf-8; convert the files, say with iconv.');
  }
  if (o.fileType === 'json') {
    if (o.isFirstLineHeader) {
      const message = 'JSON lines have no header line; the option has no effect';
      findings.push({ path: 'isFirstLineHeader', message, level: 'warning' });
    }
    return findings;
  }
  const delimiter = spelledOut(o.fieldDelimiter);
  if (/[\r\n]/.test(delimiter)) say('fieldDelimiter', 'a line end cannot be the delimiter, as it ends the record');
  if (o.fileType === 'text') {
    for (const c of ['\n', '\r']) if (o.nullFormat.includes(c)) say('nullFormat', 'the null format holds a line end');
    if (delimiter !== '' && o.nullFormat.includes(delimiter)) say('nullFormat', 'the null format holds the delimiter');
    return findings;
  }
  const quote = spelledOut(o.quoteChar);
  const escape = spelledOut(o.escapeChar);
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
