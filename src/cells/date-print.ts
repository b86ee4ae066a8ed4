const TOKEN = /'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+/g;
const FIELD = /^(?:yyyy|MM?|dd?|HH?|mm?|ss?|S+)$/;
const PARTS = /^(\d{4})-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?$/;

/**
 * Writes a canonical `date`, `datetime` or `timestamp` by the patterns that `datePattern` reads. What the cell lacks is 0;
 * fraction digits beyond the pattern's are cut off.
 *
 * @returns null where the text is no such cell.
 */
export function datePrinter(pattern: string): (cell: string) => string | null {
  const tokens = [...pattern.matchAll(TOKEN)].map(([t]) => t);
  return (cell) => {
    const m = PARTS.exec(cell);
    if (m === null) return null;
    return tokens.map((t) => printed(t, m)).join('');
  };
}

/** What a pattern holds that {@link datePrinter} cannot write: letters that mean nothing, a quote that is not closed; else null. */
export function unprintable(pattern: string): string | null {
  const tokens = [...pattern.matchAll(TOKEN)].map(([t]) => t);
  if (tokens.join('') !== pattern) return "'";
  return tokens.find((t) => /^[A-Za-z]/.test(t) && !FIELD.test(t)) ?? null;
}

function printed(token: string, m: RegExpExecArray): string {
  const short = (i: number): string => String(Number(m[i] ?? '0'));
  switch (token) {
    case 'yyyy':
      return m[1] ?? '';
    case 'MM':
      return m[2] ?? '';
    case 'M':
      return short(2);
    case 'dd':
      return m[3] ?? '';
    case 'd':
      return short(3);
    case 'HH':
      return m[4] ?? '00';
    case 'H':
      return short(4);
    case 'mm':
      return m[5] ?? '00';
    case 'm':
      return short(5);
    case 'ss':
      return m[6] ?? '00';
    case 's':
      return short(6);
    case "''":
      return "'";
    default:
      if (token.startsWith("'")) return token.slice(1, -1).replaceAll("''", "'");
      if (/^S+$/.test(token)) return (m[7] ?? '').padEnd(token.length, '0').slice(0, token.length);
      return token;
  }
}
