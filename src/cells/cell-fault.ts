/** Longest piece of a cell that a message quotes, in bytes. */
const SHOWN = 60;

const OFFSET = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d(?::?\d\d)?)$/;

/** Why `data[start .. end]` is dirty in a column of the type `type` (as `formatType` writes it). */
export function notOfType(type: string, data: Buffer, start: number, end: number): string {
  const text = data.toString('utf8', start, Math.min(end, start + SHOWN)) + (end - start > SHOWN ? '…' : '');
  const hint =
    type.startsWith('datetime') && OFFSET.test(text.replaceAll('"', ''))
      ? '; a datetime is of no time zone: read times with an offset as timestamp'
      : '';
  return `\`${text}\` is not a valid ${type}${hint}`;
}
