import type { SyncError } from '../plugin-api/index.js';

export type OutputForm = 'text' | 'json';

/** The one line that tells a failure: `sync: CODE: message (place); hint`. */
export function renderError(e: Pick<SyncError, 'code' | 'message' | 'place' | 'hint'>): string {
  const place = e.place === undefined ? '' : ` (${e.place})`;
  const hint = e.hint === undefined ? '' : `; ${e.hint}`;
  return `sync: ${e.code}: ${e.message}${place}${hint}`.replace(/\s*[\r\n]+\s*/g, ' ');
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
