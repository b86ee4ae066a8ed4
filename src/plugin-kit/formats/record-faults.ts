import { SyncError } from '../../plugin-api/index.js';

/** A record that is still open after this many bytes is taken for a quote that someone forgot to close. */
export const MAX_RECORD_BYTES = 64 << 20;

/** A place in a file whose bytes are, or were decoded to, UTF-8. */
export function byteOf(offset: number, encoding: string | null): string {
  return `byte ${String(offset)}${encoding === null ? '' : ' of the decoded text'}`;
}

/** Ends `the record …`. Rows that a decoder of encodings could not decode are not UTF-8 either: it sees to that. */
export const notInEncoding = (encoding: string | null): string => `is not valid ${encoding ?? 'UTF-8'}`;

export function neverClosed(file: string, line: number): SyncError {
  const place = `${file}:${String(line)}`;
  return new SyncError('SOURCE_FORMAT', `the quote that opens in ${place} is never closed`, {
    place,
    hint: 'Close it, double it if it is data, or set quoteChar to what the file uses.',
  });
}

/** `openQuote`: the line where a quote opened that is not closed yet; 0: none is open. */
export function recordTooLarge(file: string, openQuote: number, line: number): SyncError {
  const place = `${file}:${String(openQuote || line)}`;
  const why = openQuote > 0 ? 'the quote that opens here is not closed within' : 'the record is longer than';
  return new SyncError('ROW_TOO_LARGE', `${place}: ${why} ${String(MAX_RECORD_BYTES >> 20)} MiB`, {
    place,
    hint: 'Look for a quote that is never closed, or for a wrong fieldDelimiter or quoteChar.',
  });
}
