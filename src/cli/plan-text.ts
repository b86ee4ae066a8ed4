/** A plan for people. */
import type { MappedColumn } from '../core/plan/map-columns.js';
import type { PartPlan } from '../core/plan/make-plan.js';
import { alignedRows } from './text-table.js';
import { formatBytes, formatCount } from './units.js';

/** Lines under one heading; the first stands beside it. */
type Section = readonly [name: string, lines: readonly string[]];

export function planText(job: string, plans: readonly PartPlan[]): string {
  const blocks = plans.map((p, i) => {
    const part = plans.length === 1 ? '' : `, part ${String(i + 1)} of ${String(plans.length)}`;
    const head = `plan of ${job}${part}: ${p.reader} → ${p.writer} (nothing was written)`;
    if (p.doneBefore) return `${head}\n  done by an earlier start: not run again`;
    return [head, ...layOut(sectionsOf(p))].join('\n');
  });
  return blocks.join('\n\n');
}

function layOut(sections: readonly Section[]): readonly string[] {
  const width = Math.max(...sections.map(([name]) => name.length));
  return sections.flatMap(([name, lines]) =>
    lines.map((line, i) => `  ${(i === 0 ? name : '').padEnd(width)}  ${line}`.trimEnd()),
  );
}

function sectionsOf(p: PartPlan): readonly Section[] {
  const all: readonly Section[] = [
    ['reads', p.reads],
    ['splits', splitLines(p)],
    ['writes', p.writes],
    ['target', targetLines(p)],
    ['columns', columnLines(p)],
    ['delivery', p.delivery ? [because(p.delivery.is, p.delivery.why)] : []],
    ['state', [p.state?.text ?? 'a start would be refused, or cannot be told of']],
    ['warnings', [...p.warnings, ...problemLines(p, 'warning')]],
    ['errors', problemLines(p, 'error')],
  ];
  return all.filter(([, lines]) => lines.length > 0);
}

const because = (what: string, why: string | null): string => (why === null ? what : `${what}: ${why}`);

function amount(rows: number | null, bytes: number | null): string {
  const parts = [
    ...(rows === null ? [] : [`${formatCount(rows)} rows`]),
    ...(bytes === null ? [] : [formatBytes(bytes)]),
  ];
  return parts.join(', ');
}

function splitLines({ splits, bounded }: PartPlan): readonly string[] {
  if (splits === null) return [];
  const { first, count, whole, rows, aboutRows, bytes, lanes } = splits;
  const about = rows === null && aboutRows !== null ? 'about ' : '';
  const size = `${about}${amount(rows ?? aboutRows, bytes)}`;
  const many = `${whole || !bounded ? '' : 'at least '}${formatCount(count)}${whole ? '' : bounded ? '' : ' now'}`;
  const end = bounded ? 'bounded' : 'unbounded: the job runs until it is stopped';
  const head = `${many}${size === '' ? '' : `; ${size}`}; ${lanes === 1 ? 'one lane' : `${String(lanes)} lanes`}; ${end}`;
  const lines = alignedRows(first.map((s) => [s.what, amount(s.rows, s.bytes)]));
  const more = count - first.length;
  return [head, ...lines, ...(more > 0 ? [`and ${formatCount(more)} more`] : [])];
}

function targetLines({ target }: PartPlan): readonly string[] {
  if (target === null) return [];
  const there = { missing: 'is not there', empty: 'is empty', filled: 'is not empty', unknown: null }[target.state];
  const state = target.holds !== null ? `holds ${target.holds}` : there;
  return [`${target.place}${state === null ? '' : ` ${state}`}: ${target.effect}`];
}

const BY = {
  name: 'by name',
  position: 'by position',
  all: 'all that come, under their names',
  unknown: 'known only when rows come',
} as const;

function columnLines({ mapping }: PartPlan): readonly string[] {
  if (mapping === null) return [];
  const typed = (name: string, type: string | null): string => (type === null ? name : `${name} ${type}`);
  const row = (c: MappedColumn): readonly string[] => [
    `${typed(c.from, c.fromType)}`,
    `→ ${typed(c.to, c.toType)}`,
    ...(c.loss === null ? [] : [`! ${c.loss}`]),
  ];
  const dropped = mapping.dropped.length > 0 ? [`not written: ${mapping.dropped.join(', ')}`] : [];
  return [BY[mapping.by], ...alignedRows(mapping.columns.map(row)), ...dropped];
}

function problemLines(p: PartPlan, level: 'error' | 'warning'): readonly string[] {
  return p.problems
    .filter((x) => x.level === level)
    .map((x) => {
      const place = x.place === undefined || x.message.includes(x.place) ? '' : ` (${x.place})`;
      return `${x.code}: ${x.message}${place}${x.hint === undefined ? '' : `; ${x.hint}`}`;
    });
}
