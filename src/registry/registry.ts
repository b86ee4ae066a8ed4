import { SyncError, type AnyReaderDefinition, type AnyWriterDefinition } from '../plugin-api/index.js';
import { BUILTIN_PLUGINS, importBuiltin, importValidator, type BuiltinPlugin } from './builtin.js';
import type { InstalledPlugin } from './installed.js';
import { checkInstalled, inTime, loadDefinitions, type Definitions, type Kind } from './load-definition.js';
import { bareNames } from './names.js';
import { nearestName } from './nearest.js';

/**
 * Set by the registry itself: which packages this process has found (JSON: `reader.<name>` → package). The threads of
 * lanes, which get a copy of the environment, so load the same ones, also where a job names a package in full.
 */
const RESOLVED = 'SYNC_RESOLVED_PLUGINS';

/** A validator as ajv makes it; its shape belongs to the config. */
export interface BuiltValidator {
  (data: unknown): boolean;
}

/** A plugin that is there, not loaded. */
export type Located =
  | { readonly is: 'builtin'; readonly plugin: BuiltinPlugin; readonly kinds: readonly Kind[] }
  | { readonly is: 'package'; readonly plugin: InstalledPlugin; readonly kinds: readonly Kind[] };

const BOTH: readonly Kind[] = ['reader', 'writer'];

/** Finds plugins by name and loads them on demand: those that ship with the tool, then installed packages. */
export class Registry {
  readonly #plugins: readonly BuiltinPlugin[];
  readonly #env: Record<string, string | undefined>;
  readonly #cwd: string;

  /** `env`: of the process; what was found is noted in it. */
  constructor(env: Record<string, string | undefined>, cwd: string = process.cwd()) {
    this.#env = env;
    this.#cwd = cwd;
    this.#plugins = BUILTIN_PLUGINS.filter((p) => p.onlyWith === undefined || env[p.onlyWith] === '1');
  }

