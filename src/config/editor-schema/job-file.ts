/** The JSON Schema of a whole job file, for editors: the frame, and in it the options of each plugin by its name. */
import { JOB_SCHEMA } from '../job-schema.js';
import type { SchemaNode } from '../schema.js';
import { optionSchema, type EditorSchema, type Replace } from './option-schema.js';
import { DATAX_SCHEMA, TRANSFORM_SCHEMAS } from '../transform-schema.js';
import { anyCase, PARAMETER } from './spellings.js';

type Kind = 'reader' | 'writer';

/** A reader or writer that job files can name. */
export interface SchemaPlugin {
  readonly kind: Kind;
  readonly name: string;
  /** Null: it ships with the tool. */
  readonly package: string | null;
  readonly summary: string;
  readonly options: SchemaNode;
  /** All names that a job file may say, in small letters, the usual first. */
  readonly names: readonly string[];
}

export const SCHEMA_TITLE = 'syncx job file';
/** A package may always be named in full, with or without what may stand behind a name. */
const FULL_NAMES = [
  String.raw`(?:@[A-Za-z0-9~][\w.~-]*\/)?[Ss][Yy][Nn][Cc][Xx]-[Pp][Ll][Uu][Gg][Ii][Nn]-[A-Za-z][A-Za-z0-9-]*`,
];

/** Of plugins with one name the first is meant, as in a job. */
export function jobFileSchema(plugins: readonly SchemaPlugin[]): EditorSchema {
  const definitions: Record<string, EditorSchema> = {};
  const sides: Record<Kind, Side[]> = { reader: [], writer: [] };
  for (const plugin of plugins) {
    const taken = sides[plugin.kind].flatMap((s) => s.names);
    const names = plugin.names.filter((n) => !taken.includes(n));
    if (names.length === 0) continue;
    const short = `${plugin.kind}.${plugin.name}`;
    const key = Object.hasOwn(definitions, short) ? `${plugin.kind}.${plugin.package ?? plugin.name}` : short;
    definitions[key] = { description: plugin.summary, ...optionSchema(plugin.options) };
    sides[plugin.kind].push({ names, key, summary: plugin.summary });
  }
  const replace: Replace = (name, s) => {
    if (s['x-plugin'] === true && name === 'transform') return { ...optionSchema(s), items: stepSchema() };
    if (s['x-plugin'] === true && name === 'transformer')
      return { ...optionSchema(s), items: optionSchema(DATAX_SCHEMA) };
    const isSide = name === 'reader' || name === 'writer';
    return isSide && s.properties?.['parameter']?.['x-plugin'] === true ? sideSchema(name, s, sides[name]) : null;
  };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: SCHEMA_TITLE,
    // VS Code's words: the parser takes both.
    allowComments: true,
    allowTrailingCommas: true,
    ...optionSchema(JOB_SCHEMA, replace),
    definitions,
  };
}

/** A step of `transform`: its options by its `op`. */
function stepSchema(): EditorSchema {
  const ops = Object.entries(TRANSFORM_SCHEMAS);
  const words = ops.map(([op]) => op);
  const description = ops.map(([op, s]) => `${op}: ${s.description ?? ''}`).join(' ');
  return {
    type: 'object',
    required: ['op'],
    properties: {
      op: { description, anyOf: [{ enum: words }, { type: 'string', pattern: anyCase(words), doNotSuggest: true }] },
    },
    allOf: ops.map(([op, s]) => {
      const { properties, ...rest } = optionSchema(s);
      return {
        if: { type: 'object', required: ['op'], properties: { op: { type: 'string', pattern: anyCase([op]) } } },
        then: { ...rest, properties: { ...(properties as EditorSchema), op: true } },
      };
    }),
  };
}

interface Side {
  readonly names: readonly string[];
  /** In `definitions`. */
  readonly key: string;
  readonly summary: string;
}

function sideSchema(kind: Kind, s: SchemaNode, sides: readonly Side[]): EditorSchema {
  const plain = optionSchema(s);
  const usual = sides.flatMap((p) => p.names.slice(0, 1));
  const others = sides.flatMap((p) => p.names.slice(1));
  const name: EditorSchema = {
    description: `Name of the ${kind}. ${sides.map((p) => `${p.names[0] ?? ''}: ${p.summary}`).join(' ')} For a schema with the plugins that you have installed: sync schema.`,
    anyOf: [
      { enum: usual },
      ...(others.length > 0 ? [{ enum: others, doNotSuggest: true }] : []),
      { type: 'string', pattern: `${anyCase([...usual, ...others], FULL_NAMES)}|${PARAMETER}`, doNotSuggest: true },
    ],
  };
  return {
    ...plain,
    properties: { ...(plain['properties'] as EditorSchema), name },
    allOf: sides.map((p) => ({
      if: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string', pattern: anyCase(p.names) } },
      },
      then: { properties: { parameter: { $ref: `#/definitions/${pointerPart(p.key)}` } } },
    })),
  };
}

function pointerPart(key: string): string {
  return encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** As a file. */
export function schemaText(schema: EditorSchema): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}
