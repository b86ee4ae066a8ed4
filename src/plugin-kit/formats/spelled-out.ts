const NAMED: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '\\': '\\', '0': '\0' };

/** Job files spell control characters out, sometimes with the backslash itself escaped: `\t`, `\u0001`, `\x01`, `\001`. */
export function spelledOut(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-3][0-7]{2})|([tnr\\0]))/g, (_, u, x, o, c) => {
    if (c !== undefined) return NAMED[String(c)] ?? '';
    return String.fromCharCode(o !== undefined ? parseInt(String(o), 8) : parseInt(String(u ?? x), 16));
  });
}
