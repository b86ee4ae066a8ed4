// The option tables of the plugins' READMEs, made from the option schemas: nothing is written twice.
// Between `<!-- options: reader -->` (or writer) and `<!-- end -->`. --write puts them in; else a stale one is an error.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';

const root = join(import.meta.dirname, '..');
const write = process.argv.includes('--write');
const MARKED = /(<!-- options: (reader|writer) -->)[^]*?(<!-- end -->)/g;

const spelled = (v) => (typeof v === 'string' && /^[!-~]+$/.test(v) ? v : JSON.stringify(v));
const code = (v) => `\`${spelled(v)}\``.replaceAll('|', '\\|');

function typeOf(s) {
  if (s.enum) return s.enum.map(code).join(', ');
  if (s.anyOf) return s.anyOf.map(typeOf).join(' or ');
  if (Array.isArray(s.type)) return s.type.filter((t) => t !== 'null').join(' or ');
  if (s.type === 'array') return `list of ${typeOf(s.items ?? {})}`;
  return s['x-unit'] ?? s.type ?? 'any';
}

function meaningOf(s) {
  const aliases = s['x-aliases'] ?? [];
  const also = aliases.length > 0 ? ` Also ${aliases.map(code).join(', ')}.` : '';
  return `${s.description ?? ''}${also}`.replaceAll('|', '\\|');
}

function rows(schema, prefix) {
  return Object.entries(schema.properties).flatMap(([name, s]) => {
    const by = schema.required?.includes(name) ? 'required' : s.default === undefined ? '–' : code(s.default);
    const object = [s.items, ...(s.items?.anyOf ?? [])].find((x) => x?.properties);
    return [
      `| \`${prefix}${name}\` | ${typeOf(s)} | ${by} | ${meaningOf(s)} |`,
      ...(object ? rows(object, `${name}[].`) : []),
    ];
  });
}

let stale = false;
for (const plugin of readdirSync(join(root, 'plugins'))) {
  const path = join(root, 'plugins', plugin, 'README.md');
  const code = join(root, 'dist/plugins', plugin, 'index.js');
  if (!existsSync(path) || !existsSync(code)) continue;
  const module = await import(code);
  const text = readFileSync(path, 'utf8');
  const filled = text.replace(MARKED, (_, open, kind, close) => {
    const { options } = module[kind];
    return `${open}\n\n| option | type | default | meaning |\n| --- | --- | --- | --- |\n${rows(options, '').join('\n')}\n\n${close}`;
  });
  const wanted = await format(filled, { ...(await resolveConfig(path)), parser: 'markdown' });
  if (wanted === text) continue;
  if (write) writeFileSync(path, wanted);
  else {
    process.stderr.write(`plugins/${plugin}/README.md: its option tables are not those of options.ts: npm run docs\n`);
    stale = true;
  }
}
process.exitCode = stale ? 1 : 0;
