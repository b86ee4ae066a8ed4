/** The option table of a plugin's README, which `sync describe --md` prints too; laid out as prettier would. */
import { meaningText, optionRows, spelled, typeText, type OptionRow } from './option-rows.js';
import type { SchemaNode } from './schema.js';
import { padText, textWidth } from './text-width.js';

const HEAD = ['option', 'type', 'default', 'meaning'] as const;

export function optionMarkdown(schema: SchemaNode): string {
  const cells = [HEAD, ...optionRows(schema, 'asWritten').map(cellsOf)];
  const widths = HEAD.map((_, i) => Math.max(3, ...cells.map((r) => textWidth(r[i] ?? ''))));
  const line = (row: readonly string[]): string => `| ${row.map((c, i) => padText(c, widths[i] ?? 0)).join(' | ')} |`;
  const [head = HEAD, ...rows] = cells;
  return [line(head), line(widths.map((w) => '-'.repeat(w))), ...rows.map(line)].join('\n');
}

const bars = (text: string): string => text.replaceAll('|', '\\|');
const code = (value: unknown): string => bars(`\`${spelled(value)}\``);

function cellsOf(row: OptionRow): readonly string[] {
  const s = row.schema;
  const aliases = s['x-aliases'] ?? [];
  const also = aliases.length > 0 ? ` Also ${aliases.map(code).join(', ')}.` : '';
  const secret = row.secret ? ' Secret.' : '';
  return [
    `\`${bars(row.path)}\``,
    s['x-unit'] ?? typeText(s, code),
    row.required ? 'required' : s.default === undefined ? '–' : code(s.default),
    bars(meaningText(s)) + also + secret,
  ];
}
