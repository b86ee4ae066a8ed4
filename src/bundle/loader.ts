/**
 * The modules of the bundle, and the bytecode that the build kept of them: with it a start does not parse and compile anew
 * what every start runs, which is a good part of its time. scripts/build-bundle.mjs writes both.
 *
 * `modules/NAME.cjs` is a function of (exports, require, module, __url, __load); `__url` is of NAME.js in the bundle's folder,
 * and `__load` stands for `import()`.
 * `code-cache`: the length of the index (u32, little endian), the index (JSON, NAME → [offset, bytes, CRC-32 of source and
 * bytecode]), the bytecode. V8 refuses bytecode of another version of its own or of other flags, and compiles; but of the
 * source it compares the length only, and of the bytecode nothing.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { posix } from 'node:path';
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

type Kept = readonly [offset: number, bytes: number, crc: number];

const FOLDER = new URL('.', import.meta.url);
const requireOther = createRequire(new URL('main.js', FOLDER));
const modules = new Map<string, Module>();
const scripts = new Map<string, Script>();
const keptOf = openCodeCache();

/** Runs the module at its first call. @param name `main`, `plugins/file`. @returns its exports. */
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
  const path = new URL(`modules/${name}.cjs`, FOLDER);
  const source = readFileSync(path);
  const cachedData = keptOf(name, source);
  // The build writes ASCII.
  const script = new Script(source.toString('latin1'), { filename: path.pathname, cachedData });
  scripts.set(name, script);
  return script.runInThisContext() as ModuleFunction;
}

function openCodeCache(): (name: string, source: Buffer) => Buffer | undefined {
  let bytes: Buffer;
  let index: Readonly<Record<string, Kept>>;
  let start: number;
  try {
    bytes = readFileSync(new URL('code-cache', FOLDER));
    start = 4 + bytes.readUInt32LE(0);
    index = JSON.parse(bytes.toString('utf8', 4, start)) as typeof index;
  } catch {
    return () => undefined; // none was built, or it is cut off: all is compiled
  }
  return (name, source) => {
    const kept = index[name];
    if (kept === undefined) return undefined;
    const code = bytes.subarray(start + kept[0], start + kept[0] + kept[1]);
    return crc32(code, crc32(source)) === kept[2] ? code : undefined;
  };
}
