import leven from 'leven';

/** The known name that a typo most likely means, or null. Two letters that changed places count as two steps. */
export function nearestName(word: string, known: readonly string[]): string | null {
  const limit = word.length < 4 ? 1 : Math.max(2, Math.floor(word.length / 3));
  const scored = known.map((name) => ({ name, distance: leven(word, name) })).sort((a, b) => a.distance - b.distance);
  const best = scored[0];
  return best && best.distance <= limit ? best.name : null;
}
