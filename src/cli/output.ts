import type { SyncError } from '../plugin-api/index.js';

export type OutputForm = 'text' | 'json';

/** What tells a failure: what the message lists, a line each, then as the last line `sync: CODE: message (place); hint`. */
export function renderError(e: Pick<SyncError, 'code' | 'message' | 'place' | 'hint'>): string {
  const place = e.place === undefined ? '' : ` (${e.place})`;
  const hint = e.hint === undefined ? '' : `; ${e.hint}`;
  const [first = '', ...list] = e.message.split(/[\r\n]+/);
  return [...list, `sync: ${e.code}: ${first.trimEnd()}${place}${hint.replace(/\s*[\r\n]+\s*/g, ' ')}`].join('\n');
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
