import { formatType, parseType, type Finding } from '../../plugin-api/index.js';
import { canonicalCell } from '../../cells/cell-form.js';
import { columnSpecs, isSpec, unnamed, type ColumnOption } from './column-spec.js';
import { isDatePattern } from '../../cells/date-pattern.js';
import { META_TYPES, fromRecord } from './meta-column.js';

type ColumnObject = Exclude<ColumnOption, string>;

const DATED: readonly string[] = ['date', 'time', 'datetime', 'timestamp', 'year'];

/** A meta column is of one type, and takes nothing from the record. */
function metaFindings(c: ColumnObject, at: string): readonly Finding[] {
  const findings: Finding[] = [];
  const kind = c.meta;
  if (kind === undefined) return [];
  if (c.name === undefined) findings.push({ path: at, message: 'the meta column has no name', hint: 'Give it one.' });
  for (const other of ['index', 'value', 'format'] as const) {
    if (c[other] === undefined) continue;
    const message = `\`${other}\` has no place beside meta, which takes nothing from the record`;
    findings.push({ path: `${at}.${other}`, message, hint: 'Leave one of the two out.' });
  }
  const fixed = formatType(META_TYPES[kind]);
  const given = parseType(c.type ?? fixed);
  if (given === null || formatType(given) !== fixed) {
    const message = `the type of the meta column \`${kind}\` is ${fixed}, not \`${String(c.type)}\``;
    findings.push({ path: `${at}.type`, message, hint: 'Leave type out.' });
  }
  return findings;
}

function typeFindings(c: ColumnObject, at: string): readonly Finding[] {
  const type = parseType(c.type ?? 'string');
  if (type === null) {
    const message = `\`${String(c.type)}\` is no type`;
    return [{ path: `${at}.type`, message, hint: 'Use string, bigint, decimal(p,s), date …' }];
  }
  const findings: Finding[] = [];
  const value = c.value ?? null;
  if (value !== null && canonicalCell(type, value) === null) {
    const message = `\`${value}\` is not a valid ${String(c.type)}`;
    findings.push({ path: `${at}.value`, message, hint: 'Write it in its plain form.' });
  }
  if (c.format === undefined) return findings;
  const path = `${at}.format`;
  if (!DATED.includes(type.is)) {
    const message = 'a format is for date and time types';
    findings.push({ path, message, hint: 'Give the column such a type.' });
  } else if (!isDatePattern(c.format)) {
    const hint = 'Use yyyy MM dd HH mm ss S and plain characters.';
    findings.push({ path, message: `\`${c.format}\` is no date pattern`, hint });
  }
  return findings;
}

/** JSON lines are objects or arrays: where one column has only a name and another only an index, neither can be a row. */
function mixedFindings(entries: readonly ColumnOption[]): readonly Finding[] {
  const specs = (columnSpecs(entries) ?? []).flatMap((c, i) => (isSpec(c) && fromRecord(c) ? [{ ...c, i }] : []));
  const named = specs.find((c) => c.index === null && c.name !== null);
  const indexed = specs.find((c) => c.name === null && c.index !== null);
  if (named === undefined || indexed === undefined) return [];
  const message = `the column has only an index, and column[${String(named.i)}] only a name: no JSON line can have both`;
  const hint = 'Give all columns a name (lines are objects), or all an index (lines are arrays).';
  return [{ path: `column[${String(indexed.i)}]`, message, hint }];
}

/** The one that a column has, given or not; undefined: it has none. */
function nameOf(c: ColumnOption): string | undefined {
  if (typeof c === 'string') return c;
  return c.name ?? (c.index === undefined ? undefined : unnamed(c.index));
}

/** Whether the entry is picked from the record: not a `*`, a constant or a meta column. */
const isPicked = (c: ColumnOption): boolean =>
  typeof c === 'string' ? c !== '*' : c.meta === undefined && (c.value ?? null) === null;

/** Beside `*` stand columns that it does not deliver already. */
function besideStar(c: ColumnOption, path: string, { star }: ColumnRules): readonly Finding[] {
  const { name, index } = typeof c === 'string' ? { name: c, index: undefined } : c;
  if (!isPicked(c) || (name === undefined && index === undefined)) return [];
  if (star !== null) {
    const message = `\`*\` is the whole line as the column \`${star}\`: no part of it can be picked beside it`;
    return [{ path, message, hint: 'Name the wanted columns in place of `*`; beside it stand constants.' }];
  }
  if (index !== undefined) {
    if (name !== undefined) return [];
    const message = 'a column by index beside `*` has no name of its own';
    return [{ path, message, hint: 'Give it a name that no column of the files has.' }];
  }
  const message = `\`*\` delivers the column \`${String(name)}\` already`;
  return [
    { path, message, hint: 'Leave one of the two out; beside `*` stand constants, meta columns and copies by index.' },
  ];
}

export interface ColumnRules {
  /** Records are JSON lines; else they have fields. */
  readonly json: boolean;
  /** The name of the one column that `*` means: the line as it stands. Null: it means the fields of the record. */
  readonly star: string | null;
}

/** What the schema of a reader's option `column` cannot say. */
export function checkColumns(entries: readonly ColumnOption[], rules: ColumnRules): readonly Finding[] {
  const findings: Finding[] = [];
  const names = new Set<string>();
  const star = entries.includes('*');
  if (star && rules.star !== null) names.add(rules.star);
  entries.forEach((c, i) => {
    const path = `column[${String(i)}]`;
    const name = nameOf(c);
    if (typeof c !== 'string' && name === '*') {
      const hint = 'To read all columns write "*" as it stands, not as an object.';
      findings.push({ path, message: 'no column can have the name `*`', hint });
    } else if (name !== undefined && names.has(name)) {
      findings.push({ path, message: `the column \`${name}\` stands here twice`, hint: 'Give each its own name.' });
    } else if (star) findings.push(...besideStar(c, path, rules));
    if (name !== undefined) names.add(name);
    if (typeof c === 'string') return;
    if (c.meta !== undefined) {
      findings.push(...metaFindings(c, path));
      return;
    }
    if (c.name === undefined && c.index === undefined) {
      findings.push({ path, message: 'the column has neither name nor index', hint: 'Give it a name.' });
    }
    findings.push(...typeFindings(c, path));
  });
  if (rules.json && !star) findings.push(...mixedFindings(entries));
  return findings;
}
