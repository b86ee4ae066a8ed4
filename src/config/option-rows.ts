/** The options of a plugin as a list, made from its schema: for `sync describe` and the tables of the READMEs. */
import { branchesOf, type SchemaNode } from './schema.js';

export interface OptionRow {
  /** As in a job file below `parameter`: `path`, `ssl.key`, `column[].name`, `tables.*.key`. */
  readonly path: string;
  readonly schema: SchemaNode;
  readonly required: boolean;
  /** The option, or what it stands in, may change between two starts of a run. */
  readonly tuning: boolean;
  readonly secret: boolean;
}

type Inherited = Pick<OptionRow, 'tuning' | 'secret'>;
/** `asWritten`: the schema's order; `requiredFirst`: that, with the required ones before the others at each level. */
export type RowOrder = 'asWritten' | 'requiredFirst';

export function optionRows(schema: SchemaNode, order: RowOrder): readonly OptionRow[] {
  return rowsOf(schema, '', order, { tuning: false, secret: false });
}

function rowsOf(schema: SchemaNode, prefix: string, order: RowOrder, from: Inherited): readonly OptionRow[] {
  const needed = (name: string): boolean => schema.required?.includes(name) === true;
  const all = Object.entries(schema.properties ?? {});
  const [first, rest] =
    order === 'asWritten' ? [all, []] : [all.filter(([n]) => needed(n)), all.filter(([n]) => !needed(n))];
  return [...first, ...rest].flatMap(([name, s]) => {
    const inherited: Inherited = {
      tuning: from.tuning || s['x-state'] === 'tuning',
      secret: from.secret || isSecret(s),
    };
    const path = prefix + name;
    const below = objectsIn(s, path).flatMap((o) => rowsOf(o.schema, `${o.path}.`, order, inherited));
    return [{ path, schema: s, required: needed(name), ...inherited }, ...below];
  });
}

/** Also where it is only one form of the value, or the items of a list, that never leaves the config. */
function isSecret(s: SchemaNode): boolean {
  return s['x-secret'] === true || (branchesOf(s) ?? []).some(isSecret) || (s.items ? isSecret(s.items) : false);
}

/** The objects with options of their own in a value: itself, a form of it, its items, the values of a map. */
function objectsIn(s: SchemaNode, path: string): readonly { readonly schema: SchemaNode; readonly path: string }[] {
  const extra = s.additionalProperties;
  return [
    ...(s.properties ? [{ schema: s, path }] : []),
    ...(branchesOf(s) ?? []).flatMap((b) => objectsIn(b, path)),
    ...(s.items ? objectsIn(s.items, `${path}[]`) : []),
    ...(typeof extra === 'object' ? objectsIn(extra, `${path}.*`) : []),
  ];
}

/** A value as one reads it best: bare where it is one plain word, else as JSON. */
export function spelled(value: unknown): string {
  return typeof value === 'string' && /^[!-~]+$/.test(value) ? value : JSON.stringify(value);
}

/** What a value may be: `string or list of string`. `show`: how one of a few fixed values looks. */
export function typeText(s: SchemaNode, show: (value: unknown) => string): string {
  const either = (branches: readonly SchemaNode[]): string =>
    [...new Set(branches.map((b) => typeText(b, show)))].join(' or ');
  if (s.enum) return s.enum.map(show).join(', ');
  if (s.const !== undefined) return show(s.const);
  const branches = branchesOf(s);
  if (branches) return either(branches);
  if (typeof s.type === 'object') return s.type.filter((t) => t !== 'null').join(' or ');
  if (s.type === 'array') return `list of ${typeText(s.items ?? {}, show)}`;
  const extra = s.additionalProperties;
  if (s.type === 'object' && !s.properties && typeof extra === 'object') return `map of ${typeText(extra, show)}`;
  return s.type ?? 'any';
}

/** What the option is for; for one that is only accepted, why it does nothing. */
export function meaningText(s: SchemaNode): string {
  if (s['x-ignored'] !== undefined) return `Has no effect: ${s['x-ignored']}`;
  return (s.description ?? '').replace(/\s+/g, ' ').trim();
}
