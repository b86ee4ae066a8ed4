import { compileExpr, usesRegex } from '../expr/compile.js';
import { ExprError } from '../expr/faults.js';
import { FUNCTION_NAMES, functionOf } from '../expr/functions.js';
import { nodesOf, parseExpr } from '../expr/parse.js';
import { loadRegex } from '../expr/regex.js';
import { nameOf, type ExprType } from '../expr/types.js';
import { suggestion } from './suggest.js';
import type { Columns } from './transform-columns.js';

export interface ExpressionFault {
  /** Offset in the expression. */
  readonly at: number;
  readonly message: string;
  readonly hint: string | null;
}

/** What is wrong with an expression, as far as the columns are known; its type where nothing is. */
export async function checkExpression(
  source: string,
  columns: Columns,
  wanted: 'bool' | 'value',
): Promise<{ readonly type: ExprType; readonly faults: readonly ExpressionFault[] }> {
  try {
    const expr = parseExpr(source);
    const names = columns?.map((c) => c.name) ?? [];
    const faults: ExpressionFault[] = [];
    for (const n of nodesOf(expr)) {
      if (n.is === 'column' && columns !== null && !names.includes(n.name)) {
        const message = `there is no column ${JSON.stringify(n.name)} here`;
        faults.push({ at: n.at, message, hint: suggestion(n.name, names, 'columns') });
      } else if (n.is === 'call' && !isFunction(n.name)) {
        const message = `there is no function ${JSON.stringify(n.name)}`;
        faults.push({ at: n.at, message, hint: suggestion(n.name, FUNCTION_NAMES, 'functions') });
      }
    }
    if (faults.length > 0) return { type: 'any', faults };
    const { type } = compileExpr(expr, {
      names,
      regex: usesRegex(expr) ? await loadRegex() : null,
      column: (name) => ({ type: columns?.find((c) => c.name === name)?.type ?? 'any', run: () => null }),
    });
    if (wanted === 'bool' && type !== 'bool' && type !== 'any' && type !== 'null') {
      const message = `the expression is ${nameOf(type)}, not true or false`;
      return { type, faults: [{ at: 0, message, hint: null }] };
    }
    return { type, faults: [] };
  } catch (e) {
    if (!(e instanceof ExprError)) throw e;
    return { type: 'any', faults: [{ at: e.at, message: e.message, hint: e.hint }] };
  }
}

function isFunction(name: string): boolean {
  return functionOf(name) !== null || FUNCTION_NAMES.includes(name.toLowerCase());
}

/** Offset in the raw text of a JSON string (from its opening quote) of the character at `at` of its value. */
export function offsetInLiteral(literal: string, at: number): number {
  let i = 1;
  for (let n = 0; n < at && i < literal.length; n++) i += literal[i] !== '\\' ? 1 : literal[i + 1] === 'u' ? 6 : 2;
  return i;
}
