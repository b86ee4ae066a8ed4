/**
 * An option schema as plain JSON Schema (draft 7) for editors, of the file as it is written. It takes whatever the loader
 * takes (the walk over the options turns it into what the option schema says), so it is looser in places; it is never
 * stricter. A keyword that is not known here is left out for that reason.
 */
import { acceptsType, branchesOf, typesOf, type SchemaNode } from '../schema.js';
import { deprecated, optionText } from './option-text.js';
import { anyCase, PARAMETER, textsFor, wordsOf, type Words } from './spellings.js';

export interface EditorSchema {
  readonly [keyword: string]: unknown;
}

/** The schema of a property that is not made from its own; null: it is. */
export type Replace = (name: string, schema: SchemaNode) => EditorSchema | null;

const NUMBER_LIMITS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const;
const LIST_LIMITS = ['minItems', 'maxItems', 'uniqueItems'] as const;
const NOTHING: Replace = () => null;
const FROM_PARAMETER: EditorSchema = { type: 'string', pattern: PARAMETER };

export function optionSchema(s: SchemaNode | boolean, replace: Replace = NOTHING): EditorSchema {
  if (typeof s === 'boolean') return {};
  const ignored = s['x-ignored'];
  if (ignored !== undefined) return deprecated(`Has no effect: ${ignored}.`, `has no effect: ${ignored}`);
  return { ...optionText(s), ...shape(s, replace) };
}

function shape(s: SchemaNode, replace: Replace): EditorSchema {
  // A reference is not followed by the walk, and its target may be anywhere.
  if ('$ref' in s) return {};
  const branches = branchesOf(s);
  if (branches) {
    // The walk reads a value by the first branch of its kind, the validator takes any: then nothing can be said of it.
    const loose = (['object', 'array'] as const).filter((t) => branches.filter((b) => acceptsType(b, t)).length > 1);
    const forms = branches.map((b) => optionSchema(b, replace));
    return { anyOf: [...forms, ...loose.map((type) => ({ type })), FROM_PARAMETER] };
  }
  const words = wordsOf(s);
  return words ? oneOfWords(s, words, replace) : byType(s, replace);
}

function oneOfWords(s: SchemaNode, words: Words, replace: Replace): EditorSchema {
  const { values, others, literals, all } = words;
  const types = typesOf(s) ?? [];
  const patterns = [...(all.length > 0 ? [anyCase(all)] : []), ...textsFor(types, s['x-unit']), PARAMETER];
  return {
    anyOf: [
      values === null ? byType(s, replace) : { enum: values },
      ...(others.length > 0 ? [{ enum: others }] : []),
      ...(literals.length > 0 ? [{ enum: literals, doNotSuggest: true }] : []),
      { type: 'string', pattern: patterns.join('|'), doNotSuggest: true },
    ],
  };
}

function byType(s: SchemaNode, replace: Replace): EditorSchema {
  const types = typesOf(s);
  const may = (type: string): boolean => types === null || types.includes(type);
  const inner =
    s['x-plugin'] === true ? {} : { ...(may('object') ? objectOf(s, replace) : {}), ...listOf(s, may, replace) };
  if (types === null) return inner;
  const numeric = types.includes('integer') || types.includes('number');
  return { ...typeAndText(s, types), ...(numeric ? some(s, NUMBER_LIMITS) : {}), ...inner };
}

/** The literal of a number or a boolean is taken as text where text is wanted, and text as one of them. */
function typeAndText(s: SchemaNode, types: readonly string[]): EditorSchema {
  if (types.includes('string')) {
    const more = ['number', 'boolean'].filter(
      (t) => !types.includes(t) && !(t === 'number' && types.includes('integer')),
    );
    return { type: one([...types, ...more]), ...textRule(s) };
  }
  const pattern = [...textsFor(types, s['x-unit']), PARAMETER].join('|');
  const [wanted = ''] = types;
  const what = wanted === 'integer' ? 'a whole number' : /^[aeiou]/.test(wanted) ? `an ${wanted}` : `a ${wanted}`;
  return { type: one([...types, 'string']), pattern, patternErrorMessage: `must be ${what}, or a parameter: \${name}` };
}

