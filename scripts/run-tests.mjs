// Runs every built test with Node's own runner, in two lanes: test-lanes.mjs. Arguments narrow by a part of the path:
// `npm test -- crash`.
// Starts the servers that the chosen tests need, and stops them at the end: test-services.mjs.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { runTests } from './test-lanes.mjs';
import {
  compiledKafkaTool,
  inCI,
  neededBy,
  ownServers,
  skipCounter,
  startServices,
  stopServices,
} from './test-services.mjs';

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

// Servers that run already, or that the environment names, are used and left alone; SYNC_SERVICES_KEEP=1 leaves all running.
const needed = neededBy(files);
const { started, failed, env } = startServices(needed);
const lacking = [...failed].map(([name, why]) => `${needed.get(name)} test files need ${name} (${why})`).join('; ');
if (failed.size > 0 && inCI) {
  stopServices(started);
  process.stderr.write(`CI is set, and ${lacking}\n`);
  process.exit(1);
}
if (failed.size > 0) process.stdout.write(`SKIPPED: tests without their server: ${lacking}\n`);

const own = needed.size > 0 ? ownServers() : null;
const skips = failed.size > 0 ? skipCounter() : null;
const tool = own ? compiledKafkaTool(env, own.dir) : {};
const run = runTests(files, {
  cwd: root,
  env: { ...env, ...own?.env, ...tool },
  more: (lane) => skips?.args(lane) ?? [],
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => run.kill(signal));
process.exitCode = await run.done;
own?.stop();
stopServices(started);
if (skips) process.stdout.write(`SKIPPED: ${skips.count()} tests without their server: ${lacking}\n`);
