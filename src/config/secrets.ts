/** Secrets inside of options that are not secret as a whole: connection URLs, maps of client properties. */

/** Names of properties and URL parameters whose values nobody else may see. */
const SECRET_NAME = /pass(?:word|wd|phrase)?|pwd|secret|token|jaas|credential|private.?key|api.?key|access.?key/i;

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

const USER_INFO = /^((?:[a-z][a-z0-9+.-]*:)+\/\/[^/?#@:]*):([^/?#]*)@/i;
const PARAMETER = /([?&;][^=&;#]*)=([^&;#]*)/g;

/** The URL without the secrets in it: `***` stands in their place. */
export function publicUrl(url: string): string {
  return url
    .replace(USER_INFO, '$1:***@')
    .replace(PARAMETER, (whole, name: string) => (isSecretName(name) ? `${name}=***` : whole));
}

/** The secrets of a URL, as they are written and as they are meant. */
export function secretsOfUrl(url: string): readonly string[] {
  const found = [...url.matchAll(PARAMETER)].filter((m) => isSecretName(m[1] ?? '')).map((m) => m[2] ?? '');
  const password = USER_INFO.exec(url)?.[2];
  if (password !== undefined) found.push(password);
  return found.flatMap((s) => [s, decoded(s)]);
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
