/**
 * Plugins that are installed as npm packages: `syncx-plugin-<name>` or `@scope/syncx-plugin-<name>`. They are looked up
 * by name; folders are listed only where no unscoped package has it, or for a hint.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { SyncError } from '../plugin-api/index.js';

export interface InstalledPlugin {
  /** As job files say it. */
  readonly name: string;
  /** With its scope. */
  readonly package: string;
  readonly dir: string;
}

export interface LookupPlaces {
  /** Value of SYNC_PLUGIN_PATH: folders, separated as in PATH. */
  readonly pluginPath: string | undefined;
  readonly cwd: string;
}

const PREFIX = 'syncx-plugin-';
const PACKAGE = /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?syncx-plugin-([a-z][a-z0-9-]*)$/;

/** The plugin name in a package's name; null: it is no plugin's. */
export function pluginOfPackage(name: string): string | null {
  return PACKAGE.exec(name)?.[1] ?? null;
}

/** Folders that hold packages, in the order of looking; a package itself in SYNC_PLUGIN_PATH stands for its folder. */
export function packageFolders({ pluginPath, cwd }: LookupPlaces): readonly string[] {
  const named = (pluginPath ?? '').split(delimiter).filter((p) => p !== '');
  const folders = named.flatMap((p) => [resolve(cwd, p), join(resolve(cwd, p), 'node_modules')]);
  for (let at = resolve(cwd); ; at = dirname(at)) {
    if (basename(at) !== 'node_modules') folders.push(join(at, 'node_modules'));
    if (dirname(at) === at) break;
  }
  return [...new Set([...folders, ...ownFolder()])];
}

/** The node_modules that the tool itself is installed in. */
function ownFolder(): readonly string[] {
  const parts = fileURLToPath(import.meta.url).split('/node_modules/');
  return parts.length < 2 ? [] : [`${parts.slice(0, -1).join('/node_modules/')}/node_modules`];
}

/**
 * The package that has one of these names: `counter`, or a package's full name. Null: none.
 * @throws SyncError PLUGIN_UNKNOWN where two packages of one folder have it.
 */
export async function findInstalled(names: readonly string[], places: LookupPlaces): Promise<InstalledPlugin | null> {
  for (const folder of packageFolders(places)) {
    for (const name of names) {
      const found = PACKAGE.test(name) ? await packageAt(folder, name) : await byPluginName(folder, name);
      if (found) return found;
    }
  }
  return null;
}

async function byPluginName(folder: string, name: string): Promise<InstalledPlugin | null> {
  if (!PACKAGE.test(PREFIX + name)) return null;
  const itself = await packageIn(folder, name);
  if (itself) return itself;
  const scopes = (await names(folder)).filter((n) => n.startsWith('@'));
  const found: InstalledPlugin[] = [];
  for (const p of [PREFIX + name, ...scopes.map((s) => `${s}/${PREFIX}${name}`)]) {
    const at = await packageAt(folder, p);
    if (at) found.push(at);
  }
  if (found.length < 2) return found[0] ?? null;
  const all = found.map((f) => f.package).join(' and ');
  throw new SyncError('PLUGIN_UNKNOWN', `"${name}" is the name of ${all} in ${folder}`, {
    hint: 'Give the full name of the package.',
  });
}

async function packageAt(folder: string, name: string): Promise<InstalledPlugin | null> {
  const dir = join(folder, name);
  const plugin = pluginOfPackage(name);
  return plugin !== null && (await isFile(join(dir, 'package.json'))) ? { name: plugin, package: name, dir } : null;
}

/** The folder is itself the plugin's package, as while it is being written. */
async function packageIn(dir: string, wanted: string | null): Promise<InstalledPlugin | null> {
  if (basename(dir) === 'node_modules') return null;
  const json = await packageJson(dir);
  const full = typeof json?.['name'] === 'string' ? json['name'] : '';
  const plugin = pluginOfPackage(full);
  return plugin !== null && (wanted === null || plugin === wanted) ? { name: plugin, package: full, dir } : null;
}

/** All that are installed, for hints and lists. */
export async function listInstalled(places: LookupPlaces): Promise<readonly InstalledPlugin[]> {
  const all = new Map<string, InstalledPlugin>();
  for (const folder of packageFolders(places)) {
    const itself = await packageIn(folder, null);
    if (itself && !all.has(itself.package)) all.set(itself.package, itself);
    const top = await names(folder);
    const scoped = await Promise.all(
      top.filter((n) => n.startsWith('@')).map(async (s) => (await names(join(folder, s))).map((n) => `${s}/${n}`)),
    );
    for (const name of [...top, ...scoped.flat()].filter((n) => PACKAGE.test(n)).sort()) {
      const found = all.has(name) ? null : await packageAt(folder, name);
      if (found) all.set(name, found);
    }
  }
  return [...all.values()];
}

/** @throws SyncError PLUGIN_BROKEN */
export async function importInstalled(plugin: InstalledPlugin): Promise<unknown> {
  const json = await packageJson(plugin.dir);
  const entry = entryOf(json?.['exports']) ?? entryOf(json?.['main']) ?? './index.js';
  return import(pathToFileURL(resolve(plugin.dir, entry)).href);
}

/** As its package.json has it; null: it does not say. */
export async function versionOf(plugin: InstalledPlugin): Promise<string | null> {
  const version = (await packageJson(plugin.dir))?.['version'];
  return typeof version === 'string' ? version : null;
}

/** The file that `import` of the package would take. */
function entryOf(target: unknown): string | null {
  if (typeof target === 'string') return target;
  if (Array.isArray(target)) return target.map(entryOf).find((t) => t !== null) ?? null;
  if (typeof target !== 'object' || target === null) return null;
  const entries = Object.entries(target);
  const root = entries.find(([key]) => key === '.');
  if (root) return entryOf(root[1]);
  for (const [condition, value] of entries) {
    const found = ['node', 'import', 'default'].includes(condition) ? entryOf(value) : null;
    if (found !== null) return found;
  }
  return null;
}

async function packageJson(dir: string): Promise<Readonly<Record<string, unknown>> | null> {
  try {
    const json: unknown = JSON.parse(await readFile(join(dir, 'package.json'), 'utf8'));
    return typeof json === 'object' && json !== null ? (json as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null;
  }
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (s) => s.isFile(),
    () => false,
  );
}

async function names(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []);
}
