import { SyncError } from '../plugin-api/index.js';
import type { OptionWalk } from './option-walk.js';
import { formatPointer, parsePointer, type PathSegment } from './json-path.js';
import { acceptsType, branchesOf, jsonTypeOf, typesOf, type SchemaNode } from './schema.js';
import type { SourceText } from './source-text.js';
import { suggestion } from './suggest.js';

/** An error as ajv tells it. */
export interface ValidationError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

/** What ajv compiles a schema to, at run time or ahead of time. */
export interface ValidateFunction {
  (data: unknown): boolean;
  errors?: readonly ValidationError[] | null | undefined;
}

/** Compiles a schema at run time: plugins that the build does not know. Costs some 30 ms once. */
export async function compileSchema(schema: SchemaNode, owner: string): Promise<ValidateFunction> {
  // By its default export: the bundle gives a CommonJS module no other.
  const { default: ajv } = await import('ajv');
  try {
    return new ajv.Ajv(AJV_OPTIONS).compile(schema);
  } catch (e) {
    throw new SyncError('PLUGIN_BROKEN', `the option schema of ${owner} is not valid`, { cause: e });
  }
}

/** The same for both ways to compile. `strict` is off for the `x-` keywords. */
export const AJV_OPTIONS = { allErrors: true, strict: false, validateFormats: false, messages: true } as const;

/** Validates what a walk has read and adds what is wrong to the walk's problems. @returns true where all is well. */
export function validateWalked(
  validate: ValidateFunction,
  schema: SchemaNode,
  value: unknown,
  walk: OptionWalk,
  source: SourceText,
): boolean {
  if (validate(value)) return true;
  for (const e of relevant(validate.errors ?? [], schema, value)) {
    const at = parsePointer(e.instancePath);
    const missing = e.keyword === 'required' ? String(e.params['missingProperty']) : null;
    const { spot, rest } = nearestSpot(walk, at);
    if (spot.unresolved === true) continue;
    const path: readonly PathSegment[] = [...spot.path, ...rest, ...(missing === null ? [] : [missing])];
    const own = spot.node.literal ?? source.text.slice(spot.node.offset, spot.node.offset + spot.node.length);
    const literal = spot.shown ?? own;
    const hidden = rest.length > 0 || spot.shown === null || (spot.secret && literal !== 'null');
    const shown = hidden ? null : shorten(literal);
    const { message, hint } = explain(e, schema, shown);
    walk.report('error', spot.node, path, message, hint);
  }
  return false;
}

function nearestSpot(walk: OptionWalk, at: readonly string[]) {
  for (let n = at.length; n >= 0; n--) {
    const spot = walk.spots.get(formatPointer(at.slice(0, n)));
    if (spot) return { spot, rest: at.slice(n) };
  }
  throw new RangeError('the walk has no root');
}

/** Of the errors of an anyOf only those of the branch that the value is meant for; else the anyOf as one. */
function relevant(errors: readonly ValidationError[], root: SchemaNode, value: unknown): ValidationError[] {
  const unions = errors.filter((e) => e.keyword === 'anyOf' || e.keyword === 'oneOf');
  const hidden = new Set<ValidationError>();
  for (const union of unions) {
    const schema = schemaAt(root, parentOf(union.schemaPath));
    const type = jsonTypeOf(valueAt(value, parsePointer(union.instancePath)));
    const meant = (branchesOf(schema) ?? []).findIndex((b) => acceptsType(b, type));
    if (meant >= 0) hidden.add(union);
    for (const e of errors) {
      if (!e.schemaPath.startsWith(`${union.schemaPath}/`)) continue;
      if (!e.instancePath.startsWith(union.instancePath)) continue;
      if (meant < 0 || !e.schemaPath.startsWith(`${union.schemaPath}/${String(meant)}/`)) hidden.add(e);
    }
  }
  return errors.filter((e) => !hidden.has(e));
}