/** Rules for a text hold for what its parameters make of it, so not for a text that has some. */
function textRule(s: SchemaNode): EditorSchema {
  const { minLength = 0, maxLength, pattern } = s;
  if (maxLength === undefined && pattern === undefined && minLength <= PARAMETER_LENGTH) return some(s, ['minLength']);
  const length = `(?=^[\\s\\S]{${String(minLength)},${maxLength === undefined ? '' : String(maxLength)}}$)`;
  const rule = pattern === undefined ? '' : `(?=[\\s\\S]*(?:${pattern}))`;
  const limits = [
    minLength > 0 && minLength !== maxLength ? `at least ${String(minLength)}` : '',
    maxLength === undefined ? '' : minLength === maxLength ? String(maxLength) : `at most ${String(maxLength)}`,
  ].filter((t) => t !== '');
  const told = [
    ...(limits.length > 0 ? [`have a length of ${limits.join(', ')}`] : []),
    ...(pattern === undefined ? [] : [`match ${pattern}`]),
  ];
  return { pattern: `^${length}${rule}|${PARAMETER}`, patternErrorMessage: `must ${told.join(' and ')}` };
}

/** Of `${`: a text of that many characters may have a parameter. */
const PARAMETER_LENGTH = 2;

function listOf(s: SchemaNode, may: (type: string) => boolean, replace: Replace): EditorSchema {
  if (!may('array')) return {};
  const items = s.items === undefined || Array.isArray(s.items) ? {} : { items: optionSchema(s.items, replace) };
  return { ...some(s, LIST_LIMITS), ...items };
}

function objectOf(s: SchemaNode, replace: Replace): EditorSchema {
  const named = Object.entries(s.properties ?? {});
  const properties: Record<string, EditorSchema> = {};
  for (const [name, child] of named)
    properties[name] = orIgnored(child, replace(name, child) ?? optionSchema(child, replace));
  for (const [name, child] of named) {
    for (const alias of child['x-aliases'] ?? []) {
      if (Object.hasOwn(properties, alias)) continue;
      const same = `use ${JSON.stringify(name)}`;
      const { default: _, examples: __, title: ___, ...rest } = properties[name] ?? {};
      properties[alias] = { ...rest, ...deprecated(`Another name of ${JSON.stringify(name)}.`, same) };
    }
  }
  return {
    ...requiredOf(s),
    ...(named.length > 0 ? { properties } : {}),
    ...patternsOf(s, Object.keys(properties)),
    ...extraOf(s),
  };
}

function orIgnored(s: SchemaNode, option: EditorSchema): EditorSchema {
  const other = s['x-ignored-values'];
  if (other === undefined) return option;
  const { title, description, markdownDescription, default: initial, examples, ...rest } = option;
  const told = Object.entries({ title, description, markdownDescription, default: initial, examples });
  const texts = { type: 'string', pattern: other.pattern };
  return { ...Object.fromEntries(told.filter(([, v]) => v !== undefined)), anyOf: [rest, texts] };
}

/** What has a default is never missing. */
function requiredOf(s: SchemaNode): EditorSchema {
  const needed = (s.required ?? []).filter((n) => s.properties?.[n]?.default === undefined);
  const byOthers = needed.filter((n) => (s.properties?.[n]?.['x-aliases'] ?? []).length > 0);
  const plain = needed.filter((n) => !byOthers.includes(n));
  return {
    ...(plain.length > 0 ? { required: plain } : {}),
    ...(byOthers.length === 0
      ? {}
      : {
          allOf: byOthers.map((n) => ({
            anyOf: [n, ...(s.properties?.[n]?.['x-aliases'] ?? [])].map((name) => ({ required: [name] })),
          })),
        }),
  };
}

/** A name that `properties` has is not read by a pattern, though a validator would hold it to both. */
function patternsOf(s: SchemaNode, known: readonly string[]): EditorSchema {
  const all = Object.entries(s.patternProperties ?? {});
  if (all.length === 0) return {};
  const schemaFor = (pattern: string, child: SchemaNode): EditorSchema =>
    known.some((n) => new RegExp(pattern, 'u').test(n)) ? {} : optionSchema(child);
  return { patternProperties: Object.fromEntries(all.map(([p, child]) => [p, schemaFor(p, child)])) };
}

/** As the walk has it: named properties are all that there are, unless the schema says otherwise. */
function extraOf(s: SchemaNode): EditorSchema {
  const extra = s.additionalProperties;
  if (extra === true) return {};
  if (typeof extra === 'object') return { additionalProperties: optionSchema(extra) };
  return extra === undefined && s.properties === undefined ? {} : { additionalProperties: false };
}

function some(s: object, keywords: readonly string[]): EditorSchema {
  return Object.fromEntries(Object.entries(s).filter(([k]) => keywords.includes(k)));
}

function one(types: readonly string[]): string | readonly string[] {
  const all = [...new Set(types)];
  return all.length === 1 ? (all[0] ?? '') : all;
}
