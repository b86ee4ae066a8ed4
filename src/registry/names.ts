import type { Kind } from './load-definition.js';

/** What job files may say after a plugin's name. */
export const SUFFIXES: Readonly<Record<Kind, readonly string[]>> = {
  reader: ['reader', 'source'],
  writer: ['writer', 'sink'],
};

/** The names that a word may stand for where a reader or writer is wanted. */
export function bareNames(kind: Kind, wanted: string): readonly string[] {
  return [wanted, ...SUFFIXES[kind].filter((s) => wanted.endsWith(s)).map((s) => wanted.slice(0, -s.length))];
}
