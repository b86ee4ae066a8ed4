import { ExprError } from './faults.js';
import { tokenize, type Token } from './tokens.js';

export type Compare = '=' | '<>' | '<' | '<=' | '>' | '>=';
export type Arithmetic = '+' | '-' | '*' | '/' | '%';

/** `at` is where the node stands in the expression, for messages. */
export type Expr =
  | { readonly is: 'number'; readonly at: number; readonly text: string }
  | { readonly is: 'text'; readonly at: number; readonly text: string }
  | { readonly is: 'bool'; readonly at: number; readonly value: boolean }
  | { readonly is: 'null'; readonly at: number }
  | { readonly is: 'column'; readonly at: number; readonly name: string }
  | { readonly is: 'call'; readonly at: number; readonly name: string; readonly args: readonly Expr[] }
  | { readonly is: 'minus' | 'not'; readonly at: number; readonly of: Expr }
  | {
      readonly is: 'arithmetic';
      readonly at: number;
      readonly op: Arithmetic;
      readonly left: Expr;
      readonly right: Expr;
    }
  | { readonly is: 'compare'; readonly at: number; readonly op: Compare; readonly left: Expr; readonly right: Expr }
  | { readonly is: 'and' | 'or'; readonly at: number; readonly left: Expr; readonly right: Expr }
  | { readonly is: 'isNull'; readonly at: number; readonly of: Expr }
  | { readonly is: 'like'; readonly at: number; readonly of: Expr; readonly pattern: Expr }
  | { readonly is: 'in'; readonly at: number; readonly of: Expr; readonly list: readonly Expr[] };

const KEYWORDS = new Set(['and', 'or', 'not', 'is', 'in', 'between', 'like', 'null', 'true', 'false']);
const COMPARE: Readonly<Record<string, Compare>> = {
  '=': '=',
  '<>': '<>',
  '!=': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};
/** Deeper expressions are refused: the parser and what it makes recurse. */
const MOST_DEPTH = 200;
/** So are longer ones: a chain of operators is as deep as it is long. */
const MOST_TOKENS = 4000;

