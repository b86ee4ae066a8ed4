/** How the columns of a reader become those of a writer: the rule of `chooseColumns`, before any row is there. */
import { formatType, type ColumnLoss, type PlanColumn, type PlanProblem } from '../../plugin-api/index.js';
import { typeLoss } from './type-loss.js';

export interface MappedColumn {
  readonly from: string;
  readonly fromType: string | null;
  readonly to: string;
  readonly toType: string | null;
  /** What can get lost of its values; null: nothing. */
  readonly loss: string | null;
}

export interface ColumnMapping {
  /** `all`: the writer takes what comes. `unknown`: the reader's columns are known only when rows come. */
  readonly by: 'name' | 'position' | 'all' | 'unknown';
  readonly columns: readonly MappedColumn[];
  /** Columns of the reader that are not written. */
  readonly dropped: readonly string[];
  readonly problems: readonly PlanProblem[];
}

export interface WriterColumns {
  /** What the job names, in order; null: all. */
  readonly wanted: readonly string[] | null;
  /** The target's own; null: as they come. */
  readonly target: readonly PlanColumn[] | null;
  readonly losses: readonly ColumnLoss[];
}

export function mapColumns(from: readonly PlanColumn[] | null, to: WriterColumns): ColumnMapping {
  const { wanted } = to;
  const nothing = { columns: [], dropped: [], problems: [] };
  if (from === null) return { by: 'unknown', ...nothing };
  const data = from.filter((c) => c.role !== 'meta');
  if (wanted === null) {
    const rest = from.filter((c) => c.role === 'meta');
    return { ...nothing, by: 'all', columns: data.map((c) => mapped(c, c.name, to)), dropped: rest.map((c) => c.name) };
  }
  const byName = wanted.map((name) => from.find((c) => c.name === name));
  if (!byName.includes(undefined)) {
    const used = byName.filter((c) => c !== undefined);
    const dropped = from.filter((c) => !used.includes(c)).map((c) => c.name);
    return { ...nothing, by: 'name', columns: used.map((c) => mapped(c, c.name, to)), dropped };
  }
  if (data.length === wanted.length) {
    const dropped = from.filter((c) => c.role === 'meta').map((c) => c.name);
    return { ...nothing, by: 'position', columns: data.map((c, i) => mapped(c, wanted[i] ?? '', to)), dropped };
  }
  const missing = wanted.find((_, i) => byName[i] === undefined) ?? '';
  const problem: PlanProblem = {
    level: 'error',
    code: 'COLUMN_MISMATCH',
    message: `the writer has ${String(wanted.length)} columns and the reader ${String(data.length)}, and the reader has no column \`${missing}\``,
    place: 'writer.parameter.column',
    hint: `The reader delivers ${from.map((c) => `\`${c.name}\``).join(', ')}. Name some of these, or as many as there are.`,
  };
  return { by: 'unknown', ...nothing, problems: [problem] };
}

function mapped(c: PlanColumn, name: string, { target, losses }: WriterColumns): MappedColumn {
  const own = target?.find((t) => t.name === name) ?? null;
  const said = losses.filter((l) => l.column === c.name).map((l) => l.what);
  const known = c.type && own?.type ? typeLoss(c.type, own.type) : null;
  const all = [...(known === null ? [] : [known]), ...said];
  return {
    from: c.name,
    fromType: c.type ? formatType(c.type) : null,
    to: name,
    toType: own?.type ? formatType(own.type) : null,
    loss: all.length === 0 ? null : all.join('; '),
  };
}
