import type { Finding } from 'syncx/plugin-api';
import { checkCsv, encodingHint, encodingName, spelledOut, type CsvDialect, type CsvOptions } from 'syncx/plugin-kit';

/** The options that say how bytes are laid out, as both schemas have them. */
export interface FormatOptions extends CsvOptions {
  readonly fileType: 'csv' | 'json' | 'text';
  readonly isFirstLineHeader: boolean;
  readonly encoding: string;
}

export function textDialect(o: FormatOptions): CsvDialect {
  return {
    delimiter: Buffer.from(spelledOut(o.fieldDelimiter)),
    quote: null,
    escape: null,
    nullText: Buffer.from(o.nullFormat),
  };
}

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
  if (o.fileType === 'csv') return [...findings, ...checkCsv(o)];
  const delimiter = spelledOut(o.fieldDelimiter);
  if (/[\r\n]/.test(delimiter)) say('fieldDelimiter', 'a line end cannot be the delimiter, as it ends the record');
  for (const c of ['\n', '\r']) if (o.nullFormat.includes(c)) say('nullFormat', 'the null format holds a line end');
  if (delimiter !== '' && o.nullFormat.includes(delimiter)) say('nullFormat', 'the null format holds the delimiter');
  return findings;
}
