/** Reads the transforms of a content entry: `transform`, our list, or DataX's `transformer`. */
import type { Node } from 'jsonc-parser';
import { parseType, type LogicalType } from '../plugin-api/index.js';
import { canonicalCell } from '../cells/cell-form.js';
import { isDatePattern } from '../cells/date-pattern.js';
import { DATAX_OPS, type DataxSpec, type TransformSpec } from '../job/transform-spec.js';
import type { ExprType } from '../expr/types.js';
import { dataxFaults } from './datax-options.js';
import type { PluginSource } from './job.js';
import { formatPointer, type PathSegment } from './json-path.js';
import { OptionWalk, type WalkedUse } from './option-walk.js';
import type { Parameters } from './parameters/parameters.js';
import type { Problem } from './problem.js';
import type { SchemaNode } from './schema.js';
import type { SourceText } from './source-text.js';
import { suggestion } from './suggest.js';
import { columnsAfter, type Columns } from './transform-columns.js';
import { checkExpression, offsetInLiteral } from './transform-expression.js';
import { DATAX_SCHEMA, TRANSFORM_SCHEMAS } from './transform-schema.js';
import { compileSchema, validateWalked } from './validate-options.js';

export interface TransformOutcome {
  /** Null where a step is wrong. */
  readonly specs: readonly TransformSpec[] | null;
  /** Names of the columns that go to the writer; null: known only at run time. */
  readonly columns: readonly string[] | null;
  readonly problems: readonly Problem[];
  /** Parameters in the steps. */
  readonly uses: readonly WalkedUse[];
  /** Values that must not be told. */
  readonly secrets: readonly string[];
}

export interface TransformNodes {
  readonly transform: Node | undefined;
  readonly transformer: Node | undefined;
  /** Of the content entry, from 0. */
  readonly index: number;
}

interface Reading {
  readonly plugins: PluginSource;
  readonly source: SourceText;
  readonly parameters: Parameters | null;
  readonly problems: Problem[];
  readonly uses: WalkedUse[];
  readonly secrets: string[];
}

const HELP = 'docs/transforms.md has the steps that there are';

/** `columns`: what the reader delivers, or null. */
export async function readTransforms(
  nodes: TransformNodes,
  columns: readonly string[] | null,
  plugins: PluginSource,
  source: SourceText,
  parameters: Parameters | null,
): Promise<TransformOutcome> {
  const r: Reading = { plugins, source, parameters, problems: [], uses: [], secrets: [] };
  const base = ['job', 'content', nodes.index];
  const frame = new OptionWalk(source);
  const report = frame.report.bind(frame);
  const none = (): TransformOutcome => ({
    specs: null,
    columns: null,
    problems: [...frame.problems, ...r.problems],
    uses: [],
    secrets: [],
  });
  const { transform, transformer } = nodes;
  if (transform && transformer) {
    const message = '"transform" and "transformer" are two lists of steps';
    report('error', transformer.offset, [...base, 'transformer'], message, 'keep one of them');
    return none();
  }
  if (transformer?.type === 'object') {
    const message = "FlinkX's transformSql is not supported";
    const hint = 'write its columns and its WHERE as a "transform" list: see docs/transforms.md';
    report('error', transformer.offset, [...base, 'transformer'], message, hint);
    return none();
  }
  const list = transform ?? transformer;
  if (list?.type !== 'array') return none(); // told by the schema of the frame
  const key = transform ? 'transform' : 'transformer';
  const specs: TransformSpec[] = [];
  let at: Columns = columns?.map((name) => ({ name, type: 'any' as const })) ?? null;
  let whole = true;
  for (const [i, node] of (list.children ?? []).entries()) {
    const path = [...base, key, i];
    const step = transform ? await ourStep(node, path, r) : await dataxStep(node, path, r);
    if (!step) {
      whole = false;
      at = null; // what follows may name what this one would have made
      continue;
    }
    const after = await checkStep(step, at);
    r.problems.push(...step.walk.problems);
    if (step.walk.problems.some((p) => p.level === 'error')) whole = false;
    specs.push(after.spec);
    at = after.columns;
  }
  return {
    specs: whole ? specs : null,
    columns: whole ? (at?.map((c) => c.name) ?? null) : null,
    problems: r.problems,
    uses: r.uses,
    secrets: r.secrets,
  };
}

