/** Keeps secrets out of texts that others wrote: a driver's error, a log line, the reason of a dirty row. */
export type Redact = (text: string) => string;

/** Shorter ones would take ordinary words apart; the schema alone keeps them in. */
const SHORTEST = 4;

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Replaces each secret by `***`, also where JSON or a URL has escaped it. */
export function redactor(secrets: readonly string[]): Redact {
  const forms = secrets
    .filter((s) => s.length >= SHORTEST)
    // A driver's text may hold JSON, and the log puts that text into JSON again.
    .flatMap((s) => [s, escaped(s), escaped(escaped(s)), encodeURIComponent(s)]);
  if (forms.length === 0) return (text) => text;
  const all = [...new Set(forms)].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(all.map((s) => s.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g');
  return (text) => text.replace(pattern, '***');
}
