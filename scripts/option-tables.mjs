// The option tables of the plugins' READMEs, and docs/aliases.md, made from the option schemas: nothing is written twice.
// Between `<!-- options: reader -->` (or writer) and `<!-- end -->`. --write puts them in; else a stale one is an error.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { flagMeanings } from '../dist/src/cli/launcher-flags.js';
import { aliasPage } from '../dist/src/config/alias-page.js';
import { optionMarkdown } from '../dist/src/config/option-markdown.js';
import { BUILTIN_PLUGINS } from '../dist/src/registry/builtin.js';

const root = join(import.meta.dirname, '..');
const write = process.argv.includes('--write');
const MARKED = /(<!-- options: (reader|writer) -->)[^]*?(<!-- end -->)/g;

let stale = false;
for (const plugin of readdirSync(join(root, 'plugins'))) {
  const path = join(root, 'plugins', plugin, 'README.md');
  const code = join(root, 'dist/plugins', plugin, 'index.js');
  if (!existsSync(path) || !existsSync(code)) continue;
  const module = await import(code);
  const text = readFileSync(path, 'utf8');
  const wanted = text.replace(
    MARKED,
    (_, open, kind, close) => `${open}\n\n${optionMarkdown(module[kind].options)}\n\n${close}`,
  );
  if (wanted === text) continue;
  if (write) writeFileSync(path, wanted);
  else {
    process.stderr.write(`plugins/${plugin}/README.md: its option tables are not those of options.ts: npm run docs\n`);
    stale = true;
  }
}
// docs/aliases.md
const plugins = BUILTIN_PLUGINS.filter((p) => p.onlyWith === undefined);
const options = [];
for (const p of plugins) {
  const module = await import(join(root, 'dist/plugins', p.name, 'index.js'));
  for (const kind of p.kinds) options.push([`${p.name} ${kind}`, module[kind].options]);
}
const pagePath = join(root, 'docs/aliases.md');
const page = await format(aliasPage({ plugins, options, flags: flagMeanings() }), {
  ...(await resolveConfig(pagePath)),
  parser: 'markdown',
});
if (write) writeFileSync(pagePath, page);
else if (!existsSync(pagePath) || readFileSync(pagePath, 'utf8') !== page) {
  process.stderr.write('docs/aliases.md is not what the schemas say: npm run docs\n');
  stale = true;
}
process.exitCode = stale ? 1 : 0;
