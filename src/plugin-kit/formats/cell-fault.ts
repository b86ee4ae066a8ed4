/** Longest piece of a cell that a message quotes, in bytes. */
const SHOWN = 60;

/** Why `data[start .. end]` is dirty in a column of the type `type` (as `formatType` writes it). */
export function notOfType(type: string, data: Buffer, start: number, end: number): string {
  const text = data.toString('utf8', start, Math.min(end, start + SHOWN)) + (end - start > SHOWN ? '…' : '');
  return `\`${text}\` is not a valid ${type}`;
}
