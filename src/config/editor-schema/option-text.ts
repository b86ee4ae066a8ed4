/** What an editor shows of an option. */
import { branchesOf, type SchemaNode } from '../schema.js';
import type { EditorSchema } from './option-schema.js';

/** Of an option schema; the keywords that are not of `SchemaNode` are known to JSON Schema alone. */
export type Titled = SchemaNode & { readonly title?: unknown; readonly examples?: unknown };

export function optionText(s: Titled): EditorSchema {
  const examples = Array.isArray(s.examples) ? (s.examples as readonly unknown[]) : [];
  const text = describe(s, examples);
  return {
    ...(typeof s.title === 'string' ? { title: s.title } : {}),
    ...(text === '' ? {} : { description: text }),
    ...(s.default === undefined ? {} : { default: s.default }),
    ...(examples.length === 0 ? {} : { examples }),
  };
}

function describe(s: Titled, examples: readonly unknown[]): string {
  const unit = s['x-unit'];
  const time = unit === 'ms' || unit === 's' ? ', or text such as "10 s", "5 min"' : '';
  const aliases = s['x-aliases'] ?? [];
  const example = examples[0];
  return [
    (s.description ?? '').replace(/\s+/g, ' ').trim(),
    unit === undefined ? '' : `Unit: ${unit}${time}.`,
    s.default === undefined || isEmpty(s.default) ? '' : `Default: ${JSON.stringify(s.default)}.`,
    example === undefined || isEmpty(example) ? '' : `Example: ${JSON.stringify(example)}.`,
    isSecret(s) ? 'Secret: never shown or kept; say ${env:NAME} or ${file:path} rather than the value itself.' : '',
    aliases.length === 0 ? '' : `Also ${aliases.join(', ')}.`,
  ]
    .filter((t) => t !== '')
    .join(' ');
}

/** An empty list or object says nothing. */
function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** Any word but false: some say in which way. */
function isSecret(s: SchemaNode): boolean {
  const said: unknown = s['x-secret'];
  return (said !== undefined && said !== false) || (branchesOf(s) ?? []).some(isSecret);
}

/** Marks of an option that is taken and should not be written. The second and third are VS Code's words for it. */
export function deprecated(description: string, message: string): EditorSchema {
  return { description, deprecated: true, deprecationMessage: message, doNotSuggest: true };
}
