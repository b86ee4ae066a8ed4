/** The option `column`, read: names, constants, and where `*` stands. */
import { parseType, type Finding } from 'syncx/plugin-api';
import { canonicalCell } from 'syncx/plugin-kit';
import type { ReaderOptions } from '../../reader-options.js';
import type { ConstantColumn } from '../split-spec.js';

export type WantedColumn =
  | { readonly is: 'star' }
  | { readonly is: 'name'; readonly name: string }
  | { readonly is: 'constant'; readonly column: ConstantColumn };

type Entry = ReaderOptions['column'][number];

function wantedColumn(c: Entry): WantedColumn {
  if (c === '*') return { is: 'star' };
  if (typeof c === 'string') return { is: 'name', name: c };
  const value = c.value ?? null;
  if (value === null) return { is: 'name', name: c.name };
  const type = c.type ?? 'string';
  const constant = canonicalCell(parseType(type) ?? { is: 'string' }, value) ?? value;
  return { is: 'constant', column: { name: c.name, type, constant } };
}

export const wantedColumns = (o: ReaderOptions): readonly WantedColumn[] => o.column.map(wantedColumn);

/** The names that rows will have; null where `*` is among them. */
export function namesOf(wanted: readonly WantedColumn[]): readonly string[] | null {
  const names = wanted.flatMap((c) => (c.is === 'star' ? [] : [c.is === 'name' ? c.name : c.column.name]));
  return names.length === wanted.length ? names : null;
}

export function checkColumns(o: ReaderOptions): readonly Finding[] {
  const findings: Finding[] = [];
  const seen = new Map<string, number>();
  o.column.forEach((c, i) => {
    const path = `column[${String(i)}]`;
    const name = (typeof c === 'string' ? c : c.name).toLowerCase();
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
