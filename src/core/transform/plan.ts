/** A transform for rows of one schema: which cells go out, and what is done to a row before. Made once a schema. */
import { ABSENT_FLAG, formatType, parseType, type LogicalType, type RowSchema } from '../../plugin-api/index.js';
import { notOfType } from '../../cells/cell-fault.js';
import { RowFault } from '../../expr/faults.js';
import type { RegexEngine } from '../../expr/regex.js';
import { isDatax, type DataxSpec, type TransformSpec } from '../../job/transform-spec.js';
import { casterOf } from './cast.js';
import { filterOf, rewriteOf } from './datax.js';
import { computeStep, filterStep, type Parsed } from './expressions.js';
import type { Slot } from './frame.js';
import { Layout, misfit, retyped, type Step } from './layout.js';
import { maskOf } from './mask.js';

/** A run of columns that stand side by side in the input, or one computed or constant cell. */
export type Out =
  { readonly is: 'run'; readonly first: number; readonly count: number } | Exclude<Slot, { is: 'input' }>;

export interface Plan {
  readonly output: RowSchema;
  readonly steps: readonly Step[];
  readonly outs: readonly Out[];
  /** The cells that go out are just those that came in. */
  readonly whole: boolean;
}

/** A spec with what was made of it before any schema was known. */
export interface Prepared {
  readonly spec: TransformSpec;
  readonly parsed: Parsed | null;
  readonly regex: RegexEngine | null;
}

/** @throws SyncError COLUMN_MISMATCH where the schema's columns are not those that the transform is about. */
export function planOf(prepared: readonly Prepared[], input: RowSchema): Plan {
  const layout = new Layout(input);
  prepared.forEach((p, i) => {
    apply(p, layout, `transform[${String(i)}]`);
  });
  const outs = outsOf(layout.columns.map((c) => c.slot));
  const [only] = outs;
  const whole = outs.length === 1 && only?.is === 'run' && only.first === 0 && only.count === input.columns.length;
  return { output: layout.output('transform'), steps: layout.steps, outs, whole };
}

function outsOf(slots: readonly Slot[]): readonly Out[] {
  const outs: Out[] = [];
  for (const s of slots) {
    const last = outs.at(-1);
    if (s.is !== 'input') outs.push(s);
    else if (last?.is === 'run' && last.first + last.count === s.index)
      outs[outs.length - 1] = { ...last, count: last.count + 1 };
    else outs.push({ is: 'run', first: s.index, count: 1 });
  }
  return outs;
}

function apply({ spec, parsed, regex }: Prepared, layout: Layout, place: string): void {
  if (isDatax(spec)) {
    datax(spec, regex, layout, place);
    return;
  }
  switch (spec.op) {
    case 'select':
      layout.columns = spec.columns.map((c) => {
        const [name, as] = typeof c === 'string' ? [c, c] : [c.name, c.as];
        const laid = layout.at(layout.indexOf(name, place), place);
        return { ...laid, column: { ...laid.column, name: as } };
      });
      break;
    case 'rename': {
      const names = new Map(Object.entries(spec.columns).map(([from, to]) => [layout.indexOf(from, place), to]));
      layout.columns = layout.columns.map((c, i) => ({
        ...c,
        column: { ...c.column, name: names.get(i) ?? c.column.name },
      }));
      break;
    }
    case 'drop': {
      const gone = new Set(spec.columns.map((name) => layout.indexOf(name, place)));
      layout.columns = layout.columns.filter((_, i) => !gone.has(i));
      if (layout.columns.length === 0) throw misfit(place, 'no column is left', null);
      break;
    }
    case 'filter':
      layout.steps.push(filterStep(known(parsed), layout, `${place}.where`));
      break;
    case 'cast':
      cast(spec, layout, place);
      break;
    case 'constant': {
      const type = typeNamed(spec.type, place);
      const bytes = spec.value === null ? null : Buffer.from(spec.value);
      layout.put({
        column: { name: spec.column, type, nullable: spec.value === null, rawType: null, role: 'data' },
        slot: { is: 'constant', bytes },
        origin: null,
      });
      break;
    }
    case 'compute': {
      const register = layout.newRegister();
      const wanted = spec.type === undefined ? null : typeNamed(spec.type, place);
      const { step, type } = computeStep(known(parsed), spec.column, wanted, layout, register, `${place}.expression`);
      layout.steps.push(step);
      layout.put({
        column: { name: spec.column, type, nullable: true, rawType: null, role: 'data' },
        slot: { is: 'register', index: register },
        origin: null,
      });
      break;
    }
    case 'mask':
      for (const name of spec.columns) mask(spec, name, layout, place);
      break;
  }
}

