// The installed CLI: one split ESM bundle. plugin-api is one shared chunk that third-party plugins import too.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
const plugins = readdirSync(join(root, 'plugins')).filter((n) => existsSync(join(root, 'plugins', n, 'index.ts')));
rmSync(join(root, 'dist/bundle'), { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: [
    { in: 'src/cli/main.ts', out: 'main' },
    { in: 'src/plugin-api/index.ts', out: 'plugin-api' },
    { in: 'src/plugin-kit/index.ts', out: 'plugin-kit' },
    ...plugins.map((n) => ({ in: `plugins/${n}/index.ts`, out: `plugins/${n}` })),
  ],
  outdir: 'dist/bundle',
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  // jsonc-parser's UMD main breaks when bundled.
  mainFields: ['module', 'main'],
  alias: { 'syncx/plugin-api': './src/plugin-api/index.ts', 'syncx/plugin-kit': './src/plugin-kit/index.ts' },
  banner: { js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);" },
  minify: true,
  keepNames: true,
  sourcemap: true,
  logLevel: 'warning',
});
