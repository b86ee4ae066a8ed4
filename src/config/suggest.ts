import leven from 'leven';

/**
 * The nearest of the known words, or null where none is near enough to be what was meant. Two letters that changed
 * places count as two steps.
 */
export function nearest(word: string, known: readonly string[]): string | null {
  const w = word.toLowerCase();
  const limit = w.length < 4 ? 1 : Math.max(2, Math.floor(w.length / 3));
  let best: string | null = null;
  let bestDistance = limit + 1;
  for (const k of known) {
    const d = leven(w, k.toLowerCase(), { maxDistance: limit + 1 });
    if (d < bestDistance) {
      bestDistance = d;
      best = k;
    }
  }
  return best;
}

/** `did you mean "x"?`, else the list of known words where it is short, else null. */
export function suggestion(word: string, known: readonly string[], what: string): string | null {
  const near = nearest(word, known);
  if (near !== null) return `did you mean ${JSON.stringify(near)}?`;
  if (known.length === 0 || known.length > 24) return null;
  return `known ${what}: ${[...known].sort().join(', ')}`;
}
