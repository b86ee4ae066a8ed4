/** Values for options of a job file that somebody begins to write. */
import { branchesOf, typesOf, type SchemaNode } from './schema.js';

type Sampled = SchemaNode & { readonly examples?: unknown };

/** `given`: what an example of the plugin says. */
export function sampleValue(name: string, s: Sampled, given: unknown): unknown {
  if (given !== undefined) return given;
  const [example] = Array.isArray(s.examples) ? (s.examples as readonly unknown[]) : [];
  if (isSecret(s)) return `\${env:${name.replace(/([a-z])([A-Z])/g, '$1_$2').toUpperCase()}:secret}`;
  if (example !== undefined) return example;
  return s.default ?? s.const ?? s.enum?.[0] ?? placeholder(name, s);
}

/** What holds where the option is not set, else what it may look like. */
export function shownDefault(name: string, s: Sampled): unknown {
  const empty = typeof s.default === 'object' && s.default !== null && Object.keys(s.default).length === 0;
  if (s.default === undefined || s.default === null || s.default === '' || empty)
    return sampleValue(name, s, undefined);
  return s.default;
}

function placeholder(name: string, s: Sampled): unknown {
  const [first] = branchesOf(s) ?? [];
  if (first) return sampleValue(name, first, undefined);
  switch (typesOf(s)?.find((t) => t !== 'null')) {
    case 'integer':
    case 'number':
      return Math.max(s.minimum ?? 1, 0);
    case 'boolean':
      return false;
    case 'array':
      return [sampleValue(name, s.items ?? {}, undefined)];
    case 'object':
      return Object.fromEntries(
        (s.required ?? []).map((n) => [n, sampleValue(n, s.properties?.[n] ?? {}, undefined)] as const),
      );
    default:
      return name.toUpperCase();
  }
}

/** Any word but false: some say in which way. */
export function isSecret(s: SchemaNode): boolean {
  const said: unknown = s['x-secret'];
  return said !== undefined && said !== false;
}
