// The servers that tests need (install/services): which, started before the tests, stopped after them.
//
// A test file needs the service X when its built text, or that of a file of a test folder that it imports, has the quoted
// word 'x', or SYNC_X_URL (SYNC_KAFKA_…), or MYSQL_SERVERS (all kinds of MySQL), or imports test/support/kafka.ts. A slip is not silent: test/support/services.ts fails tests
// without their server in CI and else skips them with a reason, which is counted here.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

const SERVICES = {
  mariadb: /['"`]mariadb['"`]|\bSYNC_MARIADB_URL\b|\bMYSQL_SERVERS\b/,
  mysql55: /['"`]mysql55['"`]|\bSYNC_MYSQL55_URL\b|\bMYSQL_SERVERS\b/,
  kafka: /['"`]kafka['"`]|\bSYNC_KAFKA_/,
};
/** They name servers for everybody. */
const NAMES_ALL = /\/dist\/test\/support\/(services|own-server)\.js$/;
const script = join(import.meta.dirname, '..', 'install', 'services', 'services.sh');
const variable = (name) => (name === 'kafka' ? 'SYNC_KAFKA_BROKERS' : `SYNC_${name.toUpperCase()}_URL`);
export const inCI = !['', '0', 'false'].includes(process.env.CI ?? '');

/** Service → how many of the test files need it. */
export function neededBy(files) {
  const needed = new Map();
  for (const file of files) {
    const texts = [...importedBy(resolve(file), new Map()).values()];
    for (const [name, pattern] of Object.entries(SERVICES)) {
      if (texts.some((text) => pattern.test(text))) needed.set(name, (needed.get(name) ?? 0) + 1);
    }
  }
  return needed;
}

function importedBy(file, seen) {
  if (seen.has(file) || !/\/dist\/(test|plugins\/[^/]+\/test)\//.test(file) || !existsSync(file)) return seen;
  const text = readFileSync(file, 'utf8');
  seen.set(file, NAMES_ALL.test(file) ? '' : text);
  for (const m of text.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g))
    importedBy(join(dirname(file), m[1]), seen);
  return seen;
}

function services(...args) {
  const r = spawnSync(script, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  return { ok: r.status === 0, text: `${r.stdout ?? ''}${r.stderr ?? ''}${r.error?.message ?? ''}`.trim() };
}

/** Starts those that do not run yet. Gives their names, the environment for tests, and name → reason of those that failed. */
export function startServices(needed) {
  const started = [];
  const failed = new Map();
  for (const name of needed.keys()) {
    if (process.env[variable(name)]) continue; // the user's own
    if (services('status', name).ok) continue;
    const r = services('start', name);
    process.stdout.write(`${r.text}\n`);
    if (r.ok) started.push(name);
    else failed.set(name, reasonIn(r.text, name));
  }
  return { started, failed, env: { ...environment([...needed.keys()].filter((n) => !failed.has(n))), ...process.env } };
}

/** The last message of the script's own; more lines of it are of a log. */
function reasonIn(text, name) {
  const lines = text.split('\n');
  return lines.findLast((line) => line.startsWith(`${name}: `)) ?? lines.at(-1);
}

function environment(names) {
  if (names.length === 0) return {};
  const r = spawnSync('bash', ['-c', 'eval "$("$@")" && env -0', '-', script, 'env', ...names], { encoding: 'utf8' });
  if (r.status !== 0) throw new Error(`services.sh env: ${r.stderr}`);
  const pairs = r.stdout
    .split('\0')
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
  return Object.fromEntries(pairs.filter(([key]) => /^SYNC_([A-Z0-9]+_(URL|SOCKET)|KAFKA_[A-Z_]+)$/.test(key)));
}

export function stopServices(names) {
  if (names.length > 0 && !process.env.SYNC_SERVICES_KEEP) process.stdout.write(`${services('stop', ...names).text}\n`);
}

/** The Java client of test/support/kafka.ts, compiled into the folder. @returns the environment for tests; none where that fails. */
export function compiledKafkaTool({ SYNC_KAFKA_LIB: lib }, dir) {
  if (!lib) return {};
  const source = join(import.meta.dirname, '..', 'test', 'support', 'kafka', 'KafkaTool.java');
  const args = ['-proc:none', '-nowarn', '-cp', join(lib, '*'), '-d', dir, source];
  return spawnSync('javac', args, { stdio: 'ignore' }).status === 0 ? { SYNC_KAFKA_TOOL: dir } : {};
}

/** A folder for servers that tests start for themselves, so that a run that is cut off leaves none. */
export function ownServers() {
  const dir = mkdtempSync(join(tmpdir(), 'syncx-servers-'));
  return {
    dir,
    env: { SYNC_OWN_SERVERS_DIR: dir },
    stop() {
      for (const file of readdirSync(dir, { recursive: true }).filter((f) => basename(f) === 'lock')) {
        const service = dirname(join(dir, file));
        spawnSync(script, ['stop', basename(service)], {
          env: { ...process.env, SYNC_SERVICES_DIR: dirname(service) },
        });
      }
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Arguments for each lane of the test runner that count tests skipped for want of a server, and the count after the run. */
export function skipCounter() {
  const dir = mkdtempSync(join(tmpdir(), 'syncx-skipped-'));
  const reporter = join(import.meta.dirname, 'skipped-reporter.mjs');
  return {
    args: (lane) => [
      '--test-reporter-destination=stdout',
      `--test-reporter=${reporter}`,
      `--test-reporter-destination=${join(dir, String(lane))}`,
    ],
    count() {
      const lines = readdirSync(dir).flatMap((name) => readFileSync(join(dir, name), 'utf8').split('\n').slice(1));
      rmSync(dir, { recursive: true, force: true });
      return lines.length;
    },
  };
}
