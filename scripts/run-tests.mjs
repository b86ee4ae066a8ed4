// Runs every built test with Node's own runner. Arguments narrow by a part of the path: `npm test -- crash`.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
function* tests(dir) {
  for (const name of readdirSync(dir).sort()) {
    const p = join(dir, name);
    if (statSync(p).isDirectory()) yield* tests(p);
    else if (name.endsWith('.test.js')) yield p;
  }
}
const wanted = process.argv.slice(2);
const files = [...tests(join(root, 'dist/test')), ...tests(join(root, 'dist/plugins'))].filter(
  (f) => wanted.length === 0 || wanted.some((w) => f.includes(w)),
);
if (files.length === 0) {
  process.stderr.write('no test found\n');
  process.exit(1);
}
const r = spawnSync(
  process.execPath,
  ['-C', 'development', '--enable-source-maps', '--test', '--test-reporter=spec', ...files],
  { stdio: 'inherit', cwd: root },
);
process.exit(r.status ?? 1);