interface ReadStep {
  readonly spec: TransformSpec;
  readonly walk: OptionWalk;
  /** Reports at an option of the step. */
  readonly at: (path: readonly PathSegment[], message: string, hint: string | null, inText?: number) => void;
}

async function walked(
  node: Node,
  path: readonly PathSegment[],
  schema: SchemaNode,
  name: string,
  r: Reading,
): Promise<{ readonly walk: OptionWalk; readonly value: unknown } | null> {
  const walk = new OptionWalk(r.source, r.parameters);
  const value = walk.run(schema, node, path);
  r.uses.push(...walk.uses);
  r.secrets.push(...walk.secrets);
  const validate = (await r.plugins.validator(name)) ?? (await compileSchema(schema, name));
  const valid = validateWalked(validate, schema, value, walk, r.source);
  if (valid && walk.problems.every((p) => p.level !== 'error')) return { walk, value };
  r.problems.push(...walk.problems);
  return null;
}

function reporter(walk: OptionWalk, source: SourceText): ReadStep['at'] {
  return (path, message, hint, inText) => {
    for (let n = path.length; n >= 0; n--) {
      const spot = walk.spots.get(formatPointer(path.slice(0, n)));
      if (!spot) continue;
      const { offset, length } = spot.node;
      // What parameters made is not in the file.
      const inside =
        inText === undefined || spot.shown !== undefined
          ? 0
          : offsetInLiteral(source.text.slice(offset, offset + length), inText);
      walk.report('error', offset + inside, [...spot.path, ...path.slice(n)], message, hint);
      return;
    }
  };
}

function property(node: Node, name: string): Node | undefined {
  return node.children?.find((p) => p.children?.[0]?.value === name)?.children?.[1];
}

async function ourStep(node: Node, path: readonly PathSegment[], r: Reading): Promise<ReadStep | null> {
  const frame = new OptionWalk(r.source);
  const refuse = (at: Node, more: readonly PathSegment[], message: string, hint: string | null): null => {
    frame.report('error', at.offset, [...path, ...more], message, hint);
    r.problems.push(...frame.problems);
    return null;
  };
  if (node.type !== 'object') return refuse(node, [], 'must be an object', HELP);
  const op = property(node, 'op');
  const known = Object.keys(TRANSFORM_SCHEMAS);
  if (!op) return refuse(node, ['op'], 'is missing', `one of ${known.join(', ')}`);
  const word: unknown = op.value;
  const name = typeof word === 'string' ? known.find((k) => k.toLowerCase() === word.toLowerCase()) : undefined;
  const schema = name === undefined ? undefined : TRANSFORM_SCHEMAS[name];
  if (name === undefined || !schema) {
    const shown = r.source.text.slice(op.offset, op.offset + op.length);
    const near = typeof word === 'string' ? suggestion(word, known, 'steps') : null;
    return refuse(op, ['op'], `there is no step ${shown}`, near ?? `known steps: ${known.join(', ')}`);
  }
  const step = await walked(node, path, schema, `transform.${name}`, r);
  if (!step) return null;
  return { spec: step.value as TransformSpec, walk: step.walk, at: reporter(step.walk, r.source) };
}

async function dataxStep(node: Node, path: readonly PathSegment[], r: Reading): Promise<ReadStep | null> {
  const name = node.type === 'object' ? property(node, 'name') : undefined;
  if (name && typeof name.value === 'string' && !(DATAX_OPS as readonly string[]).includes(name.value)) {
    const frame = new OptionWalk(r.source);
    const groovy = name.value === 'dx_groovy';
    const message = groovy
      ? 'dx_groovy runs code of the job file, which is not supported'
      : `there is no transformer ${JSON.stringify(name.value)}`;
    const hint = groovy
      ? 'write it as a "transform" list: see docs/transforms.md'
      : suggestion(name.value, DATAX_OPS, 'transformers');
    frame.report('error', name.offset, [...path, 'name'], message, hint);
    r.problems.push(...frame.problems);
    return null;
  }
  const step = await walked(node, path, DATAX_SCHEMA, 'transform.datax', r);
  if (!step) return null;
  const value = step.value as { readonly name: DataxSpec['op']; readonly parameter: Omit<DataxSpec, 'op'> };
  const { columnIndex, paras } = value.parameter;
  return { spec: { op: value.name, columnIndex, paras }, walk: step.walk, at: reporter(step.walk, r.source) };
}

