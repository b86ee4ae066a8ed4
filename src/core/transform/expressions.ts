import { ABSENT_FLAG, formatType, type LogicalType } from '../../plugin-api/index.js';
import { cellCheck } from '../../cells/cell-check.js';
import { columnsOf, compileExpr, usesRegex } from '../../expr/compile.js';
import { ExprError, RowFault } from '../../expr/faults.js';
import { parseExpr, type Expr } from '../../expr/parse.js';
import type { RegexEngine } from '../../expr/regex.js';
import { cellReader, columnType, typeOf, valueText, type Typed } from '../../expr/types.js';
import { casterOf } from './cast.js';
import type { Frame, Slot } from './frame.js';
import { misfit, type Layout, type Step } from './layout.js';

/** An expression of a transform, parsed once. */
export interface Parsed {
  readonly source: string;
  readonly expr: Expr;
  readonly regex: RegexEngine | null;
}

export { parseExpr, usesRegex };

function compile(p: Parsed, layout: Layout, place: string): Typed<Frame> {
  try {
    return compileExpr<Frame>(p.expr, {
      names: layout.names,
      regex: p.regex,
      column: (name) => {
        const c = layout.columns.find((x) => x.column.name === name);
        return c ? reader(c.slot, c.column.type, name) : null;
      },
    });
  } catch (e) {
    if (!(e instanceof ExprError)) throw e;
    const shown = JSON.stringify(p.source.slice(e.at, e.at + 20));
    throw misfit(place, `${e.message} (at ${shown}, character ${String(e.at + 1)})`, e.hint);
  }
}

function reader(slot: Slot, type: LogicalType, name: string): Typed<Frame> {
  const kind = typeOf(type);
  const read = cellReader(kind);
  return {
    type: kind,
    run: (f) => {
      const flag = f.load(slot);
      if (flag === 0) return read(f.buf, f.start, f.end);
      if (flag === ABSENT_FLAG) throw new RowFault(`the row has no value of ${name}: it is a partial image`);
      return null;
    },
  };
}

export function filterStep(p: Parsed, layout: Layout, place: string): Step {
  const { type, run } = compile(p, layout, place);
  if (type !== 'bool' && type !== 'null') throw misfit(place, 'the expression is not true or false', null);
  return { column: null, label: place, run: (f) => run(f) === true };
}

/** The step and the type of the new column. */
export function computeStep(
  p: Parsed,
  column: string,
  wanted: LogicalType | null,
  layout: Layout,
  register: number,
  place: string,
): { readonly step: Step; readonly type: LogicalType } {
  const { type: kind, run } = compile(p, layout, place);
  if (kind === 'binary') throw misfit(place, 'bytes cannot be computed; cast the column to string first', null);
  const own = columnType(kind);
  const type = wanted ?? own;
  const cast = casterOf(own, type, undefined);
  if (!cast) throw misfit(place, `the expression is a ${formatType(own)}, which cannot be a ${formatType(type)}`, null);
  // What stands in no cell of the type: an integer beyond 64 bits, a decimal with too many digits.
  const same = formatType(own) === formatType(type);
  const check = kind === 'int' || kind === 'decimal' ? cellCheck(type) : null;
  const read = columnsOf(p.expr).map((name) => layout.columns.find((c) => c.column.name === name)?.slot);
  const step: Step = {
    column,
    label: place,
    run: (f) => {
      if (read.length > 0 && read.every((s) => s && f.load(s) === ABSENT_FLAG)) {
        f.setFlag(register, ABSENT_FLAG);
        return true;
      }
      const v = run(f);
      if (v === null) {
        f.setNull(register);
        return true;
      }
      f.setText(register, valueText(v, kind));
      f.loadRegister(register);
      const fits = check ? check(f.buf, f.start, f.end) : same;
      if (fits || (!same && cast(f, register))) return true;
      throw new RowFault(`\`${valueText(v, kind)}\` is not a valid ${formatType(type)}`);
    },
  };
  return { step, type };
}
