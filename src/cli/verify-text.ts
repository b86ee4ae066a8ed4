/** What `sync verify` tells people. */
import type { Difference, Differences, SideCount, VerifyResult } from '../core/verify/verify-types.js';
import { alignedRows } from './text-table.js';
import { formatCount } from './units.js';

/** Longer values are cut. */
const LONGEST = 60;

export interface VerifiedPart {
  /** From 1. */
  readonly part: number;
  readonly reader: string;
  readonly writer: string;
  readonly result: VerifyResult;
}

export function verifyText(job: string, parts: readonly VerifiedPart[], all: number): string {
  return parts
    .map(({ part: number, reader, writer, result }) => {
      const part = all === 1 ? '' : `, part ${String(number)} of ${String(all)}`;
      return [`verify of ${job}${part}: ${reader} → ${writer}`, ...layOut(sectionsOf(result))].join('\n');
    })
    .join('\n\n');
}

type Section = readonly [name: string, lines: readonly string[]];

function layOut(sections: readonly Section[]): readonly string[] {
  const used = sections.filter(([, lines]) => lines.length > 0);
  const width = Math.max(...used.map(([name]) => name.length));
  return used.flatMap(([name, lines]) =>
    lines.map((line, i) => `  ${(i === 0 ? name : '').padEnd(width)}  ${line}`.trimEnd()),
  );
}

function sectionsOf(r: VerifyResult): readonly Section[] {
  const { differences: d, repaired } = r;
  const filtered = r.source.filtered > 0 ? `, ${formatCount(r.source.filtered)} more filtered` : '';
  return [
    ['source', [`${side(r.source)}${filtered}`]],
    ['target', [side(r.target)]],
    ['columns', [r.columns.map((c) => (c.from === c.to ? c.to : `${c.from} → ${c.to}`)).join(', ')]],
    ['key', [r.key.length === 0 ? 'none: whole rows are compared' : r.key.join(', ')]],
    ['compared', [how(r)]],
    ['result', [verdict(r, d), ...alignedRows(d.first.map(differenceRow)), ...more(d)]],
    ['repaired', repaired === null ? [] : [repairLine(repaired)]],
    ['notes', r.notes],
    ['time', [`${r.seconds.toFixed(3)} s`]],
  ];
}

const rows = (n: number): string => (n === 1 ? '1 row' : `${formatCount(n)} rows`);
const keys = (n: number): string => (n === 1 ? '1 key' : `${formatCount(n)} keys`);

function side(s: SideCount): string {
  return s.unreadable === 0 ? rows(s.rows) : `${rows(s.rows)}, ${formatCount(s.unreadable)} unreadable`;
}

function how({ by, chunks }: VerifyResult): string {
  if (by === 'rows' || chunks === null) return 'by reading both sides';
  const all = chunks.all === 1 ? '1 stretch' : `${formatCount(chunks.all)} stretches`;
  const differing = chunks.differing === 0 ? '' : `, ${formatCount(chunks.differing)} of which differed`;
  return `by sums of ${all} of keys${differing}`;
}

const total = (d: Differences): number => d.missing + d.extra + d.different;

/** `3 keys differ: 1 missing in the target, 2 different` */
function differencesText(d: Differences, what: (n: number) => string = keys): string {
  const parts = [
    ...(d.missing > 0 ? [`${formatCount(d.missing)} missing in the target`] : []),
    ...(d.extra > 0 ? [`${formatCount(d.extra)} only in the target`] : []),
    ...(d.different > 0 ? [`${formatCount(d.different)} different`] : []),
  ];
  const n = total(d);
  return `${d.complete ? '' : 'at least '}${what(n)} ${n === 1 ? 'differs' : 'differ'}: ${parts.join(', ')}`;
}

/** `equal`, or what differs; of a run's summary. */
export function verdictText(r: VerifyResult): string {
  const { differences: d } = r;
  const [first] = d.first.map((x) => differenceRow(x).join(' '));
  return `${verdict(r, d)}${first === undefined ? '' : `; the first is ${first}`}`;
}

function verdict(r: VerifyResult, d: Differences): string {
  if (total(d) > 0) return differencesText(d, r.key.length === 0 ? rows : keys);
  if (!d.complete) return 'the two sides differ';
  return r.equal ? 'equal' : 'the target has rows that cannot be read';
}

function more(d: Differences): readonly string[] {
  const hidden = total(d) - d.first.length;
  if (!d.complete) return ['and more: so many differ that not all of them were looked at'];
  return hidden > 0 ? [`and ${formatCount(hidden)} more`] : [];
}

function repairLine({ written, deleted, left }: NonNullable<VerifyResult['repaired']>): string {
  const done = `${rows(written)} written, ${formatCount(deleted)} deleted`;
  if (total(left) === 0 && left.complete) return `${done}; now equal`;
  return `${done}; now ${total(left) === 0 ? 'the two sides still differ' : differencesText(left)}`;
}

function value(text: string | null): string {
  if (text === null) return 'NULL';
  const quoted = JSON.stringify(text);
  return quoted.length <= LONGEST ? quoted : `${quoted.slice(0, LONGEST - 1)}…`;
}

function differenceRow(d: Difference): readonly string[] {
  const key = Object.entries(d.key).map(([name, v]) => `${name} ${value(v)}`);
  const columns = d.columns.map((c) => `${c.name} ${value(c.source)} → ${value(c.target)}`);
  const what = { missing: 'missing', extra: 'extra', different: 'different' }[d.is];
  return [what, key.join(', '), ...(columns.length > 0 ? [columns.join(', ')] : [])];
}