interface CheckedStep {
  readonly spec: TransformSpec;
  readonly columns: Columns;
}

/** What no schema can say. @returns the step, its constant in canonical form, and the columns after it. */
async function checkStep({ spec: given, at, walk }: ReadStep, columns: Columns): Promise<CheckedStep> {
  let spec = given;
  let computed: ExprType = 'any';
  switch (spec.op) {
    case 'filter':
    case 'compute': {
      const [key, source] = spec.op === 'filter' ? ['where', spec.where] : ['expression', spec.expression];
      const checked = await checkExpression(source, columns, spec.op === 'filter' ? 'bool' : 'value');
      for (const f of checked.faults) at([key], `${f.message} (character ${String(f.at + 1)})`, f.hint, f.at);
      computed = checked.type;
      if (spec.op === 'compute' && spec.type !== undefined) typeAt(spec.type, at);
      break;
    }
    case 'cast': {
      const type = typeAt(spec.type, at);
      if (type && spec.format !== undefined) checkFormat(type, spec.format, at);
      break;
    }
    case 'constant': {
      const type = typeAt(spec.type, at);
      if (type && spec.value !== null) {
        const cell = canonicalCell(type, spec.value);
        if (cell === null) at(['value'], `is no value of type ${spec.type}`, null);
        else spec = { ...spec, value: cell };
      }
      break;
    }
    case 'mask':
      checkMask(spec, walk);
      break;
    case 'dx_filter':
    case 'dx_substr':
    case 'dx_pad':
    case 'dx_replace':
    case 'dx_digest':
      for (const f of await dataxFaults(spec)) at(['parameter', 'paras', ...f.path], f.message, f.hint);
      break;
    default:
      break;
  }
  const { columns: after, faults } = columnsAfter(spec, columns, computed);
  const names = columns?.map((c) => c.name) ?? [];
  for (const f of faults) at(f.path, f.message, f.missing === null ? null : suggestion(f.missing, names, 'columns'));
  return { spec, columns: faults.length === 0 ? after : null };
}

function typeAt(name: string, at: ReadStep['at']): LogicalType | null {
  const type = parseType(name);
  if (!type || type.is === 'geometry') {
    at(
      ['type'],
      `there is no type ${JSON.stringify(name)} to bring a value to`,
      'say string, bigint, decimal(20,4), double, boolean, date, datetime, timestamp …',
    );
    return null;
  }
  return type;
}

const BY_FORMAT: readonly string[] = ['date', 'datetime', 'timestamp', 'time', 'year', 'string'];

function checkFormat(type: LogicalType, format: string, at: ReadStep['at']): void {
  if (!BY_FORMAT.includes(type.is))
    at(['format'], `${type.is} has no format`, 'a format is for dates and times, and for string');
  else if (!isDatePattern(format))
    at(['format'], 'is not a pattern of dates', "of yyyy MM dd HH mm ss S, and text in '…'");
}

/** Options of another method do nothing; who gave one may have meant that method. */
function checkMask(spec: TransformSpec & { readonly op: 'mask' }, walk: OptionWalk): void {
  const only: Readonly<Record<string, string>> = {
    salt: 'sha256',
    keepFirst: 'partial',
    keepLast: 'partial',
    with: 'partial',
  };
  for (const [option, method] of Object.entries(only)) {
    const spot = walk.spots.get(`/${option}`);
    if (spot && spec.method !== method)
      walk.report(
        'warning',
        spot.node.offset,
        spot.path,
        `has no effect with the method ${spec.method}`,
        `it belongs to ${method}`,
      );
  }
}
