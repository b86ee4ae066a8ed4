/** Patterns for what the walk over the options takes besides a value's own type: see option-walk.ts. */
import type { SchemaNode } from '../schema.js';

/** A text with `${…}` in it may become anything. */
export const PARAMETER = String.raw`\$\{`;
const INTEGER = String.raw`^\s*[+-]?\d+\s*$`;
const NUMBER = String.raw`^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$`;
const BOOLEAN = String.raw`^\s*(?:[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])\s*$`;
const DURATION = String.raw`^\s*\d+\s*(?:ms|s|min|m|h|d)\s*$`;

/** What a text may be where these types are wanted, text not being one of them. */
export function textsFor(types: readonly string[], unit: string | undefined): readonly string[] {
  const number = types.includes('number');
  return [
    ...(number ? [NUMBER] : types.includes('integer') ? [INTEGER] : []),
    ...(unit === 'ms' || unit === 's' ? [DURATION] : []),
    ...(types.includes('boolean') ? [BOOLEAN] : []),
  ];
}

/** Any of the words, in any case, with white space around it. `extra`: patterns that may follow a word. */
export function anyCase(words: readonly string[], extra: readonly string[] = []): string {
  const all = [...new Set(words.map((w) => w.trim().toLowerCase()))].map(letters);
  return String.raw`^\s*(?:${[...all, ...extra].join('|')})\s*$`;
}

function letters(word: string): string {
  return Array.from(word, (c) => {
    const forms = [...new Set([c, c.toUpperCase()])].filter((f) => Array.from(f).length === 1);
    // U+212A, the sign of Kelvin, is a k in lower case.
    if (c === 'k') forms.push('\u212A');
    return forms.length > 1 ? `[${forms.join('')}]` : c.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  }).join('');
}

export interface Words {
  /** The values that the option really has. */
  readonly values: readonly unknown[] | null;
  /** Other texts that mean one of them, each once whatever its case. */
  readonly others: readonly string[];
  /** Numbers and booleans that are written as one of the words. */
  readonly literals: readonly unknown[];
  readonly all: readonly string[];
}

/** The fixed words of an option; null: it has none. */
export function wordsOf(s: SchemaNode): Words | null {
  const values = s.enum ?? (s.const === undefined ? null : [s.const]);
  const spelled = Object.keys(s['x-values'] ?? {});
  if (values === null && spelled.length === 0) return null;
  const main = (values ?? []).filter((v) => typeof v === 'string');
  const known = new Set(main.map((v) => v.toLowerCase()));
  const others: string[] = [];
  for (const word of spelled) {
    const low = word.trim().toLowerCase();
    if (known.has(low)) continue;
    known.add(low);
    others.push(word);
  }
  const all = [...main, ...others];
  return { values, others, literals: all.flatMap(literalOf), all };
}

function literalOf(word: string): readonly unknown[] {
  const low = word.trim().toLowerCase();
  if (!/^(?:true|false|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/.test(low)) return [];
  const value: unknown = low === 'true' ? true : low === 'false' ? false : Number(low);
  return [value];
}
