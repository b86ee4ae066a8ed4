/** A job file to begin with: what must be said, and the most used options as comments that may be taken in. */
import { JOB_SCHEMA } from './job-schema.js';
import { isSecret, sampleValue, shownDefault } from './sample-value.js';
import { branchesOf, type SchemaNode } from './schema.js';

export interface SamplePlugin {
  readonly kind: 'reader' | 'writer';
  /** As the file says it. */
  readonly name: string;
  /** As the command line says it. */
  readonly asked: string;
  readonly options: SchemaNode & { readonly examples?: unknown };
}

/** Breaks a text into lines of at most this width. */
export type Wrap = (text: string, width: number) => readonly string[];

const WIDTH = 110;
/** Optional options of one plugin. */
const MOST = 8;

/** In this order; what is not named comes behind, as its schema has it, and what only tunes comes last. */
const USEFUL = [
  ['username', 'password', 'table', 'column', 'where', 'splitPk', 'increColumn', 'startLocation'],
  ['fileType', 'parse', 'print', 'format', 'isFirstLineHeader', 'fieldDelimiter', 'nullFormat', 'compress', 'encoding'],
  ['reconnect', 'writeMode', 'preSql', 'postSql', 'updateKey', 'batchSize', 'fetchSize'],
].flat();

const SETTINGS: readonly (readonly [group: string, values: Readonly<Record<string, unknown>>])[] = [
  ['speed', { channel: 1 }],
  ['errorLimit', { record: 0 }],
  ['dirty', { path: 'dirty' }],
  ['checkpoint', { interval: 10_000 }],
  ['restart', { strategy: 'fixed-delay', attempts: 3, delay: 10_000 }],
];

export function sampleJob(reader: SamplePlugin, writer: SamplePlugin, wrap: Wrap): string {
  const lines: string[] = [];
  const put = (indent: number, ...texts: readonly string[]): void => {
    for (const t of texts) lines.push(t === '' ? '' : ' '.repeat(indent) + t);
  };
  const comment = (indent: number, text: string): void => {
    put(indent, ...wrap(text, WIDTH - indent).map((l) => `// ${l}`));
  };
  const side = (p: SamplePlugin, end: string): void => {
    put(8, `"${p.kind}": {`);
    put(10, `"name": ${JSON.stringify(p.name)},`, '"parameter": {');
    const { given, optional } = optionsOf(p.options);
    for (const o of given) {
      comment(12, o.text);
      put(12, ...optionLines(o, ''));
    }
    if (given.length > 0 && optional.length > 0) put(0, '');
    for (const o of optional) {
      comment(12, o.text);
      put(12, ...optionLines(o, '// '));
    }
    put(10, '}');
    put(8, end);
  };

  put(0, '{');
  comment(
    2,
    `Made by: sync init ${reader.asked} ${writer.asked}. Lines that begin with // do nothing; take the // away`,
  );
  comment(2, `from an option to set it. Then: sync validate JOB, and: sync run JOB, JOB being the name of this file.`);
  comment(2, `All options: sync describe ${reader.asked} --reader, and: sync describe ${writer.asked} --writer`);
  comment(2, 'An editor helps with them after: sync schema --output job.schema.json');
  put(2, '// "$schema": "./job.schema.json",');
  put(2, '"job": {');
  put(4, '"content": [');
  put(6, '{');
  side(reader, '},');
  side(writer, '}');
  put(6, '}');
  put(4, '],');
  put(4, '"setting": {');
  for (const [group, values] of SETTINGS) {
    comment(6, settingText(group, values));
    put(6, ...optionLines({ name: group, value: values, text: '' }, '// '));
  }
  put(4, '}');
  put(2, '}');
  put(0, '}');
  return `${lines.join('\n')}\n`;
}

interface SampleOption {
  readonly name: string;
  readonly value: unknown;
  readonly text: string;
}