function explain(e: ValidationError, root: SchemaNode, shown: string | null): { message: string; hint: string | null } {
  const schema = schemaAt(root, parentOf(e.schemaPath));
  const is = shown === null ? '' : `is ${shown}; `;
  switch (e.keyword) {
    case 'required':
      return { message: 'is missing', hint: null };
    case 'type':
    case 'anyOf':
    case 'oneOf': {
      const nullHint = shown === 'null' ? 'leave the option out where it is not wanted' : null;
      return { message: `${is}must be ${describeWanted(schema)}`, hint: nullHint };
    }
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
    case 'multipleOf':
      return { message: `${is}must be ${describeWanted(schema)}`, hint: null };
    case 'enum': {
      const known = (schema.enum ?? []).map((v) => (typeof v === 'string' ? v : JSON.stringify(v)));
      const message = `${is}must be one of ${known.map((k) => JSON.stringify(k)).join(', ')}`;
      const near = shown === null ? null : suggestion(shown.replace(/^"|"$/g, ''), known, 'values');
      return { message, hint: near?.startsWith('did') === true ? near : null };
    }
    case 'minLength':
      return { message: schema.minLength === 1 ? 'must not be empty' : `${is}is too short`, hint: null };
    case 'minItems':
      return {
        message: schema.minItems === 1 ? 'must not be empty' : `must have at least ${String(schema.minItems)} entries`,
        hint: null,
      };
    case 'maxItems':
      return { message: `must have at most ${String(schema.maxItems)} entries`, hint: null };
    default:
      return { message: `${is}${e.message ?? 'does not fit'}`, hint: schema.description ?? null };
  }
}

/** `a whole number from 1 to 10000 (ms)`. */
function describeWanted(schema: SchemaNode): string {
  const branches = branchesOf(schema);
  if (branches) return branches.map(describeWanted).join(' or ');
  const unit = schema['x-unit'] === undefined ? '' : ` (${schema['x-unit']})`;
  const words = (typesOf(schema) ?? []).map((t) => {
    switch (t) {
      case 'integer':
        return `a whole number${range(schema)}${unit}`;
      case 'number':
        return `a number${range(schema)}${unit}`;
      case 'boolean':
        return 'true or false';
      case 'array':
        return schema.items && typesOf(schema.items) ? `a list of ${describeWanted(schema.items)}` : 'a list';
      case 'object':
        return 'an object';
      case 'string':
        return 'a string';
      default:
        return t;
    }
  });
  return words.length === 0 ? 'of another kind' : words.join(' or ');
}

function range(s: SchemaNode): string {
  const low = s.minimum !== undefined ? String(s.minimum) : null;
  const high = s.maximum !== undefined ? String(s.maximum) : null;
  if (s.exclusiveMinimum !== undefined)
    return ` above ${String(s.exclusiveMinimum)}${high === null ? '' : `, up to ${high}`}`;
  if (low !== null && high !== null) return ` from ${low} to ${high}`;
  if (low !== null) return `, at least ${low}`;
  return high === null ? '' : `, at most ${high}`;
}

function parentOf(schemaPath: string): string {
  return schemaPath.slice(0, schemaPath.lastIndexOf('/'));
}

function schemaAt(root: SchemaNode, schemaPath: string): SchemaNode {
  const at = parsePointer(decodeURIComponent(schemaPath.replace(/^#/, '')));
  const found = valueAt(root, at);
  return typeof found === 'object' && found !== null ? found : {};
}

function valueAt(value: unknown, at: readonly string[]): unknown {
  let v = value;
  for (const key of at) {
    if (typeof v !== 'object' || v === null) return undefined;
    v = (v as Record<string, unknown>)[key];
  }
  return v;
}

function shorten(literal: string): string {
  if (literal.startsWith('{')) return 'an object';
  if (literal.startsWith('[')) return 'a list';
  return literal.length <= 60 ? literal : `${literal.slice(0, 57)}…`;
}
