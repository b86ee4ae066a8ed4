/** Bytecode that the build kept: used where it fits, and never where it does not. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../../support/sync.js';

/** Modules by what became of their bytecode, and what the names of a module say. */
interface Loaded {
  readonly used: number;
  readonly refused: number;
  readonly compiled: number;
  readonly reader: string;
}

/** Within the package, so that the bundle finds its own package.json. */
class Bundle implements Disposable {
  readonly dir = mkdtempSync(join(ROOT, 'dist', 'bundle-test-'));

  constructor() {
    cpSync(join(ROOT, 'dist', 'bundle'), this.dir, { recursive: true, filter: (path) => !path.endsWith('.map') });
  }

  path(name: string): string {
    return join(this.dir, name);
  }

  load(...flags: readonly string[]): Loaded {
    const script = `
      const { load, compiledScripts } = await import(${JSON.stringify(this.path('loader.js'))});
      const { reader } = load('plugins/file');
      const all = [...compiledScripts().values()].map((s) => s.cachedDataRejected);
      const count = (what) => all.filter((x) => x === what).length;
      console.log(JSON.stringify({ used: count(false), refused: count(true), compiled: count(undefined), reader: reader.name }));`;
    const args = [...flags, '--input-type=module', '--eval', script];
    return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Loaded;
  }

  [Symbol.dispose](): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

test('what fits is used, for every module', () => {
  using bundle = new Bundle();
  const { used, refused, compiled, reader } = bundle.load();
  assert.ok(used > 5, String(used));
  assert.deepEqual([refused, compiled, reader], [0, 0, 'file']);
});

test('a module that was changed is compiled, also where its length is the same', () => {
  using bundle = new Bundle();
  const path = bundle.path('modules/plugins/file.cjs');
  const text = readFileSync(path, 'utf8');
  const changed = text.replaceAll('name:"file"', 'name:"FILE"');
  assert.ok(changed !== text && changed.length === text.length);
  writeFileSync(path, changed);
  const { refused, compiled, reader } = bundle.load();
  assert.deepEqual([refused, compiled, reader], [0, 1, 'FILE']);
});

test('without bytecode, with bytes that are none, and under other flags all is compiled', () => {
  using bundle = new Bundle();
  const flags = bundle.load('--no-opt');
  assert.deepEqual([flags.used, flags.compiled, flags.reader], [0, 0, 'file']);

  const path = bundle.path('modules/plugins/file.code');
  const whole = readFileSync(path);
  const turned = Buffer.from(whole);
  turned.writeUInt8(turned.readUInt8(100) ^ 0xff, 100);
  const cut = whole.subarray(0, Math.floor(whole.length / 2));
  for (const bytes of [turned, cut, whole.subarray(0, 4), whole.subarray(0, 3), Buffer.alloc(0), null]) {
    if (bytes === null) rmSync(path);
    else writeFileSync(path, bytes);
    const { refused, compiled, reader } = bundle.load();
    assert.deepEqual([refused, compiled, reader], [0, 1, 'file'], String(bytes?.length));
  }
});

test('plugins of others get the very classes of the bundle; what it has not of them is missing, not broken', async () => {
  const bundle = (name: string): Promise<Record<string, unknown>> =>
    import(join(ROOT, 'dist', 'bundle', name)) as Promise<Record<string, unknown>>;
  const { load } = (await bundle('loader.js')) as { load: (name: string) => Record<string, unknown> };
  assert.throws(() => load('validators/reader.counter'), { code: 'ERR_MODULE_NOT_FOUND' });
  for (const name of ['plugin-api', 'plugin-kit']) {
    const given = await bundle(`${name}.js`);
    const own = load(name);
    assert.deepEqual(Object.keys(given).sort(), Object.keys(own).sort());
    for (const [key, value] of Object.entries(given)) assert.equal(value, own[key], key);
  }
});
