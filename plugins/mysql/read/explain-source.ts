/** What a job would read, for `sync plan`. */
import { reportError, type PlanProblem, type ReaderFacts } from 'syncx/plugin-api';
import type { ReaderOptions } from '../reader-options.js';
import { quoteName } from '../sql/names.js';
import { cursorTable } from './cursor/cursor-tables.js';
import { condition, cursorColumn, given } from './plan/check-options.js';
import { sizeOf } from './plan/estimates.js';
import { fromOf, planShapes } from './plan/plan-shapes.js';
import { showShape, type PlannedShape } from './plan/shapes.js';
import type { SourceSessions } from './plan/source-sessions.js';
import { planColumns } from './plan-columns.js';
import { readShape } from './read-shape.js';
import { splitConditions } from './select-sql.js';
import { isConstant, type SplitSpec } from './split-spec.js';

const everything = (shape: number): SplitSpec => ({ format: 1, shape, range: null, nullsOf: null, window: null });

function sqlOf(p: PlannedShape, i: number, where: string | null): string {
  const list = p.shape.columns.flatMap((c) => (isConstant(c) ? [] : [c.expression ?? quoteName(c.name)]));
  const read = readShape(p.shape);
  const filter = splitConditions(everything(i), where);
  const order = read.orderBy.length === 0 ? '' : ` order by ${read.orderBy.join(', ')}`;
  const shown = list.join(', ') || 'null';
  return `select ${shown} from ${read.from}${filter.length === 0 ? '' : ` where ${filter.join(' and ')}`}${order}`.replace(
    /\s+/g,
    ' ',
  );
}

function problemsOf(p: PlannedShape, o: ReaderOptions): readonly PlanProblem[] {
  const place = showShape(p.shape);
  const problems: PlanProblem[] = [];
  const warn = (message: string, hint: string): void => {
    problems.push({ level: 'warning', code: 'SOURCE_IO', message, place, hint });
  };
  const splitPk = given(o.splitPk);
  if (splitPk !== null && p.facts !== null) {
    if (p.splitKey === null)
      warn(`values of \`${splitPk}\` cannot bound ranges: one lane reads the table`, 'Take another splitPk.');
    else if (p.splitKey.index === null)
      warn(`splitPk \`${splitPk}\` has no index: each range costs a scan of the table`, 'Index it, or take another.');
  }
  if (p.shape.orderKey.length === 0) {
    const what = p.facts === null ? 'a query' : 'a table without a key';
    warn(
      `${what} is read again from a split's start after a break, and compared with what was delivered`,
      'Give it a primary key, or a unique one without NULL.',
    );
  }
  if (cursorColumn(o) !== null) {
    const t = cursorTable(p, o);
    const indexed = p.facts?.keys.some((k) => k.columns[0] === t.column.name) ?? false;
    if (!indexed) warn(`increColumn \`${t.column.name}\` has no index: each run scans the table`, 'Index it.');
    if (t.rowKey.length === 0)
      warn(
        'rows of the last value of increColumn are delivered again by the next run, as no key tells them apart',
        'Give the table a key, and the target too.',
      );
  }
  return problems;
}

/** Problems stand in the result, also those that keep the tables from being looked at. */
export async function explainSource(o: ReaderOptions, sessions: SourceSessions): Promise<ReaderFacts> {
  let planned: readonly PlannedShape[];
  try {
    planned = await planShapes(o, sessions);
  } catch (e) {
    const { code, message, place, hint } = reportError(e);
    const problem: PlanProblem = {
      level: 'error',
      code,
      message,
      ...(place === undefined ? {} : { place }),
      ...(hint === undefined ? {} : { hint }),
    };
    return { reads: [], columns: null, rows: null, bytes: null, problems: [problem] };
  }
  const where = condition(o.where);
  let rows: number | null = 0;
  let bytes: number | null = 0;
  for (const p of planned) {
    const size =
      p.facts === null
        ? null // its estimate may cost as much as the query
        : await sessions.on(p.shape.connection, (s) =>
            sizeOf(
              s,
              p.facts,
              p.shape,
              `select * from ${fromOf(p.shape)}${where === null ? '' : ` where (${where}\n)`}`,
            ),
          );
    rows = size === null || rows === null ? null : rows + size.rows;
    bytes = size === null || bytes === null ? null : bytes + Math.round(size.rows * size.rowBytes);
  }
  const [first] = planned;
  return {
    reads: planned.map((p, i) => sqlOf(p, i, where)),
    columns: first === undefined ? null : planColumns(first.shape),
    rows,
    bytes,
    problems: planned.flatMap((p) => problemsOf(p, o)),
  };
}
