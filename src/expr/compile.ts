/** Makes closures of an expression, once for each schema. Types are checked here, so that rows need no checks of kind. */
import { arithmetic, negated } from './arithmetic.js';
import { called, constant, logic, number, test1 } from './closures.js';
import { comparison, orderOf } from './compare.js';
import { ExprError } from './faults.js';
import { FUNCTION_NAMES, functionOf, patternFault, type Param } from './functions.js';
import { likeMatcher } from './like.js';
import { asDecimal, toFloat, type Decimal, type Int } from './numbers.js';
import { nodesOf, type Arithmetic, type Compare, type Expr } from './parse.js';
import type { RegexEngine } from './regex.js';
import { isDateLike, isNumber, literalAs, nameOf, type ExprType, type Run, type Typed, type Value } from './types.js';

/** What names mean. `F` is whatever holds the current row. */
export interface Scope<F> {
  /** Null: there is no such column. */
  column(name: string): Typed<F> | null;
  /** For messages. */
  readonly names: readonly string[];
  /** Needed where {@link usesRegex} says so. */
  readonly regex: RegexEngine | null;
}

/** @throws ExprError */
export function compileExpr<F>(e: Expr, scope: Scope<F>): Typed<F> {
  return new Compiler(scope).compile(e);
}

/** True where the expression needs a {@link RegexEngine}. */
export function usesRegex(e: Expr): boolean {
  for (const n of nodesOf(e)) if (n.is === 'call' && n.name.toLowerCase() === 'matches') return true;
  return false;
}

/** Names of the columns that an expression reads. */
export function columnsOf(e: Expr): readonly string[] {
  const names = new Set<string>();
  for (const n of nodesOf(e)) if (n.is === 'column') names.add(n.name);
  return [...names];
}

const KNOWN = `functions: ${[...FUNCTION_NAMES].sort().join(', ')}`;

const FITS: Readonly<Record<Param, (t: ExprType) => boolean>> = {
  text: (t) => t === 'text',
  int: (t) => t === 'int',
  number: isNumber,
  day: isDateLike,
  clock: (t) => t === 'datetime' || t === 'timestamp' || t === 'time',
  scalar: (t) => t !== 'binary',
};
const WANTS: Readonly<Record<Param, string>> = {
  text: 'a text',
  int: 'an integer',
  number: 'a number',
  day: 'a date, datetime or timestamp',
  clock: 'a datetime, timestamp or time',
  scalar: 'a value other than bytes',
};
const HINTS: Readonly<Partial<Record<Param, string>>> = {
  text: 'write text(…) around it',
  int: 'write int(…) around it',
  number: 'write int(…) or decimal(…) around it',
  day: 'write date(…) or datetime(…) around it',
};

class Compiler<F> {
  readonly #scope: Scope<F>;

  constructor(scope: Scope<F>) {
    this.#scope = scope;
  }

  compile(e: Expr): Typed<F> {
    switch (e.is) {
      case 'number':
        return number(e.text, e.at);
      case 'text':
        return constant('text', e.text);
      case 'bool':
        return constant('bool', e.value);
      case 'null':
        return constant('null', null);
      case 'column':
        return this.#column(e.name, e.at);
      case 'minus':
        return negated(this.#number(e.of, '-', e.at));
      case 'arithmetic':
        return this.#arithmetic(e.op, e.left, e.right, e.at);
      case 'compare':
        return this.#compare(e.op, e.left, e.right, e.at);
      case 'not': {
        const of = this.#bool(e.of).run;
        return {
          type: 'bool',
          run: (f) => {
            const v = of(f);
            return v === null ? null : !v;
          },
        };
      }
      case 'and':
      case 'or':
        return logic(e.is, this.#bool(e.left).run, this.#bool(e.right).run);
      case 'isNull': {
        const of = this.compile(e.of).run;
        return { type: 'bool', run: (f) => of(f) === null };
      }
      case 'like':
        return this.#like(e.of, e.pattern, e.at);
      case 'in':
        return this.#in(e.of, e.list);
      case 'call':
        return this.#call(e);
    }
  }

  #column(name: string, at: number): Typed<F> {
    const found = this.#scope.column(name);
    if (found) return found;
    const { names } = this.#scope;
    throw new ExprError(`there is no column ${JSON.stringify(name)}`, at, `columns here: ${names.join(', ')}`);
  }

  #bool(e: Expr): Typed<F> {
    const t = this.compile(e);
    if (t.type !== 'bool' && t.type !== 'any' && t.type !== 'null')
      throw new ExprError(`true or false is wanted here, not ${nameOf(t.type)}`, e.at);
    return t;
  }

