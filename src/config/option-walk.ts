import type { Node } from 'jsonc-parser';
import { formatPath, formatPointer, type PathSegment } from './json-path.js';
import type { Parameters, PlantedNode, Use } from './parameters/parameters.js';
import { templateOf } from './parameters/template.js';
import type { Problem } from './problem.js';
import {
  branchFor,
  branchesOf,
  extraPropertyOf,
  propertyOf,
  typesOf,
  type JsonType,
  type SchemaNode,
} from './schema.js';
import { isSecretName, secretsOfUrl, secretsOfValue } from './secrets.js';
import type { SourceText } from './source-text.js';
import { suggestion } from './suggest.js';

/** Where a value of the result stands in the file. */
export interface Spot {
  readonly node: PlantedNode;
  /** The path with the names that the file uses (an alias stays an alias). */
  readonly path: readonly PathSegment[];
  readonly secret: boolean;
  /** Where parameters made the value: its JSON text; null: not to be shown. */
  readonly shown?: string | null;
  /** A parameter has no value, which is told already. */
  readonly unresolved?: boolean;
}

/** A parameter of a value that may be shown. */
export interface WalkedUse extends Use {
  /** The option says which data the job is about. */
  readonly identity: boolean;
}

/** What holds from an option on to what is in it. */
interface Inherited {
  readonly secret: NonNullable<SchemaNode['x-secret']>;
  readonly tuning: boolean;
}

const INTEGER = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Turns a part of the parsed file into plain values as its schema wants them: aliases become main names, "2" becomes 2
 * where a number is wanted, modes get their declared spelling, defaults are filled in. What does not fit is left as it
 * is, for the validator to refuse: nothing is guessed, nothing becomes empty or null.
 */
export class OptionWalk {
  readonly problems: Problem[] = [];
  /** By JSON pointer of the result below the walk's root. */
  readonly spots = new Map<string, Spot>();
  /** Values under `x-plugin`, by pointer: not looked into. */
  readonly pluginNodes = new Map<string, Node>();
  readonly uses: WalkedUse[] = [];
  /** Values that must not be told: of secret options, and those inside URLs and maps. */
  readonly secrets = new Set<string>();
  readonly #source: SourceText;
  readonly #parameters: Parameters | null;

  /** Without parameters every `${…}` is an error. */
  constructor(source: SourceText, parameters: Parameters | null = null) {
    this.#source = source;
    this.#parameters = parameters;
  }

  /** `path` is where `node` stands in the file, for messages. */
  run(schema: SchemaNode, node: Node, path: readonly PathSegment[]): unknown {
    return this.#value(schema, node, path, [], { secret: false, tuning: false });
  }

  /** `at`: a node, or an offset in the file. */
  report(
    level: Problem['level'],
    at: number | PlantedNode,
    path: readonly PathSegment[],
    message: string,
    hint: string | null,
  ): void {
    const from = typeof at === 'number' ? undefined : at.from;
    this.problems.push({
      code: 'JOB_INVALID',
      level,
      ...(from === undefined
        ? { file: this.#source.name, ...this.#source.place(typeof at === 'number' ? at : at.offset) }
        : { file: from, line: 0, column: 0 }),
      path: formatPath(path),
      message,
      hint,
    });
  }

  #value(
    schema: SchemaNode,
    written: Node,
    path: readonly PathSegment[],
    at: readonly PathSegment[],
    outer: Inherited,
  ): unknown {
    const inner: Inherited = {
      secret: outer.secret === true || (schema['x-secret'] ?? outer.secret),
      tuning: outer.tuning || schema['x-state'] === 'tuning',
    };
    const pointer = formatPointer(at);
    const { node, shown, unresolved = false } = this.#replaced(schema, written, path, inner);
    if (typeof node.value === 'string') this.#keepSecrets(inner.secret, node.value);
    this.spots.set(pointer, {
      node,
      path,
      secret: inner.secret !== false,
      unresolved,
      ...(shown === undefined ? {} : { shown }),
    });
    if (schema['x-plugin'] === true) {
      this.pluginNodes.set(pointer, node);
      return node.type === 'object' ? {} : plainValue(node);
    }
    const chosen = branchesOf(schema) ? branchFor(schema, node.type as JsonType) : schema;
    if (chosen === null) return plainValue(node);
    switch (node.type) {
      case 'object':
        return this.#object(chosen, node, path, at, inner);
      case 'array':
        return (node.children ?? []).map((child, i) =>
          this.#value(chosen.items ?? {}, child, [...path, i], [...at, i], inner),
        );
      default:
        return this.#scalar(chosen, node, path);
    }
  }