  async reader(name: string): Promise<AnyReaderDefinition> {
    return (await this.#load('reader', name)) as AnyReaderDefinition; // or it has thrown
  }

  async writer(name: string): Promise<AnyWriterDefinition> {
    return (await this.#load('writer', name)) as AnyWriterDefinition; // or it has thrown
  }

  /** Null where no validator was built for the schema. */
  async validator<F extends BuiltValidator>(schema: string): Promise<F | null> {
    try {
      const module = (await importValidator(schema)) as { readonly validate: F } | null;
      return module?.validate ?? null;
    } catch (e) {
      if ((e as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return null;
      throw e;
    }
  }

  /**
   * The plugin of this name. Its `kinds`: those of the wanted ones that the name can mean, `streamwriter` only a writer.
   * @throws SyncError PLUGIN_UNKNOWN
   */
  async locate(name: string, kinds: readonly Kind[] = BOTH): Promise<Located> {
    const wanted = name.trim().toLowerCase();
    for (const plugin of this.#plugins) {
      const meant = kinds.filter((k) => plugin.kinds.includes(k) && isNameOf(plugin, k, wanted));
      if (meant.length > 0) return { is: 'builtin', plugin, kinds: meant };
    }
    for (const kind of kinds.length === 1 ? kinds : []) {
      const crossed = this.#plugins.find((p) => isNameOf(p, otherThan(kind), wanted));
      if (crossed) throw crossedKinds(kind, name, crossed);
    }
    const { findInstalled } = await import('./installed.js');
    const { isMainThread } = await import('node:worker_threads');
    const [only] = kinds;
    const known = isMainThread || only === undefined ? undefined : this.#resolved()[`${only}.${wanted}`];
    const names = [...new Set(kinds.flatMap((k) => bareNames(k, wanted)))];
    const plugin = known ?? (await findInstalled(names, this.#places()));
    if (!plugin) throw await this.#unknown(kinds, name, wanted);
    const { name: short, package: full } = plugin;
    const meant = kinds.filter((k) => bareNames(k, wanted).some((n) => n === short || n === full));
    return { is: 'package', plugin, kinds: meant };
  }

  /** All plugins that job files can name: those that ship with the tool, then the packages that are installed. */
  async everything(): Promise<readonly Located[]> {
    const { listInstalled } = await import('./installed.js');
    return [
      ...this.#plugins.map((plugin) => ({ is: 'builtin', plugin, kinds: plugin.kinds }) as const),
      ...(await listInstalled(this.#places())).map((plugin) => ({ is: 'package', plugin, kinds: BOTH }) as const),
    ];
  }

  /**
   * Loads a plugin.
   * @throws SyncError PLUGIN_BROKEN, also where it has none of the kinds.
   */
  async definitions(at: Located): Promise<Definitions> {
    if (at.is === 'builtin') return loadDefinitions(at.kinds, at.plugin.name, () => importBuiltin(at.plugin.name));
    const { importInstalled } = await import('./installed.js');
    const { name, package: full, dir } = at.plugin;
    const label = `${full} (${dir})`;
    if (BUILTIN_PLUGINS.some((p) => p.name === name || p.aliases.includes(name))) {
      throw new SyncError('PLUGIN_BROKEN', `${label} has the name of a plugin that ships with the tool`);
    }
    const definitions = await inTime(
      full,
      loadDefinitions(at.kinds, label, () => importInstalled(at.plugin)),
    );
    checkInstalled(definitions, label, name);
    return definitions;
  }

  async #load<K extends Kind>(kind: K, name: string): Promise<Definitions[K]> {
    const at = await this.locate(name, [kind]);
    const definitions = await this.definitions(at);
    if (at.is === 'package') await this.#note(kind, at.plugin);
    return definitions[kind];
  }

  async #note(kind: Kind, plugin: InstalledPlugin): Promise<void> {
    const { isMainThread } = await import('node:worker_threads');
    if (!isMainThread) return;
    this.#env[RESOLVED] = JSON.stringify({ ...this.#resolved(), [`${kind}.${plugin.name}`]: plugin });
  }

  #places() {
    return { pluginPath: this.#env['SYNC_PLUGIN_PATH'], cwd: this.#cwd };
  }

  #resolved(): Readonly<Record<string, InstalledPlugin>> {
    return JSON.parse(this.#env[RESOLVED] ?? '{}') as Readonly<Record<string, InstalledPlugin>>;
  }

  async #unknown(kinds: readonly Kind[], name: string, wanted: string): Promise<SyncError> {
    const { listInstalled } = await import('./installed.js');
    const installed = await listInstalled(this.#places());
    const shipped = this.#plugins.filter((p) => p.onlyWith === undefined);
    // Each with what may be said behind it.
    const named = kinds.flatMap((kind) => [
      ...shipped.filter((p) => p.kinds.includes(kind)).flatMap((p) => [p.name, ...p.aliases].map((n) => ({ n, kind }))),
      ...installed.map((p) => ({ n: p.name, kind })),
    ]);
    const spellings = [...named.flatMap(({ n, kind }) => [n, `${n}${kind}`]), ...installed.map((p) => p.package)];
    const near = nearestName(wanted, spellings);
    const [only] = kinds.length === 1 ? kinds : [];
    const ours = only === undefined ? shipped : shipped.filter((p) => p.kinds.includes(only));
    const all = [...ours.map((p) => p.name + (only ?? '')), ...installed.map((p) => `${p.name} (${p.package})`)];
    const what = only ?? 'plugin';
    const hint = near === null ? `known ${what}s: ${all.join(', ')}` : `did you mean "${near}"?`;
    return new SyncError('PLUGIN_UNKNOWN', `no ${what} is named "${name}"`, { hint });
  }
}

const otherThan = (kind: Kind): Kind => (kind === 'reader' ? 'writer' : 'reader');

function isNameOf(plugin: BuiltinPlugin, kind: Kind, wanted: string): boolean {
  return bareNames(kind, wanted).some((n) => n === plugin.name || plugin.aliases.includes(n));
}

function crossedKinds(kind: Kind, name: string, plugin: BuiltinPlugin): SyncError {
  const hint = plugin.kinds.includes(kind) ? `did you mean "${plugin.name}${kind}"?` : `${plugin.name} has no ${kind}`;
  return new SyncError('PLUGIN_UNKNOWN', `"${name}" is no ${kind} but a ${otherThan(kind)}`, { hint });
}