  #number(e: Expr, op: string, at: number): Typed<F> {
    const t = this.compile(e);
    if (isNumber(t.type) || t.type === 'any' || t.type === 'null') return t;
    const hint =
      t.type === 'text' ? (op === '+' ? 'write concat(a, b) to join texts, int(…) for numbers' : HINTS.number) : null;
    throw new ExprError(`"${op}" wants numbers, not ${nameOf(t.type)}`, at, hint ?? null);
  }

  #arithmetic(op: Arithmetic, left: Expr, right: Expr, at: number): Typed<F> {
    const l = this.#number(left, op, at);
    const r = this.#number(right, op, at);
    if (l.type === 'any' || r.type === 'any') return { type: 'any', run: () => null };
    if (l.type === 'null' || r.type === 'null') return constant('null', null);
    return arithmetic(op, l, r);
  }

  #compare(op: Compare, left: Expr, right: Expr, at: number): Typed<F> {
    const [l, r] = this.#alike(left, right);
    return { type: 'bool', run: comparison(op, orderOf(l.type, r.type, at), l.run, r.run) };
  }

  /** Both sides; a text literal beside a date is read as a date. */
  #alike(left: Expr, right: Expr): readonly [Typed<F>, Typed<F>] {
    const l = this.compile(left);
    const r = this.compile(right);
    if (right.is === 'text' && (isDateLike(l.type) || l.type === 'time'))
      return [l, constant(l.type, literalAs(l.type, right.text, right.at))];
    if (left.is === 'text' && (isDateLike(r.type) || r.type === 'time'))
      return [constant(r.type, literalAs(r.type, left.text, left.at)), r];
    return [l, r];
  }

  #like(of: Expr, pattern: Expr, at: number): Typed<F> {
    const text = this.#argument('like', 'text', of);
    if (pattern.is !== 'text') throw new ExprError("the pattern of like is a text in '…'", at);
    return test1(text.run, likeMatcher(pattern.text));
  }

  #in(of: Expr, list: readonly Expr[]): Typed<F> {
    const one = this.compile(of);
    const tests = list.map((item) => {
      if (item.is === 'null') return constant<F>('bool', null).run; // as SQL has it: unknown
      const [l, r] = this.#alike(of, item);
      return comparison('=', orderOf(l.type, r.type, item.at), l.run, r.run);
    });
    const literals = list.map((item) => (item.is === 'text' || item.is === 'number' ? item : null));
    // Many literals of a column's own type: one look-up instead of as many comparisons.
    if ((one.type === 'text' || one.type === 'int') && literals.every((x) => x !== null)) {
      const values = list.map((item) => this.compile(item));
      if (values.every((v) => v.type === one.type)) {
        const set = new Set(values.map((v) => v.run(undefined as F)));
        return test1(one.run, (v: Value) => set.has(v));
      }
    }
    return {
      type: 'bool',
      run: (f) => {
        let unknown = false;
        for (const t of tests) {
          const v = t(f);
          if (v === true) return true;
          if (v === null) unknown = true;
        }
        return unknown ? null : false;
      },
    };
  }

  #argument(name: string, param: Param, e: Expr): Typed<F> {
    const t = this.compile(e);
    if (t.type === 'any' || t.type === 'null' || FITS[param](t.type)) return t;
    throw new ExprError(`${name} wants ${WANTS[param]} here, not ${nameOf(t.type)}`, e.at, HINTS[param] ?? null);
  }

  #call(e: Expr & { readonly is: 'call' }): Typed<F> {
    switch (e.name.toLowerCase()) {
      case 'concat':
        return this.#concat(e);
      case 'coalesce':
        return this.#coalesce(e);
      case 'nullif': {
        count(e, 2, 2);
        const [x, y] = e.args as [Expr, Expr];
        const one = this.compile(x);
        const same = this.#compare('=', x, y, e.at).run;
        return { type: one.type, run: (f) => (same(f) === true ? null : one.run(f)) };
      }
      case 'if': {
        count(e, 3, 3);
        const [test, then, otherwise] = e.args as [Expr, Expr, Expr];
        const t = this.#bool(test).run;
        const values = this.#common(e, [then, otherwise]);
        const [yes, no] = values.runs as [Run<F>, Run<F>];
        return { type: values.type, run: (f) => (t(f) === true ? yes(f) : no(f)) };
      }
      case 'matches':
        return this.#matches(e);
      case 'format': {
        const [, pattern] = e.args;
        const wrong = pattern?.is === 'text' ? patternFault(pattern.text) : null;
        if (wrong !== null) throw new ExprError(wrong, pattern?.at ?? e.at, "put other text between ''…''");
        return this.#plainCall(e);
      }
      default:
        return this.#plainCall(e);
    }
  }

  #matches(e: Expr & { readonly is: 'call' }): Typed<F> {
    count(e, 2, 2);
    const [of, pattern] = e.args as [Expr, Expr];
    const text = this.#argument('matches', 'text', of);
    if (pattern.is !== 'text') throw new ExprError("the pattern of matches is a text in '…'", pattern.at);
    if (!this.#scope.regex) throw new RangeError('the patterns are not loaded');
    const re = this.#scope.regex.compile(pattern.text, pattern.at);
    return test1(text.run, (v: string) => re.find(v));
  }

  #concat(e: Expr & { readonly is: 'call' }): Typed<F> {
    count(e, 1, 255);
    const runs = e.args.map((a) => this.#argument('concat', 'text', a).run);
    return {
      type: 'text',
      run: (f) => {
        let out = '';
        for (const r of runs) {
          const v = r(f);
          if (v === null) return null;
          out += v as string;
        }
        return out;
      },
    };
  }

  #coalesce(e: Expr & { readonly is: 'call' }): Typed<F> {
    count(e, 1, 255);
    const { type, runs } = this.#common(e, e.args);
    return {
      type,
      run: (f) => {
        for (const r of runs) {
          const v = r(f);
          if (v !== null) return v;
        }
        return null;
      },
    };
  }

  /** Values that stand for each other: of one type, to which numbers and dates are brought. */
  #common(
    e: Expr & { readonly is: 'call' },
    args: readonly Expr[],
  ): { readonly type: ExprType; readonly runs: readonly Run<F>[] } {
    const all = args.map((a) => this.compile(a));
    const types = [...new Set(all.map((t) => t.type))].filter((t) => t !== 'null');
    if (types.includes('any')) return { type: 'any', runs: all.map((t) => t.run) };
    const [only = 'null', ...more] = types;
    if (more.length === 0) return { type: only, runs: all.map((t) => t.run) };
    if (types.every(isNumber)) {
      const type = types.includes('float') ? 'float' : 'decimal';
      const to = (v: Value): Value =>
        v === null ? null : type === 'float' ? toFloat(v as Int | Decimal) : asDecimal(v as Int | Decimal);
      return { type, runs: all.map((t) => (f) => to(t.run(f))) };
    }
    // `coalesce(born, '1970-01-01')`
    const day = types.find((t) => t !== 'text');
    if (types.length === 2 && day !== undefined && (isDateLike(day) || day === 'time')) {
      const literal = args.every((a, i) => all[i]?.type !== 'text' || a.is === 'text');
      if (literal)
        return {
          type: day,
          runs: args.map((a, i) =>
            a.is === 'text' ? constant<F>(day, literalAs(day, a.text, a.at)).run : (all[i]?.run ?? (() => null)),
          ),
        };
    }
    const names = types.map(nameOf).join(' and ');
    throw new ExprError(
      `${e.name} has values of different kinds: ${names}`,
      e.at,
      'bring them to one kind, say by text(…)',
    );
  }

  #plainCall(e: Expr & { readonly is: 'call' }): Typed<F> {
    const spec = functionOf(e.name);
    if (!spec) throw new ExprError(`there is no function ${JSON.stringify(e.name)}`, e.at, KNOWN);
    count(e, spec.params.length - spec.optional, spec.params.length);
    const args = e.args.map((a, i) => this.#argument(e.name, spec.params[i] ?? 'scalar', a));
    const types = args.map((a) => a.type);
    const type = typeof spec.returns === 'string' ? spec.returns : spec.returns(types);
    if (types.includes('null')) return { type, run: () => null };
    if (types.includes('any')) return { type, run: () => null };
    return {
      type,
      run: called(
        spec,
        types,
        args.map((a) => a.run),
      ),
    };
  }
}

function count(e: Expr & { readonly is: 'call' }, least: number, most: number): void {
  const n = e.args.length;
  if (n >= least && n <= most) return;
  const wanted =
    least === most ? String(least) : most === 255 ? `${String(least)} or more` : `${String(least)} to ${String(most)}`;
  throw new ExprError(`${e.name} takes ${wanted} arguments, not ${String(n)}`, e.at);
}
