// Makes the bytecode of the bundle's modules and of those functions that a start calls: processes run what is to be fast, and
// each tells what it has compiled.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { crc32 } from 'node:zlib';

const bundle = join(import.meta.dirname, '..', 'dist', 'bundle');

/** Nobody listens at port 1: what comes before a connection is run. */
const NOBODY = '127.0.0.1:1';
const TABLE = {
  username: 'a',
  password: 'b',
  connection: [{ jdbcUrl: `jdbc:mysql://${NOBODY}/d`, table: ['t'] }],
  column: ['*'],
};
const FILE = {
  reader: { name: 'filereader', parameter: { path: 'in.csv', isFirstLineHeader: true } },
  writer: { name: 'filewriter', parameter: { path: 'out', fileType: 'csv' } },
};
const JOBS = {
  file: FILE,
  mysql: { ...FILE, reader: { name: 'mysqlreader', parameter: TABLE } },
  mysqlTo: { ...FILE, writer: { name: 'mysqlwriter', parameter: TABLE } },
  kafka: { ...FILE, reader: { name: 'kafkareader', parameter: { brokers: NOBODY, topic: 't', codec: 'text' } } },
  kafkaTo: { ...FILE, writer: { name: 'kafkawriter', parameter: { brokers: NOBODY, topic: 't' } } },
};

/** Every module, without a command. */
const ALL = 'all';

/** The form of src/bundle/loader.ts. */
export function writeCodeCache() {
  const dir = mkdtempSync(join(tmpdir(), 'syncx-build-'));
  try {
    writeFileSync(join(dir, 'in.csv'), `id,name\n${'1,a\n'.repeat(1000)}`);
    /** @type {Map<string, Buffer>} */
    const best = new Map();
    const run = (...args) => {
      const out = join(dir, 'compiled');
      mkdirSync(out);
      const env = { ...process.env, NODE_OPTIONS: '', SYNC_STATE_DIR: join(dir, 'state') };
      spawnSync(process.execPath, [import.meta.filename, out, ...args], { cwd: dir, env, stdio: 'ignore' });
      for (const name of readdirSync(out)) {
        const code = readFileSync(join(out, name));
        // The more functions of a module were called, the more bytes.
        if (code.length > (best.get(name)?.length ?? 0)) best.set(name, code);
      }
      rmSync(out, { recursive: true });
    };
    run(ALL);
    run('--version');
    for (const [name, content] of Object.entries(JOBS)) {
      writeFileSync(join(dir, `${name}.json`), JSON.stringify({ job: { content: [content] } }));
      run('run', `${name}.json`, '--output', 'json');
    }
    for (const [name, code] of best) {
      const path = join(bundle, 'modules', decodeURIComponent(name));
      const crc = Buffer.alloc(4);
      crc.writeUInt32LE(crc32(code, crc32(readFileSync(`${path}.cjs`))));
      writeFileSync(`${path}.code`, Buffer.concat([code, crc]));
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** In a process of its own: a command, and at its exit what was compiled. */
async function train(out, args) {
  const { load, compiledScripts } = await import(join(bundle, 'loader.js'));
  process.on('exit', () => {
    for (const [name, script] of compiledScripts())
      writeFileSync(join(out, encodeURIComponent(name)), script.createCachedData());
  });
  if (args[0] !== ALL) {
    process.argv = [process.execPath, 'sync', ...args];
    load('main');
    return;
  }
  const names = readdirSync(join(bundle, 'modules'), { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile() && e.name.endsWith('.cjs'))
    .map((e) => relative(join(bundle, 'modules'), join(e.parentPath, e.name)).slice(0, -'.cjs'.length));
  for (const name of names) if (name !== 'main' && name !== 'lane-worker') load(name);
  process.exit(); // whatever a module has started
}

if (process.argv[1] === import.meta.filename) await train(process.argv[2], process.argv.slice(3));
