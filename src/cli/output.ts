import { isSyncError, type SyncError } from '../plugin-api/index.js';

export type OutputForm = 'text' | 'json';

/** The one line that tells a failure: `sync: CODE: message (place); hint`. */
export function renderError(e: Pick<SyncError, 'code' | 'message' | 'place' | 'hint'>): string {
  const place = e.place === undefined ? '' : ` (${e.place})`;
  const hint = e.hint === undefined ? '' : `; ${e.hint}`;
  return `sync: ${e.code}: ${e.message}${place}${hint}`.replace(/\s*[\r\n]+\s*/g, ' ');
}

/** The messages below an error, outermost first, for the debug level. */
export function causes(e: unknown): readonly string[] {
  const out: string[] = [];
  for (let c: unknown = e; c instanceof Error && out.length < 10; c = c.cause) {
    out.push(isSyncError(c) ? `${c.code}: ${c.message}` : c.message);
  }
  return out;
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