function known(parsed: Parsed | null): Parsed {
  if (!parsed) throw new RangeError('the expression is not parsed');
  return parsed;
}

function typeNamed(name: string, place: string): LogicalType {
  const type = parseType(name);
  if (!type) throw misfit(place, `there is no type ${JSON.stringify(name)}`, null);
  return type;
}

function cast(spec: TransformSpec & { readonly op: 'cast' }, layout: Layout, place: string): void {
  const i = layout.indexOf(spec.column, place);
  const laid = layout.at(i, place);
  const from = laid.column.type;
  const to = typeNamed(spec.type, place);
  const caster = casterOf(from, to, spec.format);
  if (!caster) {
    const how = spec.format === undefined ? '' : ' by a format';
    throw misfit(
      place,
      `${spec.column} is a ${formatType(from)}, which cannot be cast to ${formatType(to)}${how}`,
      null,
    );
  }
  const register = layout.newRegister();
  const { slot } = laid;
  const word = formatType(to);
  const orNull = spec.onError === 'null';
  layout.steps.push({
    column: spec.column,
    label: place,
    run: (f) => {
      const flag = f.load(slot);
      if (flag !== 0) f.setFlag(register, flag);
      else if (!caster(f, register)) {
        if (!orNull) {
          f.load(slot);
          throw new RowFault(notOfType(word, f.buf, f.start, f.end));
        }
        f.setNull(register);
      }
      return true;
    },
  });
  layout.columns[i] = {
    column: retyped(laid.column, to, laid.column.nullable || orNull),
    slot: { is: 'register', index: register },
    origin: orNull ? null : laid.origin,
  };
}

function mask(spec: TransformSpec & { readonly op: 'mask' }, name: string, layout: Layout, place: string): void {
  const i = layout.indexOf(name, place);
  const laid = layout.at(i, place);
  const { slot } = laid;
  const { type } = laid.column;
  if (spec.method === 'null') {
    layout.columns[i] = {
      column: { ...laid.column, nullable: true },
      slot: { is: 'constant', bytes: null },
      origin: null,
    };
    return;
  }
  if (spec.method === 'partial' && (type.is === 'binary' || type.is === 'geometry'))
    throw misfit(place, `${name} holds bytes, which have no characters to keep`, 'use the method sha256 or null');
  const register = layout.newRegister();
  const write = maskOf(spec);
  layout.steps.push({
    column: name,
    label: place,
    run: (f) => {
      const flag = f.load(slot);
      if (flag !== 0) f.setFlag(register, flag);
      else write(f, register);
      return true;
    },
  });
  layout.columns[i] = {
    column: retyped(laid.column, { is: 'string' }),
    slot: { is: 'register', index: register },
    origin: spec.method === 'sha256' ? laid.origin : null,
  };
}

function datax(spec: DataxSpec, regex: RegexEngine | null, layout: Layout, place: string): void {
  const laid = layout.at(spec.columnIndex, place);
  const { slot, column } = laid;
  if (spec.op === 'dx_filter') {
    layout.steps.push({ column: column.name, label: place, run: filterOf(spec, column.type, slot, regex, place) });
    return;
  }
  if (column.type.is === 'binary' || column.type.is === 'geometry')
    throw misfit(place, `${column.name} holds bytes, not text`, null);
  const register = layout.newRegister();
  const rewrite = rewriteOf(spec);
  const step: Step = {
    column: column.name,
    label: place,
    run: (f) => {
      const flag = f.load(slot);
      if (flag === ABSENT_FLAG) f.setFlag(register, flag);
      else {
        const text = rewrite(flag === 0 ? f.text() : null);
        if (text === null) f.setNull(register);
        else f.setText(register, text);
      }
      return true;
    },
  };
  layout.steps.push(step);
  layout.columns[spec.columnIndex] = {
    column: retyped(column, { is: 'string' }),
    slot: { is: 'register', index: register },
    origin: null,
  };
}
