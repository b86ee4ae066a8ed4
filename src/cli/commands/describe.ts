import { optionMarkdown } from '../../config/option-markdown.js';
import { meaningText, optionRows, spelled, typeText, type OptionRow } from '../../config/option-rows.js';
import type { SchemaNode } from '../../config/schema.js';
import { SUFFIXES } from '../../registry/names.js';
import { Registry } from '../../registry/registry.js';
import { printResult } from '../output.js';
import { outputWidth, textTable, wrapText } from '../text-table.js';
import { loadDescribed, originOf, type Described, type PluginFacts } from './plugin-facts.js';

export interface DescribeArguments {
  readonly plugin: string;
  readonly reader?: boolean | undefined;
  readonly writer?: boolean | undefined;
  readonly json?: boolean | undefined;
  readonly md?: boolean | undefined;
}

/** Width where stdout is no terminal: that of the help texts. */
const PLAIN_WIDTH = 100;

/** @returns the exit code. */
export async function describeCommand(args: DescribeArguments): Promise<number> {
  const registry = new Registry(process.env);
  const kinds = args.reader === true ? ['reader' as const] : args.writer === true ? ['writer' as const] : undefined;
  const at = await registry.locate(args.plugin, kinds);
  const all = await loadDescribed(registry, at, await originOf(at));
  if (args.json === true) printResult(JSON.stringify(all.map(describedJson), null, 2));
  else if (args.md === true) printResult(all.map((d) => markdown(d, all.length > 1)).join('\n\n'));
  else printResult(all.map((d) => describedText(d, outputWidth(PLAIN_WIDTH))).join('\n\n'));
  return 0;
}

function describedJson({ facts, definition }: Described): object {
  return {
    ...facts,
    options: { $schema: 'http://json-schema.org/draft-07/schema#', ...(definition.options as object) },
  };
}

function markdown({ facts, definition }: Described, titled: boolean): string {
  const table = optionMarkdown(definition.options as SchemaNode);
  return titled ? `### ${facts.kind === 'reader' ? 'Reader' : 'Writer'}\n\n${table}` : table;
}

/** For people: what it is, then a table of its options, the required ones first. */
export function describedText({ facts, definition }: Described, width: number): string {
  const rows = optionRows(definition.options as SchemaNode, 'requiredFirst');
  const told = factLines(facts);
  const label = Math.max(...told.map(([k]) => k.length)) + 2;
  return [
    ...wrapText(`${facts.name} ${facts.kind}: ${facts.summary}`, width),
    '',
    ...told.flatMap(([k, text]) =>
      wrapText(text, width - label).map((line, i) => (i === 0 ? k.padEnd(label) : ' '.repeat(label)) + line),
    ),
    '',
    ...(rows.length === 0 ? ['It has no options.'] : optionLines(rows, width)),
  ].join('\n');
}

function factLines(facts: PluginFacts): readonly (readonly [string, string])[] {
  const names = [facts.name, ...facts.aliases].flatMap((n) => [n, ...SUFFIXES[facts.kind].map((s) => n + s)]);
  const version = `${facts.version ?? 'unknown'} (${facts.package})`;
  return [['names', names.join(', ')], ['version', version], ...promises(facts)];
}

function promises(facts: PluginFacts): readonly (readonly [string, string])[] {
  if (facts.kind === 'writer') {
    const { delivery } = facts;
    const text = delivery === null ? 'not said' : delivery.join(' or ') + (delivery.length > 1 ? ', by options' : '');
    return [['delivery', text]];
  }
  const { boundedness, replayable } = facts;
  const input = boundedness === 'by-options' ? 'bounded or unbounded, by options' : (boundedness ?? 'not said');
  const again = replayable === 'by-options' ? 'by options' : replayable === null ? 'not said' : null;
  return [
    ['input', input],
    ['replayable', again ?? (replayable === true ? 'yes: exactly-once is possible' : 'no: never exactly-once')],
  ];
}

function optionLines(rows: readonly OptionRow[], width: number): readonly string[] {
  const same = 'must stay the same between two starts of a run';
  const shown = rows.filter((r) => r.schema['x-ignored'] === undefined);
  const ignored = rows.filter((r) => r.schema['x-ignored'] !== undefined).map((r) => r.path);
  const notes = [
    ...(ignored.length > 0 ? [`Accepted, without effect: ${ignored.join(', ')}.`] : []),
    rows.some((r) => r.tuning) ? `~ tuning: may change; the other options ${same}` : `All options ${same}.`,
    ...(rows.some((r) => r.secret) ? ['! secret: never shown, logged or kept; may change too'] : []),
  ];
  const table = textTable({
    head: ['OPTION', '', 'TYPE', 'DEFAULT', 'UNIT', 'DESCRIPTION'],
    rows: shown.map(cellsOf),
    width,
    most: [Infinity, 2, 20, 16, 8],
  });
  return [...table, '', ...notes.flatMap((n) => wrapText(n, width))];
}

function cellsOf(row: OptionRow): readonly string[] {
  const s = row.schema;
  const aliases = s['x-aliases'] ?? [];
  return [
    row.path,
    (row.tuning ? '~' : '') + (row.secret ? '!' : ''),
    typeText(s, spelled),
    row.required ? 'required' : s.default === undefined ? '-' : spelled(s.default),
    s['x-unit'] ?? '',
    meaningText(s) + (aliases.length > 0 ? ` Also ${aliases.join(', ')}.` : ''),
  ];
}
