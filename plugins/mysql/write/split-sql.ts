/**
 * Cuts a text into its statements, at semicolons that stand in no quote, name or comment. By MySQL's rules: backslashes
 * escape in quotes (our sessions have no NO_BACKSLASH_ESCAPES), doubled quotes stand for themselves, `--` needs a blank
 * behind it, `/*! … *\/` is code, and its semicolons do not end a statement. Bodies of procedures and triggers, with BEGIN …
 * END, are one statement of their own: a text that begins with CREATE … BEGIN is not cut.
 * @returns the statements, without blanks around them; a text: what is wrong.
 */
export function splitSql(text: string): readonly string[] | string {
  if (hasBody(text)) return [text.trim().replace(/;+$/, '')];
  const out: string[] = [];
  let from = 0;
  let code = false; // something that is no blank and no comment
  let at = 0;
  const end = (to: number): void => {
    if (code) out.push(text.slice(from, to).trim());
    code = false;
  };
  while (at < text.length) {
    const c = text.charAt(at);
    if (c === "'" || c === '"' || c === '`') {
      const past = pastQuote(text, at);
      if (past < 0) return `a ${c} opens at character ${String(at + 1)} and never closes`;
      at = past;
      code = true;
    } else if (c === '#' || (c === '-' && /^--(?:[\s\0]|$)/.test(text.slice(at, at + 3)))) {
      const line = text.indexOf('\n', at);
      at = line < 0 ? text.length : line + 1;
    } else if (c === '/' && text.charAt(at + 1) === '*') {
      const close = text.indexOf('*/', at + 2);
      if (close < 0) return `a comment opens at character ${String(at + 1)} and never closes`;
      if (/^\/\*M?!/.test(text.slice(at, at + 4))) code = true;
      at = close + 2;
    } else if (c === ';') {
      end(at);
      from = ++at;
    } else {
      if (/\S/.test(c)) code = true;
      at++;
    }
  }
  end(text.length);
  return out;
}

const BODY =
  /^\s*create\s+(?:or\s+replace\s+)?(?:definer\s*=\s*\S+\s+)?(?:aggregate\s+)?(?:procedure|function|trigger|event)\b[\s\S]*\bbegin\b[\s\S]*\bend\b\s*;?\s*$/i;
const hasBody = (text: string): boolean => BODY.test(text) || /^\s*begin\s+not\s+atomic\b/i.test(text);

/** @returns -1 where it never closes. */
function pastQuote(text: string, open: number): number {
  const quote = text.charAt(open);
  for (let at = open + 1; at < text.length; at++) {
    const c = text.charAt(at);
    if (c === '\\' && quote !== '`') at++;
    else if (c === quote) {
      if (text.charAt(at + 1) !== quote) return at + 1;
      at++;
    }
  }
  return -1;
}

/** The first word without comments before it, in lower case. */
export function firstWord(statement: string): string {
  const bare = statement.replace(/^(?:\s+|#[^\n]*\n|--[\s\0][^\n]*\n|\/\*(?!M?!)[\s\S]*?\*\/|\/\*M?!\d*)*/, '');
  return /^[a-z]+/i.exec(bare)?.[0].toLowerCase() ?? '';
}

/** Statements that do not end a transaction by themselves; all others are taken for such that do. */
const PLAIN: ReadonlySet<string> = new Set([
  'insert',
  'update',
  'delete',
  'replace',
  'select',
  'with',
  'do',
  'values',
  'table',
]);

export const isPlainDml = (statement: string): boolean => PLAIN.has(firstWord(statement));