  #object(
    schema: SchemaNode,
    node: Node,
    path: readonly PathSegment[],
    at: readonly PathSegment[],
    inner: Inherited,
  ): Record<string, unknown> {
    const out: Record<string, unknown> = {};
    const namedBy = new Map<string, string>();
    for (const property of node.children ?? []) {
      const [key, value] = property.children ?? [];
      if (!key || !value) continue;
      const name = key.value as string;
      const here = [...path, name];
      const main = mainName(schema, name);
      if (main === null) {
        const extra = extraPropertyOf(schema, name);
        if (extra === null) {
          const known = usefulNames(schema);
          this.report('error', key, here, 'unknown option', suggestion(name, known, 'options'));
        } else {
          const secret = inner.secret === 'properties' ? isSecretName(name) || inner.secret : inner.secret;
          define(out, name, this.#value(extra, value, here, [...at, name], { ...inner, secret }));
        }
        continue;
      }
      const target = propertyOf(schema, main) ?? {};
      if (target['x-ignored'] !== undefined) {
        this.report('warning', key, here, 'has no effect', target['x-ignored']);
        continue;
      }
      const other = target['x-ignored-values'];
      if (other !== undefined && value.type === 'string' && new RegExp(other.pattern).test(value.value as string)) {
        this.report('warning', key, here, 'has no effect', other.why);
        continue;
      }
      const before = namedBy.get(main);
      if (before !== undefined && before !== name) {
        const message = `${JSON.stringify(before)} and ${JSON.stringify(name)} are two names of one option`;
        this.report('error', key, here, message, 'keep one of them');
        continue;
      }
      namedBy.set(main, name);
      define(out, main, this.#value(target, value, here, [...at, main], inner));
    }
    for (const [name, s] of Object.entries(schema.properties ?? {})) {
      if (s.default !== undefined && !Object.hasOwn(out, name)) out[name] = defaultOf(s);
    }
    return out;
  }

  /** The node with its parameters replaced; `shown` undefined: it has none. */
  #replaced(
    schema: SchemaNode,
    node: PlantedNode,
    path: readonly PathSegment[],
    inner: Inherited,
  ): { readonly node: Node; readonly shown?: string | null; readonly unresolved?: boolean } {
    if (node.literal !== undefined) return { node };
    const found = templateOf(node, this.#source.text);
    if (!found) return { node };
    const keep = schema['x-template'] ?? [];
    const r = this.#parameters?.replace(node, found.template, found.bare, keep);
    if (!r) return { node };
    if ('message' in r) {
      const message = inner.secret === false ? r.message : (r.discreet ?? r.message);
      this.report('error', node, path, message, r.hint);
      return { node, shown: null, unresolved: true };
    }
    if (inner.secret === false) this.uses.push(...r.uses.map((u) => ({ ...u, identity: !inner.tuning })));
    return r;
  }

  #keepSecrets(kind: Inherited['secret'], value: string): void {
    if (kind === true) for (const s of secretsOfValue(value)) this.secrets.add(s);
    else if (kind !== false) for (const s of secretsOfUrl(value)) this.secrets.add(s);
  }

  #literal(node: PlantedNode): string {
    return node.literal ?? this.#source.text.slice(node.offset, node.offset + node.length);
  }

  #scalar(schema: SchemaNode, node: Node, path: readonly PathSegment[]): unknown {
    const value: unknown = node.value;
    const literal = this.#literal(node);
    const text = typeof value === 'string' ? value : literal;
    if (value !== null) {
      const spelled = declaredSpelling(schema, text);
      if (spelled !== undefined) return spelled;
    }
    const types = typesOf(schema);
    if (types === null) return value;
    const wants = (t: string): boolean => types.includes(t);
    const number = wants('integer') || wants('number');
    if (typeof value === 'string') {
      if (wants('string')) return value;
      if (schema['x-unit'] === 'ms' || schema['x-unit'] === 's') {
        const time = durationMs(value);
        if (time !== null) return schema['x-unit'] === 'ms' ? time : time / 1000;
      }
      const trimmed = value.trim();
      if (number && (wants('number') ? NUMBER : INTEGER).test(trimmed)) {
        return this.#number(Number(trimmed), wants('number'), node, path, trimmed);
      }
      if (wants('boolean') && /^(?:true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === 'true';
      return value;
    }
    if (typeof value === 'number') {
      if (number) return this.#number(value, wants('number'), node, path, literal);
      // The literal, not the number: digits that a double cannot hold must survive.
      return wants('string') ? literal : value;
    }
    if (typeof value === 'boolean' && !wants('boolean') && wants('string')) return literal;
    return value;
  }

  #number(value: number, fractions: boolean, node: Node, path: readonly PathSegment[], literal: string): number {
    if (!fractions && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      const message = `${literal} is too large`;
      this.report('error', node, path, message, `the largest whole number is ${String(Number.MAX_SAFE_INTEGER)}`);
    }
    return value;
  }
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  min: 60_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `10 s`, `500ms`, `2 h`, as Flink writes durations; null: not of that form. */
function durationMs(text: string): number | null {
  const [, n, unit] = /^\s*(\d+)\s*(ms|s|min|m|h|d)\s*$/.exec(text) ?? [];
  return n === undefined || unit === undefined ? null : Number(n) * (UNIT_MS[unit] ?? 1);
}

