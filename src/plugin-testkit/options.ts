import { Ajv, type AnySchema } from 'ajv';
import type { JsonObject } from '../plugin-api/index.js';

export const KEYWORDS = [
  'x-secret',
  'x-state',
  'x-unit',
  'x-path',
  'x-aliases',
  'x-values',
  'x-ignored',
  'x-ignored-values',
  'x-template',
] as const;

function isRegex(text: string): boolean {
  try {
    new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}

/** The validator that stands for the engine's: strict, fills in defaults. */
export function optionsAjv(): Ajv {
  return new Ajv({
    strict: true,
    strictTypes: false,
    allErrors: true,
    useDefaults: true,
    allowUnionTypes: true,
    keywords: [...KEYWORDS],
    formats: { regex: isRegex },
  });
}

/** Options as `create` receives them; `never`, as their type is known to the plugin only. @throws Error where they do not fit the schema. */
export function fillOptions(plugin: { readonly name: string; readonly options: unknown }, options: JsonObject): never {
  const ajv = optionsAjv();
  const filled = structuredClone(options) as Record<string, unknown>;
  if (!ajv.validate(plugin.options as AnySchema, filled)) {
    throw new Error(`options of ${plugin.name}: ${ajv.errorsText(ajv.errors)}`);
  }
  return deepFreeze(filled) as never;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
