/** The option `column`, read: names, constants, and where `*` stands. */
import { parseType, type Finding } from 'syncx/plugin-api';
import { canonicalCell } from 'syncx/plugin-kit';
import type { ReaderOptions } from '../../reader-options.js';
import type { ConstantColumn } from '../split-spec.js';

/** SQL by its look, unless there is a column of the name `text`. */
export interface WantedSql {
  readonly is: 'sql';
  readonly text: string;
  readonly name: string;
  readonly sql: string;
}

export type WantedColumn =
  | { readonly is: 'star' }
  | { readonly is: 'name'; readonly name: string }
  | WantedSql
  | { readonly is: 'constant'; readonly column: ConstantColumn };

type Entry = ReaderOptions['column'][number];

/** Numbers, quoted texts, the constants that have names, calls, operators: what DataX takes beside names of columns. */
const LOOKS_LIKE_SQL =
  /^[+-]?\d*\.?\d+(?:e[+-]?\d+)?$|^(?:null|true|false|(?:current|utc)_(?:date|time|timestamp|user)|localtime(?:stamp)?)$|^["']|^(?:[xbn]|_\w+)'|[-()+*/%<>=!|&^~@]|^case\s/i;
const IN_BACKTICKS = /^`(?:[^`]|``)+`$/;
const WITH_ALIAS = /^([^]*\S)\s+as\s+(`(?:[^`]|``)+`|[\p{L}_$][\p{L}\p{N}_$]*)$/iu;

const bare = (name: string): string => (IN_BACKTICKS.test(name) ? name.slice(1, -1).replaceAll('``', '`') : name);

function textColumn(text: string): WantedColumn {
  const given = text.trim();
  const [, aliased, alias] = WITH_ALIAS.exec(given) ?? [];
  if (aliased !== undefined && alias !== undefined) return { is: 'sql', text, name: bare(alias), sql: aliased };
  if (IN_BACKTICKS.test(given)) return { is: 'name', name: bare(given) };
  return LOOKS_LIKE_SQL.test(given) ? { is: 'sql', text, name: text, sql: given } : { is: 'name', name: text };
}

function wantedColumn(c: Entry): WantedColumn {
  if (c === '*') return { is: 'star' };
  if (typeof c === 'string') return textColumn(c);
  const value = c.value ?? null;
  if (value === null) return { is: 'name', name: c.name };
  const type = c.type ?? 'string';
  const constant = canonicalCell(parseType(type) ?? { is: 'string' }, value) ?? value;
  return { is: 'constant', column: { name: c.name, type, constant } };
}

/** What the rows call it. */
const nameOf = (c: Exclude<WantedColumn, { readonly is: 'star' }>): string =>
  c.is === 'constant' ? c.column.name : c.name;

/** SQL that stands there twice, as `null`, gets a name of its own each time. */
export function wantedColumns(o: ReaderOptions): readonly WantedColumn[] {
  const seen = new Map<string, number>();
  return o.column.map((entry) => {
    const c = wantedColumn(entry);
    if (c.is === 'star') return c;
    const name = nameOf(c);
    const before = seen.get(name.toLowerCase()) ?? 0;
    seen.set(name.toLowerCase(), before + 1);
    return c.is === 'sql' && c.name === c.text && before > 0 ? { ...c, name: `${name} (${String(before + 1)})` } : c;
  });
}

/** The names that rows will have; null where `*` is among them. */
export function namesOf(wanted: readonly WantedColumn[]): readonly string[] | null {
  const names = wanted.flatMap((c) => (c.is === 'star' ? [] : [nameOf(c)]));
  return names.length === wanted.length ? names : null;
}

export function checkColumns(o: ReaderOptions): readonly Finding[] {
  const findings: Finding[] = [];
  const seen = new Map<string, number>();
  const wanted = wantedColumns(o);
  o.column.forEach((c, i) => {
    const path = `column[${String(i)}]`;
    const w = wanted[i];
    const name = (w === undefined || w.is === 'star' ? '*' : nameOf(w)).toLowerCase();
    const first = seen.get(name);
    if (first !== undefined) {
      findings.push({ path, message: `\`${name}\` is there twice, also as column[${String(first)}]` });
    }
    seen.set(name, i);
    if (typeof c !== 'string') findings.push(...checkConstant(c, path));
  });
  return findings;
}

function checkConstant(c: Exclude<Entry, string>, path: string): readonly Finding[] {
  const value = c.value ?? null;
  if (value === null) return [];
  const type = parseType(c.type ?? 'string');
  if (type === null) return [{ path: `${path}.type`, message: `\`${c.type ?? ''}\` is no known type` }];
  if (canonicalCell(type, value) !== null) return [];
  return [{ path: `${path}.value`, message: `\`${value}\` is no value of the type ${c.type ?? 'string'}` }];
}
