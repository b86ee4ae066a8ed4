/** The part of JSON Schema (draft 7) that option schemas use, with the keywords of the plugin contract. */
export interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | SchemaNode;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  /** `url`: the credentials in it; `properties`: the values whose names tell that they are secret. */
  readonly 'x-secret'?: boolean | 'url' | 'properties';
  readonly 'x-state'?: 'identity' | 'tuning';
  readonly 'x-unit'?: string;
  /** A path of this machine (`list`: several, with commas); kept absolute in state. `-` is none. */
  readonly 'x-path'?: 'one' | 'list' | undefined;
  readonly 'x-aliases'?: readonly string[];
  /** Accepted spelling → value. */
  readonly 'x-values'?: Readonly<Record<string, unknown>>;
  /** Accepted for the sake of old job files; the text says why it does nothing. */
  readonly 'x-ignored'?: string;
  /** Texts that old job files give for something else: they have no effect, and `why` says so. */
  readonly 'x-ignored-values'?: { readonly pattern: string; readonly why: string };
  /** Names whose `${name}` the plugin replaces itself, row by row: they are left as they are. */
  readonly 'x-template'?: readonly string[];
  /** The value belongs to a plugin's own schema and is not looked into. */
  readonly 'x-plugin'?: boolean;
}

export type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

export function typesOf(schema: SchemaNode): readonly string[] | null {
  if (schema.type === undefined) return null;
  return typeof schema.type === 'string' ? [schema.type] : schema.type;
}

/** Whether a value of this JSON type fits the schema's `type`. */
export function acceptsType(schema: SchemaNode, type: JsonType): boolean {
  const types = typesOf(schema);
  if (types === null) {
    if (schema.enum) return schema.enum.some((v) => jsonTypeOf(v) === type);
    return schema.const === undefined || jsonTypeOf(schema.const) === type;
  }
  return types.includes(type) || (type === 'number' && types.includes('integer'));
}

export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const t = typeof value;
  return t === 'boolean' || t === 'number' || t === 'string' ? t : 'object';
}

export function branchesOf(schema: SchemaNode): readonly SchemaNode[] | null {
  return schema.anyOf ?? schema.oneOf ?? null;
}

/** The branch of an anyOf or oneOf that a value is meant for, by its JSON type; null: none. */
export function branchFor(schema: SchemaNode, type: JsonType): SchemaNode | null {
  const branches = branchesOf(schema) ?? [];
  const fits = branches.find((b) => acceptsType(b, type));
  if (fits) return fits;
  const scalar = (b: SchemaNode): boolean =>
    ['string', 'number', 'integer', 'boolean'].some((t) => typesOf(b)?.includes(t));
  // A scalar in the wrong dress ("5" for 5): the walk over the options converts it or leaves it to the validator.
  return type === 'string' || type === 'number' || type === 'boolean' ? (branches.find(scalar) ?? null) : null;
}

/** The schema of a property by its main name, or null. */
export function propertyOf(schema: SchemaNode, name: string): SchemaNode | null {
  return schema.properties && Object.hasOwn(schema.properties, name) ? (schema.properties[name] ?? null) : null;
}

/** The schema that applies to a property that `properties` does not name; null: the property is not allowed. */
export function extraPropertyOf(schema: SchemaNode, name: string): SchemaNode | null {
  for (const [pattern, s] of Object.entries(schema.patternProperties ?? {})) {
    if (new RegExp(pattern, 'u').test(name)) return s;
  }
  const extra = schema.additionalProperties;
  if (extra === true) return {};
  if (typeof extra === 'object') return extra;
  // An object without named properties is a free map, unless the schema says otherwise.
  return extra === undefined && schema.properties === undefined ? {} : null;
}
