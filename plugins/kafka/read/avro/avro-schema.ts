/** Schemas of Avro 1.12 (https://avro.apache.org/docs/1.12.0/specification/), as their JSON says. */

export type Primitive = 'null' | 'boolean' | 'int' | 'long' | 'float' | 'double' | 'bytes' | 'string';

/** Of times: how many digits a fraction of a second has. */
export type Logical =
  | { readonly is: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly is: 'date' | 'uuid' }
  | { readonly is: 'time' | 'timestamp' | 'datetime'; readonly fraction: 3 | 6 | 9 };

export interface AvroField {
  readonly name: string;
  readonly type: AvroType;
}

export interface AvroRecord {
  readonly is: 'record';
  readonly name: string;
  /** Filled once the record is known by its name, as its fields may be of the same type. */
  readonly fields: AvroField[];
}

export type AvroType =
  | { readonly is: Primitive; readonly logical: Logical | null }
  | { readonly is: 'fixed'; readonly size: number; readonly logical: Logical | null }
  | { readonly is: 'enum'; readonly symbols: readonly string[] }
  | { readonly is: 'array' | 'map'; readonly items: AvroType }
  | { readonly is: 'union'; readonly branches: readonly AvroType[] }
  | AvroRecord;

/** Why it is no schema; `message` says where. */
export class AvroSchemaProblem extends Error {}

const PRIMITIVES: ReadonlySet<string> = new Set<Primitive>([
  'null',
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'bytes',
  'string',
]);
const isPrimitive = (name: string): name is Primitive => PRIMITIVES.has(name);

const TIMES: Readonly<Record<string, { readonly on: Primitive; readonly logical: Logical }>> = {
  date: { on: 'int', logical: { is: 'date' } },
  'time-millis': { on: 'int', logical: { is: 'time', fraction: 3 } },
  'time-micros': { on: 'long', logical: { is: 'time', fraction: 6 } },
  'timestamp-millis': { on: 'long', logical: { is: 'timestamp', fraction: 3 } },
  'timestamp-micros': { on: 'long', logical: { is: 'timestamp', fraction: 6 } },
  'timestamp-nanos': { on: 'long', logical: { is: 'timestamp', fraction: 9 } },
  'local-timestamp-millis': { on: 'long', logical: { is: 'datetime', fraction: 3 } },
  'local-timestamp-micros': { on: 'long', logical: { is: 'datetime', fraction: 6 } },
  'local-timestamp-nanos': { on: 'long', logical: { is: 'datetime', fraction: 9 } },
  uuid: { on: 'string', logical: { is: 'uuid' } },
};

type Json = Readonly<Record<string, unknown>>;
const isObject = (v: unknown): v is Json => typeof v === 'object' && v !== null && !Array.isArray(v);
const isCount = (v: unknown): v is number => typeof v === 'number' && Number.isSafeInteger(v) && v >= 0;

/** What Avro says of logical types that do not fit: they are passed over, and the type beneath holds. */
function logicalOf(o: Json, on: string): Logical | null {
  const name = o['logicalType'];
  if (typeof name !== 'string') return null;
  if (name === 'decimal' && (on === 'bytes' || on === 'fixed')) {
    const { precision, scale = 0 } = o;
    return isCount(precision) && isCount(scale) && precision > 0 && scale <= precision
      ? { is: 'decimal', precision, scale }
      : null;
  }
  const known = Object.hasOwn(TIMES, name) ? TIMES[name] : undefined;
  return known?.on === on ? known.logical : null;
}

class Parser {
  readonly #named = new Map<string, AvroType>();

