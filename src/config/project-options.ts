import type { JsonObject, JsonValue } from '../plugin-api/index.js';
import { branchFor, branchesOf, extraPropertyOf, jsonTypeOf, propertyOf, type SchemaNode } from './schema.js';

/** The options without whatever is `x-secret`: they may be persisted and shown. */
export function publicOptions(schema: SchemaNode, options: Readonly<Record<string, unknown>>): JsonObject {
  return projectObject(schema, options, (s) => s['x-secret'] !== true);
}

/** The options that say which data the job is about, without secrets: the plugin's part of the state fingerprint. */
export function identityOptions(schema: SchemaNode, options: Readonly<Record<string, unknown>>): JsonObject {
  return projectObject(schema, options, (s) => s['x-secret'] !== true && s['x-state'] !== 'tuning');
}

type Keep = (schema: SchemaNode) => boolean;

function projectObject(schema: SchemaNode, value: object, keep: Keep): JsonObject {
  const out: Record<string, JsonValue> = {};
  for (const [name, v] of Object.entries(value)) {
    const s = propertyOf(schema, name) ?? extraPropertyOf(schema, name) ?? {};
    const kept = project(s, v, keep);
    if (kept !== undefined) out[name] = kept;
  }
  return out;
}

function project(schema: SchemaNode, value: unknown, keep: Keep): JsonValue | undefined {
  if (value === undefined || !keep(schema)) return undefined;
  const chosen = branchesOf(schema) ? (branchFor(schema, jsonTypeOf(value)) ?? {}) : schema;
  if (chosen !== schema && !keep(chosen)) return undefined;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    return items.map((v) => project(chosen.items ?? {}, v, keep)).filter((v) => v !== undefined);
  }
  if (typeof value === 'object' && value !== null) return projectObject(chosen, value, keep);
  return value as JsonValue;
}

/** Freezes plain JSON data in depth; returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const v of Object.values(value)) deepFreeze(v);
  }
  return value;
}
