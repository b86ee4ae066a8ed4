/**
 * The modules of the bundle, and the bytecode that the build kept of them: with it a start does not parse and compile anew
 * what every start runs, which is a good part of its time. scripts/build-bundle.mjs writes both.
 *
 * `modules/NAME.cjs` is a function of (exports, require, module, __url, __load); `__url` is of NAME.js in the bundle's folder,
 * and `__load` stands for `import()`.
 * `modules/NAME.code` is the bytecode, and behind it the CRC-32 (little endian) of the source and the bytecode. V8 refuses
 * bytecode of another version of its own or of other flags, and compiles; but of the source it compares the length only, and
 * of the bytecode nothing.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

interface Module {
  exports: unknown;
}

type ModuleFunction = (
  exports: unknown,
  require: (specifier: string) => unknown,
  module: Module,
  __url: string,
  __load: (specifier: string) => Promise<unknown>,
) => void;

const FOLDER = new URL('.', import.meta.url);
const requireOther = createRequire(new URL('main.js', FOLDER));
const modules = new Map<string, Module>();
const scripts = new Map<string, Script>();

/**
 * Runs the module at its first call.
 * @param name `main`, `plugins/file`. @returns its exports.
 * @throws Error ERR_MODULE_NOT_FOUND as `import()` does; what the module throws.
 */
export function load(name: string): unknown {
  const known = modules.get(name);
  if (known !== undefined) return known.exports;
  const module: Module = { exports: {} };
  modules.set(name, module);
  try {
    const other = (specifier: string): string => posix.join(posix.dirname(name), specifier).replace(/\.js$/, '');
    const require = (specifier: string): unknown =>
      specifier.startsWith('.') ? load(other(specifier)) : (requireOther(specifier) as unknown);
    const loadLater = async (specifier: string): Promise<unknown> => {
      if (specifier.startsWith('.')) return load(other(specifier));
      if (specifier.startsWith(FOLDER.href)) return load(specifier.slice(FOLDER.href.length).replace(/\.js$/, ''));
      return import(specifier);
    };
    const url = new URL(`${name}.js`, FOLDER).href;
    compiled(name)(module.exports, require, module, url, loadLater);
  } catch (e) {
    modules.delete(name);
    throw e;
  }
  return module.exports;
}

/** For the build: what was compiled so far, with the functions that were called. */
export function compiledScripts(): ReadonlyMap<string, Script> {
  return scripts;
}

function compiled(name: string): ModuleFunction {
  const path = fileURLToPath(new URL(`modules/${name}.cjs`, FOLDER));
  const source = sourceOf(path);
  // The build writes ASCII.
  const script = new Script(source.toString('latin1'), { filename: path, cachedData: keptCode(name, source) });
  scripts.set(name, script);
  return script.runInThisContext() as ModuleFunction;
}

function sourceOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw isMissing
      ? Object.assign(new Error(`no module ${path}`, { cause }), { code: 'ERR_MODULE_NOT_FOUND' })
      : cause;
  }
}

/** Undefined: there is none that fits. */
function keptCode(name: string, source: Buffer): Buffer | undefined {
  let kept: Buffer;
  try {
    kept = readFileSync(new URL(`modules/${name}.code`, FOLDER));
  } catch {
    return undefined;
  }
  const end = kept.length - 4;
  if (end <= 0) return undefined;
  const code = kept.subarray(0, end);
  return crc32(code, crc32(source)) === kept.readUInt32LE(end) ? code : undefined;
}
