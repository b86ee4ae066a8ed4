import { ExprError } from './faults.js';

export interface Token {
  /** `name`: a word that may be a column, function or keyword; `column`: a quoted name, which is a column only. */
  readonly is: 'number' | 'text' | 'name' | 'column' | 'symbol' | 'end';
  /** Of quoted tokens what they hold. */
  readonly text: string;
  readonly at: number;
}

const SPACE = /\s+/y;
const NUMBER = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?/y;
const NAME = /[\p{L}_][\p{L}\p{M}\p{N}_$]*/uy;
const SYMBOL = /<=|>=|<>|!=|\|\||&&|==|[-+*/%(),=<>]/y;

const INSTEAD: Readonly<Record<string, string>> = {
  '||': 'write "or", or concat(a, b) for texts',
  '&&': 'write "and"',
  '==': 'write "="',
};

function match(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

/** A quoted token from `at`; the quote itself is written twice inside. */
function quoted(source: string, at: number, quote: string): { readonly text: string; readonly end: number } {
  let text = '';
  for (let i = at + 1; ;) {
    const close = source.indexOf(quote, i);
    if (close < 0) throw new ExprError(`the ${quote} is not closed`, at);
    text += source.slice(i, close);
    if (source[close + 1] !== quote) return { text, end: close + 1 };
    text += quote;
    i = close + 2;
  }
}

export function tokenize(source: string): readonly Token[] {
  const out: Token[] = [];
  let at = 0;
  while (at < source.length) {
    const space = match(SPACE, source, at);
    if (space !== null) {
      at += space.length;
      continue;
    }
    const c = source[at] ?? '';
    if (c === "'" || c === '"' || c === '`') {
      const q = quoted(source, at, c);
      if (c !== "'" && q.text === '') throw new ExprError('a column name is empty', at);
      out.push({ is: c === "'" ? 'text' : 'column', text: q.text, at });
      at = q.end;
      continue;
    }
    const number = match(NUMBER, source, at);
    const name = number === null ? match(NAME, source, at) : null;
    const symbol = name === null && number === null ? match(SYMBOL, source, at) : null;
    const text = number ?? name ?? symbol;
    if (text === null) {
      const shown = String.fromCodePoint(source.codePointAt(at) ?? 0);
      throw new ExprError(
        `${JSON.stringify(shown)} has no meaning here`,
        at,
        'names with other characters stand in `…`',
      );
    }
    const instead = symbol === null ? undefined : INSTEAD[symbol];
    if (instead !== undefined) throw new ExprError(`${JSON.stringify(text)} is no operator`, at, instead);
    out.push({ is: number !== null ? 'number' : name !== null ? 'name' : 'symbol', text, at });
    at += text.length;
  }
  out.push({ is: 'end', text: '', at: source.length });
  return out;
}