class Parser {
  readonly #tokens: readonly Token[];
  #i = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  #peek(ahead = 0): Token {
    const last = this.#tokens.length - 1;
    return this.#tokens[Math.min(this.#i + ahead, last)] ?? { is: 'end', text: '', at: 0 };
  }

  #next(): Token {
    const t = this.#peek();
    this.#i++;
    return t;
  }

  #isWord(word: string, ahead = 0): boolean {
    const t = this.#peek(ahead);
    return t.is === 'name' && t.text.toLowerCase() === word;
  }

  #isSymbol(symbol: string): boolean {
    const t = this.#peek();
    return t.is === 'symbol' && t.text === symbol;
  }

  #eatWord(word: string): boolean {
    const found = this.#isWord(word);
    if (found) this.#i++;
    return found;
  }

  #eatSymbol(symbol: string): boolean {
    const found = this.#isSymbol(symbol);
    if (found) this.#i++;
    return found;
  }

  #expect(symbol: string): void {
    if (!this.#eatSymbol(symbol)) this.#unexpected(`${JSON.stringify(symbol)} is expected here`);
  }

  #unexpected(wanted: string): never {
    const t = this.#peek();
    if (t.is === 'end') throw new ExprError(`the expression ends too early: ${wanted}`, t.at);
    throw new ExprError(`${wanted}, not ${JSON.stringify(t.text)}`, t.at);
  }

  whole(): Expr {
    const e = this.#or();
    if (this.#peek().is !== 'end') this.#unexpected('an operator or the end is expected here');
    return e;
  }

  #or(): Expr {
    if (++this.#depth > MOST_DEPTH) throw new ExprError('the expression is nested too deeply', this.#peek().at);
    let left = this.#and();
    while (this.#isWord('or')) {
      const { at } = this.#next();
      left = { is: 'or', at, left, right: this.#and() };
    }
    this.#depth--;
    return left;
  }

  #and(): Expr {
    let left = this.#not();
    while (this.#isWord('and')) {
      const { at } = this.#next();
      left = { is: 'and', at, left, right: this.#not() };
    }
    return left;
  }

  #not(): Expr {
    if (!this.#isWord('not')) return this.#predicate();
    const { at } = this.#next();
    if (++this.#depth > MOST_DEPTH) throw new ExprError('the expression is nested too deeply', at);
    const of = this.#not();
    this.#depth--;
    return { is: 'not', at, of };
  }

  #predicate(): Expr {
    const left = this.#sum();
    const t = this.#peek();
    const op = t.is === 'symbol' ? COMPARE[t.text] : undefined;
    if (op !== undefined) {
      this.#i++;
      const e: Expr = { is: 'compare', at: t.at, op, left, right: this.#sum() };
      const after = this.#peek();
      if (after.is === 'symbol' && COMPARE[after.text] !== undefined)
        throw new ExprError('comparisons cannot be chained', after.at, 'join two of them by "and"');
      return e;
    }
    if (this.#eatWord('is')) {
      const not = this.#eatWord('not');
      if (!this.#eatWord('null')) this.#unexpected('"null" is expected here');
      return negated(not, { is: 'isNull', at: t.at, of: left });
    }
    const not =
      this.#isWord('not') && ['in', 'between', 'like'].some((w) => this.#isWord(w, 1)) && this.#eatWord('not');
    if (this.#eatWord('in')) return negated(not, { is: 'in', at: t.at, of: left, list: this.#list() });
    if (this.#eatWord('like')) return negated(not, { is: 'like', at: t.at, of: left, pattern: this.#sum() });
    if (this.#eatWord('between')) {
      const low = this.#sum();
      if (!this.#eatWord('and')) this.#unexpected('"and" is expected here');
      const high = this.#sum();
      const from: Expr = { is: 'compare', at: t.at, op: '>=', left, right: low };
      const to: Expr = { is: 'compare', at: t.at, op: '<=', left, right: high };
      return negated(not, { is: 'and', at: t.at, left: from, right: to });
    }
    return left;
  }

  #list(): readonly Expr[] {
    this.#expect('(');
    const list = [this.#sum()];
    while (this.#eatSymbol(',')) list.push(this.#sum());
    this.#expect(')');
    return list;
  }

  #sum(): Expr {
    let left = this.#product();
    while (this.#isSymbol('+') || this.#isSymbol('-')) {
      const { at, text } = this.#next();
      left = { is: 'arithmetic', at, op: text as Arithmetic, left, right: this.#product() };
    }
    return left;
  }

  #product(): Expr {
    let left = this.#unary();
    while (this.#isSymbol('*') || this.#isSymbol('/') || this.#isSymbol('%')) {
      const { at, text } = this.#next();
      left = { is: 'arithmetic', at, op: text as Arithmetic, left, right: this.#unary() };
    }
    return left;
  }

  #unary(): Expr {
    const minus = this.#isSymbol('-');
    if (!minus && !this.#isSymbol('+')) return this.#primary();
    const { at } = this.#next();
    if (++this.#depth > MOST_DEPTH) throw new ExprError('the expression is nested too deeply', at);
    const of = this.#unary();
    this.#depth--;
    if (!minus) return of;
    return of.is === 'number' && !of.text.startsWith('-')
      ? { ...of, at, text: `-${of.text}` }
      : { is: 'minus', at, of };
  }

  #primary(): Expr {
    const t = this.#peek();
    switch (t.is) {
      case 'number':
        this.#i++;
        return { is: 'number', at: t.at, text: t.text };
      case 'text':
        this.#i++;
        return { is: 'text', at: t.at, text: t.text };
      case 'column':
        this.#i++;
        return { is: 'column', at: t.at, name: t.text };
      case 'name':
        return this.#name(t);
      case 'symbol':
        if (!this.#eatSymbol('(')) break;
        {
          const e = this.#or();
          this.#expect(')');
          return e;
        }
      case 'end':
        break;
    }
    return this.#unexpected('a value is expected here');
  }

  #name(t: Token): Expr {
    const word = t.text.toLowerCase();
    if (word === 'true' || word === 'false') {
      this.#i++;
      return { is: 'bool', at: t.at, value: word === 'true' };
    }
    if (word === 'null') {
      this.#i++;
      return { is: 'null', at: t.at };
    }
    if (KEYWORDS.has(word)) this.#unexpected('a value is expected here');
    this.#i++;
    if (!this.#eatSymbol('(')) return { is: 'column', at: t.at, name: t.text };
    const args: Expr[] = [];
    if (!this.#eatSymbol(')')) {
      do args.push(this.#or());
      while (this.#eatSymbol(','));
      this.#expect(')');
    }
    return { is: 'call', at: t.at, name: t.text, args };
  }
}

function negated(not: boolean, e: Expr): Expr {
  return not ? { is: 'not', at: e.at, of: e } : e;
}

/** @throws ExprError */
export function parseExpr(source: string): Expr {
  const tokens = tokenize(source);
  if (tokens.length === 1) throw new ExprError('the expression is empty', 0);
  const far = tokens[MOST_TOKENS];
  if (far) throw new ExprError('the expression is too long', far.at);
  return new Parser(tokens).whole();
}

/** Every node below and with this one. */
export function* nodesOf(e: Expr): Generator<Expr> {
  yield e;
  switch (e.is) {
    case 'call':
      for (const a of e.args) yield* nodesOf(a);
      break;
    case 'minus':
    case 'not':
    case 'isNull':
      yield* nodesOf(e.of);
      break;
    case 'arithmetic':
    case 'compare':
    case 'and':
    case 'or':
      yield* nodesOf(e.left);
      yield* nodesOf(e.right);
      break;
    case 'like':
      yield* nodesOf(e.of);
      yield* nodesOf(e.pattern);
      break;
    case 'in':
      yield* nodesOf(e.of);
      for (const a of e.list) yield* nodesOf(a);
      break;
    default:
      break;
  }
}