/** The default of an option; a default group (`{}`) gets the defaults of its own options. */
function defaultOf(schema: SchemaNode): unknown {
  const value: unknown = structuredClone(schema.default);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const out = value as Record<string, unknown>;
  for (const [name, s] of Object.entries(schema.properties ?? {})) {
    if (s.default !== undefined && !Object.hasOwn(out, name)) out[name] = defaultOf(s);
  }
  return out;
}

/** Not those that are only accepted. */
function usefulNames(schema: SchemaNode): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, s]) => (s['x-ignored'] === undefined ? [name] : []));
}

function mainName(schema: SchemaNode, name: string): string | null {
  if (propertyOf(schema, name) !== null) return name;
  for (const [main, s] of Object.entries(schema.properties ?? {})) {
    if (s['x-aliases']?.includes(name) === true) return main;
  }
  return null;
}

/** The value of `x-values` or `enum` that a text spells, whatever its case; undefined: none. */
function declaredSpelling(schema: SchemaNode, text: string): unknown {
  const wanted = text.trim().toLowerCase();
  const values = schema['x-values'];
  const key = values && Object.keys(values).find((k) => k.toLowerCase() === wanted);
  if (values && key !== undefined) return values[key];
  const exact = schema.enum?.find((v) => v === text);
  return exact ?? schema.enum?.find((v) => typeof v === 'string' && v.toLowerCase() === wanted);
}

/** A plain assignment to `__proto__` would set the prototype and lose the key. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, configurable: true });
  else target[key] = value;
}

function plainValue(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(plainValue);
  if (node.type !== 'object') return node.value;
  const out: Record<string, unknown> = {};
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? [];
    if (key && value) define(out, key.value as string, plainValue(value));
  }
  return out;
}
