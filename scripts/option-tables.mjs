// The option tables of the plugins' READMEs, made from the option schemas: nothing is written twice.
// Between `<!-- options: reader -->` (or writer) and `<!-- end -->`. --write puts them in; else a stale one is an error.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { optionMarkdown } from '../dist/src/config/option-markdown.js';

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
process.exitCode = stale ? 1 : 0;
