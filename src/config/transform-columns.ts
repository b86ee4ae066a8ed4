/** What the columns of a job are called after each step, as far as the job file tells. */
import { parseType } from '../plugin-api/index.js';
import { typeOf, type ExprType } from '../expr/types.js';
import { isDatax, type TransformSpec } from '../job/transform-spec.js';

export interface KnownColumn {
  readonly name: string;
  readonly type: ExprType;
}

/** Null: known only at run time. */
export type Columns = readonly KnownColumn[] | null;

export interface ColumnFault {
  /** Path of the option below the step. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** The name that is not there, for a hint. */
  readonly missing: string | null;
}

/** The columns after the step, and what is wrong with those that it names. `computed`: type of its expression. */
export function columnsAfter(
  spec: TransformSpec,
  columns: Columns,
  computed: ExprType,
): { readonly columns: Columns; readonly faults: readonly ColumnFault[] } {
  const faults: ColumnFault[] = [];
  const has = (name: string, path: readonly (string | number)[]): void => {
    if (columns !== null && !columns.some((c) => c.name === name))
      faults.push({ path, message: `there is no column ${JSON.stringify(name)} here`, missing: name });
  };
  const each = (names: readonly string[]): void => {
    names.forEach((name, i) => {
      has(name, ['columns', i]);
      if (names.indexOf(name) === i) return;
      faults.push({ path: ['columns', i], message: `${JSON.stringify(name)} stands here twice`, missing: null });
    });
  };
  const typeIn = (name: string): ExprType => columns?.find((c) => c.name === name)?.type ?? 'any';
  const typed = (name: string, type: ExprType): Columns =>
    columns?.map((c) => (c.name === name ? { name, type } : c)) ?? null;
  const put = (name: string, type: ExprType): Columns => {
    if (columns === null) return null;
    return columns.some((c) => c.name === name) ? typed(name, type) : [...columns, { name, type }];
  };
  const named = (type: string): ExprType => {
    const t = parseType(type);
    return t ? typeOf(t) : 'any';
  };
  let after: Columns = columns;
  if (isDatax(spec)) {
    const at = columns?.[spec.columnIndex];
    if (columns !== null && !at) {
      const message = `there is no column ${String(spec.columnIndex)}: there are ${String(columns.length)}, counted from 0`;
      faults.push({ path: ['parameter', 'columnIndex'], message, missing: null });
    }
    if (at && spec.op !== 'dx_filter') after = typed(at.name, 'text');
    return { columns: after, faults };
  }
  switch (spec.op) {
    case 'select': {
      const seen = new Set<string>();
      after = spec.columns.map((c, i) => {
        const [name, as] = typeof c === 'string' ? [c, c] : [c.name, c.as];
        has(name, typeof c === 'string' ? ['columns', i] : ['columns', i, 'name']);
        if (seen.has(as)) faults.push({ path: ['columns', i], message: twice(as), missing: null });
        seen.add(as);
        return { name: as, type: typeIn(name) };
      });
      break;
    }
    case 'rename': {
      for (const from of Object.keys(spec.columns)) has(from, ['columns', from]);
      after =
        columns?.map((c) => ({
          ...c,
          name: Object.hasOwn(spec.columns, c.name) ? (spec.columns[c.name] ?? '') : c.name,
        })) ?? null;
      const again = after?.find((c, i) => after?.findIndex((o) => o.name === c.name) !== i);
      if (again) faults.push({ path: ['columns'], message: twice(again.name), missing: null });
      break;
    }
    case 'drop':
      each(spec.columns);
      after = columns?.filter((c) => !spec.columns.includes(c.name)) ?? null;
      if (after?.length === 0) faults.push({ path: ['columns'], message: 'no column would be left', missing: null });
      break;
    case 'cast':
      has(spec.column, ['column']);
      after = typed(spec.column, named(spec.type));
      break;
    case 'constant':
      after = put(spec.column, named(spec.type));
      break;
    case 'compute':
      after = put(spec.column, spec.type === undefined ? computed : named(spec.type));
      break;
    case 'mask':
      each(spec.columns);
      if (spec.method !== 'null')
        for (const name of spec.columns)
          after = after?.map((c) => (c.name === name ? { name, type: 'text' as const } : c)) ?? null;
      break;
    case 'filter':
      break;
  }
  return { columns: after, faults };
}

function twice(name: string): string {
  return `two columns would have the name ${JSON.stringify(name)}`;
}
