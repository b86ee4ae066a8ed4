/** Secrets inside of options that are not secret as a whole: connection URLs, maps of client properties. */

/** Names of properties and URL parameters whose values nobody else may see. */
const SECRET = String.raw`(?:pass(?:word|wd|phrase)?|pwd|secret|token|jaas|credential|private.?key|keystore\.key|api.?key|access.?key|signature\b|\bsig\b)`;
const SECRET_NAME = new RegExp(SECRET, 'i');

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

const named = (before: string, inside: string, value: string): RegExp =>
  new RegExp(`(${before}${inside}*?${SECRET}${inside}*=)(${value})`, 'gi');

/**
 * What stands before a secret, and the secret. What people write and not what the standards allow: passwords with `/`, `#`
 * and `@` as they are. A little too much is hidden rather than the end of a password shown.
 */
const PLACES: readonly RegExp[] = [
  // `scheme://user:secret@`; `//host:port/` with an @ further on is none.
  /^((?:[a-z][a-z0-9+.-]*:)+\/\/[^/?#@:[\]]*:)((?!\d{1,5}[/?#,;])[^?\s]*|[^/?#]*|(?!\d{1,5}[/?#,;])\S*)(?=@)/gi,
  // `jdbc:oracle:thin:user/secret@`
  /^(jdbc:oracle:[a-z0-9]+:[^/@]+\/)(.*)(?=@)/gi,
  named('[?&#]', '[^=&;#]', '[^&]*'),
  named(';', '[^=&;#]', String.raw`\{(?:[^}]|\}\})*\}|[^;]*`),
  // `address=(host=h)(password=secret)`
  named(String.raw`\(`, '[^=()]', '[^()]*'),
  // `host=h password=secret`, `Password=secret;Server=h`
  named(String.raw`(?:^|\s)`, String.raw`[^=\s:/]`, String.raw`'(?:[^'\\]|\\.)*'|[^\s;]*`),
];

/** The URL without the secrets in it: `***` stands in their place. */
export function publicUrl(url: string): string {
  return PLACES.reduce((text, place) => text.replace(place, '$1***'), url);
}

/** The secrets of a URL, as they are written and as they are meant. */
export function secretsOfUrl(url: string): readonly string[] {
  return PLACES.flatMap((place) => [...url.matchAll(place)])
    .map((m) => m[2] ?? '')
    .filter((s) => s !== '')
    .flatMap((s) => [s, decoded(s), s.replace(/^[{'"]|[}'"]$/g, '')]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A secret, and what is secret in it: a JAAS line holds a password in quotes. */
export function secretsOfValue(value: string): readonly string[] {
  const quoted = [...value.matchAll(/(\w+)\s*=\s*"((?:[^"\\]|\\.)*)"/g)].filter((m) => isSecretName(m[1] ?? ''));
  return [value, ...quoted.map((m) => m[2] ?? '')];
}
