import type { SyncError } from '../plugin-api/index.js';

export type OutputForm = 'text' | 'json';

/**
 * What tells a failure: its last line is `sync: CODE: message (place); hint`. The further lines of a message (examples of
 * dirty rows, lanes in doubt) stand above it, each on its own.
 */
export function renderError(e: Pick<SyncError, 'code' | 'message' | 'place' | 'hint'>): string {
  const place = e.place === undefined ? '' : ` (${e.place})`;
  const hint = e.hint === undefined ? '' : `; ${e.hint}`;
  const [first = '', ...more] = e.message.split(/\s*[\r\n]+/);
  const last = `sync: ${e.code}: ${first}${place}${hint}`.replace(/\s*[\r\n]+\s*/g, ' ');
  return [...more.filter((l) => l.trim() !== ''), last].join('\n');
}

export function printResult(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function printNote(line: string): void {
  process.stderr.write(`${line}\n`);
}

export function onTerminal(): boolean {
  return process.stderr.isTTY && process.env['TERM'] !== 'dumb';
}
