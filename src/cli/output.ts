import type { SyncError } from '../plugin-api/index.js';

export type OutputForm = 'text' | 'json';

/** What tells a failure: `sync: CODE: message (place); hint`, and on lines of their own what the message lists. */
export function renderError(e: Pick<SyncError, 'code' | 'message' | 'place' | 'hint'>): string {
  const place = e.place === undefined ? '' : ` (${e.place})`;
  const hint = e.hint === undefined ? '' : `; ${e.hint}`;
  const [first = '', ...list] = e.message.split(/[\r\n]+/);
  return [`sync: ${e.code}: ${first.trimEnd()}${place}${hint.replace(/\s*[\r\n]+\s*/g, ' ')}`, ...list].join('\n');
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