  /** @param space the namespace that names without a dot are of. */
  parse(schema: unknown, space: string, at: string): AvroType {
    if (typeof schema === 'string') return this.#byName(schema, space, at);
    if (Array.isArray(schema)) {
      if (schema.length === 0) throw new AvroSchemaProblem(`${at}: a union without a type`);
      const branches = schema.map((s: unknown, i) => this.parse(s, space, `${at}[${String(i)}]`));
      if (branches.some((b) => b.is === 'union')) throw new AvroSchemaProblem(`${at}: a union within a union`);
      return { is: 'union', branches };
    }
    if (!isObject(schema)) throw new AvroSchemaProblem(`${at}: ${JSON.stringify(schema)} is no type`);
    const { type } = schema;
    if (typeof type !== 'string') return this.parse(type, space, at); // {"type": {"type": …}}
    if (isPrimitive(type)) return { is: type, logical: logicalOf(schema, type) };
    switch (type) {
      case 'array':
        return { is: 'array', items: this.parse(schema['items'], space, `${at}.items`) };
      case 'map':
        return { is: 'map', items: this.parse(schema['values'], space, `${at}.values`) };
      case 'record':
      case 'error':
        return this.#record(schema, space, at);
      case 'enum': {
        const { symbols } = schema;
        if (!Array.isArray(symbols) || !symbols.every((s): s is string => typeof s === 'string'))
          throw new AvroSchemaProblem(`${at}: an enum without symbols`);
        return this.#name(schema, space, at, { is: 'enum', symbols });
      }
      case 'fixed': {
        const { size } = schema;
        if (!isCount(size)) throw new AvroSchemaProblem(`${at}: a fixed without a size`);
        return this.#name(schema, space, at, { is: 'fixed', size, logical: logicalOf(schema, 'fixed') });
      }
      default:
        return this.#byName(type, space, at);
    }
  }

  #byName(name: string, space: string, at: string): AvroType {
    if (isPrimitive(name)) return { is: name, logical: null };
    const known = this.#named.get(fullName(name, space)) ?? this.#named.get(name);
    if (known === undefined) throw new AvroSchemaProblem(`${at}: the type ${name} is not known`);
    return known;
  }

  #name<T extends AvroType>(schema: Json, space: string, at: string, type: T): T {
    const full = nameOf(schema, space, at);
    if (this.#named.has(full)) throw new AvroSchemaProblem(`${at}: there are two types ${full}`);
    this.#named.set(full, type);
    return type;
  }

  #record(schema: Json, space: string, at: string): AvroRecord {
    const name = nameOf(schema, space, at);
    const record: AvroRecord = { is: 'record', name, fields: [] };
    this.#name(schema, space, at, record);
    const inner = name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : '';
    const { fields } = schema;
    if (!Array.isArray(fields)) throw new AvroSchemaProblem(`${at}: the record ${name} has no fields`);
    for (const field of fields as readonly unknown[]) {
      const of = isObject(field) ? field['name'] : undefined;
      if (!isObject(field) || typeof of !== 'string')
        throw new AvroSchemaProblem(`${at}: a field of ${name} has no name`);
      if (record.fields.some((f) => f.name === of)) throw new AvroSchemaProblem(`${at}: ${name} has two fields ${of}`);
      record.fields.push({ name: of, type: this.parse(field['type'], inner, `${at}.${of}`) });
    }
    return record;
  }
}

const fullName = (name: string, space: string): string =>
  name.includes('.') || space === '' ? name : `${space}.${name}`;

function nameOf(schema: Json, space: string, at: string): string {
  const { name, namespace } = schema;
  if (typeof name !== 'string' || name === '') throw new AvroSchemaProblem(`${at}: a type without a name`);
  return fullName(name, typeof namespace === 'string' ? namespace : space);
}

/**
 * @param json the schema as JSON has it.
 * @throws AvroSchemaProblem
 */
export function parseAvroSchema(json: unknown): AvroType {
  return new Parser().parse(json, '', 'schema');
}

/** What a union holds besides null, where that is one type; else the type itself. */
export function withoutNull(type: AvroType): AvroType {
  if (type.is !== 'union') return type;
  const rest = type.branches.filter((b) => b.is !== 'null');
  const [only] = rest;
  return rest.length === 1 && only !== undefined ? only : type;
}
