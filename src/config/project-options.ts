import { resolve } from 'node:path';
import type { JsonObject, JsonValue } from '../plugin-api/index.js';
import { isSecretName, publicUrl } from './secrets.js';
import { branchFor, branchesOf, extraPropertyOf, jsonTypeOf, propertyOf, type SchemaNode } from './schema.js';

/**
 * The options without whatever is `x-secret`: they may be persisted and shown. Paths are absolute, here and in the
 * identity: a start from another folder must not take another source or target for the same one.
 */
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
    if (schema['x-secret'] === 'properties' && isSecretName(name)) continue;
    const s = propertyOf(schema, name) ?? extraPropertyOf(schema, name) ?? {};
    const kept = project(s, v, keep, schema);
    if (kept !== undefined) out[name] = kept;
  }
  return out;
}

function absolute(path: string, form: SchemaNode['x-path']): string {
  const one = (p: string): string => (p === '-' || p === '' ? p : resolve(p));
  if (form === 'one') return one(path);
  const parts = path.split(',').map((p) => one(p.trim()));
  return parts.join(',');
}

function project(schema: SchemaNode, value: unknown, keep: Keep, outer: SchemaNode = {}): JsonValue | undefined {
  const path = schema['x-path'] ?? outer['x-path'];
  const secret = schema['x-secret'] ?? outer['x-secret'];
  if (value === undefined || !keep(schema)) return undefined;
  const chosen = branchesOf(schema) ? (branchFor(schema, jsonTypeOf(value)) ?? {}) : schema;
  if (chosen !== schema && !keep(chosen)) return undefined;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    return items.map((v) => project(chosen.items ?? {}, v, keep, schema)).filter((v) => v !== undefined);
  }
  if (typeof value === 'object' && value !== null) return projectObject(chosen, value, keep);
  if (typeof value !== 'string') return value as JsonValue;
  if (secret !== undefined && secret !== false) return publicUrl(value);
  return path ? absolute(value, path) : value;
}

/** Freezes plain JSON data in depth; returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const v of Object.values(value)) deepFreeze(v);
  }
  return value;
}