function optionsOf(schema: SamplePlugin['options']): {
  readonly given: readonly SampleOption[];
  readonly optional: readonly SampleOption[];
} {
  const first: unknown = Array.isArray(schema.examples) ? schema.examples[0] : undefined;
  const example = (typeof first === 'object' && first !== null ? first : {}) as Readonly<Record<string, unknown>>;
  const all = Object.entries(schema.properties ?? {}).filter(([, s]) => s['x-ignored'] === undefined);
  const isGiven = (name: string): boolean => schema.required?.includes(name) === true || Object.hasOwn(example, name);
  const given = all
    .filter(([name]) => isGiven(name))
    .map(([name, s]) => ({ name, value: sampleValue(name, s, example[name]), text: textOf(s) }));
  const optional = all
    .map(([name, s], i) => ({ name, s, rank: rankOf(name, s, i) }))
    .filter((o) => !isGiven(o.name))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MOST)
    .map(({ name, s }) => ({ name, value: shownDefault(name, s), text: textOf(s) }));
  return { given, optional };
}

function rankOf(name: string, s: SchemaNode, at: number): number {
  const useful = USEFUL.indexOf(name);
  if (useful >= 0) return useful;
  return USEFUL.length + at + (s['x-state'] === 'tuning' ? 1000 : 0);
}

function textOf(s: SchemaNode & { readonly examples?: unknown }): string {
  const unit = s['x-unit'];
  const said = (s.description ?? '').replace(/\s+/g, ' ').trim();
  const unsaid = valuesOf(s).filter((v) => !said.includes(v));
  const example: unknown = Array.isArray(s.examples) ? s.examples.at(-1) : undefined;
  const shown = flatJson(example);
  const isList = typeof example === 'object' && example !== null;
  return [
    said,
    unsaid.length > 0 ? `One of ${valuesOf(s).join(', ')}.` : '',
    unit === undefined ? '' : `In ${unit}.`,
    isList && shown.length < 80 ? `For example ${shown}.` : '',
    isSecret(s) ? 'A secret.' : '',
  ]
    .filter((t) => t !== '')
    .join(' ');
}

function valuesOf(s: SchemaNode): readonly string[] {
  const own = (s.enum ?? []).filter((v) => typeof v === 'string' && v !== '') as readonly string[];
  return [...own, ...(branchesOf(s) ?? []).flatMap(valuesOf)];
}

function settingText(group: string, values: Readonly<Record<string, unknown>>): string {
  const setting = JOB_SCHEMA.properties?.['job']?.properties?.['setting'];
  const s = setting?.properties?.[group];
  const names = Object.keys(values);
  const [only] = names.length === 1 ? names : [];
  return textOf((only === undefined ? s : s?.properties?.[only]) ?? {});
}

/** Each ends with a comma, so that any may be taken in or out by itself. */
function optionLines({ name, value }: SampleOption, before: string): readonly string[] {
  return jsonLines(`${JSON.stringify(name)}: `, value, WIDTH - 12)
    .map((l) => before + l)
    .map((l, i, all) => (i === all.length - 1 ? `${l},` : l));
}

function jsonLines(head: string, value: unknown, width: number): readonly string[] {
  const flat = head + flatJson(value);
  if (flat.length <= width || typeof value !== 'object' || value === null) return [flat];
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const entries = Array.isArray(value)
    ? (value as readonly unknown[]).map((v) => ['', v] as const)
    : Object.entries(value).map(([k, v]: [string, unknown]) => [`${JSON.stringify(k)}: `, v] as const);
  const inner = entries.flatMap(([k, v], i) => {
    const lines = jsonLines(k, v, width - 2).map((l) => `  ${l}`);
    return i === entries.length - 1 ? lines : [...lines.slice(0, -1), `${lines.at(-1) ?? ''},`];
  });
  return [head + open, ...inner, close];
}

/** On one line, with spaces as people write them. */
function flatJson(value: unknown): string {
  if (Array.isArray(value)) return `[${(value as readonly unknown[]).map(flatJson).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([k, v]: [string, unknown]) => `${JSON.stringify(k)}: ${flatJson(v)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}
