// Checks that imports point the way the design says: plugin-api <- plugin-kit <- plugins; plugin-api <- core; cli wires all.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';

const root = normalize(join(import.meta.dirname, '..'));
/** zone → zones it may import by relative path (itself is always allowed). */
const ALLOWED = {
  'src/bundle': [],
  'src/plugin-api': [],
  'src/durable': [],
  'src/job': ['src/plugin-api'],
  'src/cells': ['src/plugin-api'],
  'src/expr': ['src/plugin-api', 'src/cells'],
  'src/plugin-kit': ['src/plugin-api', 'src/durable', 'src/cells'],
  'src/plugin-testkit': ['src/plugin-api', 'src/plugin-kit'],
  'src/core': ['src/plugin-api', 'src/durable', 'src/job', 'src/cells', 'src/expr'],
  'src/config': ['src/plugin-api', 'src/job', 'src/cells', 'src/expr'],
  'src/registry': ['src/plugin-api'],
  'src/worker': ['src/core', 'src/registry'],
  'src/cli': ['src/plugin-api', 'src/job', 'src/core', 'src/config', 'src/registry', 'src/durable'],
  test: ['*'],
};
/** Names of this package that a zone may import; plugins see nothing else of it. */
const OWN = {
  plugin: ['syncx/plugin-api', 'syncx/plugin-kit'],
  pluginTest: ['syncx/plugin-api', 'syncx/plugin-kit', 'syncx/plugin-testkit'],
};

function* files(dir) {
  for (const name of readdirSync(dir)) {
    const p = join(dir, name);
    if (statSync(p).isDirectory()) {
      if (name !== 'node_modules' && name !== 'dist') yield* files(p);
    } else if (name.endsWith('.ts')) yield p;
  }
}

function zoneOf(path) {
  const parts = relative(root, path).split(sep);
  if (parts[0] === 'plugins') return `plugins/${parts[1]}`;
  if (parts[0] === 'src') return `src/${parts[1]}`;
  return parts[0];
}

const problems = [];
let checked = 0;
for (const top of ['src', 'plugins', 'test']) {
  for (const file of files(join(root, top))) {
    checked++;
    const zone = zoneOf(file);
    const isPlugin = zone.startsWith('plugins/');
    const isPluginTest = isPlugin && relative(root, file).split(sep)[2] === 'test';
    const text = readFileSync(file, 'utf8');
    for (const m of text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)) {
      const spec = m[1];
      const line = text.slice(0, m.index).split('\n').length;
      const say = (why) => problems.push(`${relative(root, file)}:${line}: imports '${spec}': ${why}`);
      if (spec.startsWith('.')) {
        const target = zoneOf(normalize(join(dirname(file), spec)));
        if (target === zone) continue;
        if (isPlugin) say('a plugin sees only its own files, syncx/plugin-api and syncx/plugin-kit');
        else if (!(zone in ALLOWED)) say(`zone ${zone} is not in the table of scripts/check-imports.mjs`);
        else if (!ALLOWED[zone].includes(target) && ALLOWED[zone][0] !== '*') say(`${zone} may not import ${target}`);
      } else if (spec.startsWith('syncx/')) {
        const ok = isPluginTest ? OWN.pluginTest : isPlugin ? OWN.plugin : zone === 'test' ? OWN.pluginTest : [];
        if (!ok.includes(spec)) say('not allowed here');
      }
    }
  }
}
for (const p of problems) process.stderr.write(`${p}\n`);
if (checked === 0) process.stderr.write('no file was checked\n');
process.exit(problems.length > 0 || checked === 0 ? 1 : 0);
