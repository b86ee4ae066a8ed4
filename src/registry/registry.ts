import { API_VERSION, SyncError, type AnyReaderDefinition, type AnyWriterDefinition } from '../plugin-api/index.js';
import { BUILTIN_PLUGINS, importBuiltin, importValidator, type BuiltinPlugin } from './builtin.js';
import type { InstalledPlugin } from './installed.js';
import { nearestName } from './nearest.js';

type Kind = 'reader' | 'writer';

/** What job files may say after a plugin's name. */
const SUFFIXES: Readonly<Record<Kind, readonly string[]>> = {
  reader: ['reader', 'source'],
  writer: ['writer', 'sink'],
};

/**
 * Set by the registry itself: which packages this process has found (JSON: `reader.<name>` → package). The threads of
 * lanes, which get a copy of the environment, so load the same ones, also where a job names a package in full.
 */
const RESOLVED = 'SYNC_RESOLVED_PLUGINS';

/** A validator as ajv makes it; its shape belongs to the config. */
export interface BuiltValidator {
  (data: unknown): boolean;
}

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
    return (await this.#load('reader', name)) as AnyReaderDefinition;
  }

  async writer(name: string): Promise<AnyWriterDefinition> {
    return (await this.#load('writer', name)) as AnyWriterDefinition;
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

  async #load(kind: Kind, name: string): Promise<unknown> {
    const wanted = name.trim().toLowerCase();
    const builtin = this.#byName(kind, wanted);
    if (builtin?.kinds.includes(kind) === true) return loadFrom(kind, builtin.name, () => importBuiltin(builtin.name));
    const crossed = this.#byName(kind === 'reader' ? 'writer' : 'reader', wanted);
    if (crossed) throw crossedKinds(kind, name, crossed);
    return this.#installed(kind, name, wanted);
  }

  async #installed(kind: Kind, name: string, wanted: string): Promise<unknown> {
    const { findInstalled, importInstalled } = await import('./installed.js');
    const { isMainThread } = await import('node:worker_threads');
    const places = { pluginPath: this.#env['SYNC_PLUGIN_PATH'], cwd: this.#cwd };
    const known = isMainThread ? undefined : this.#resolved()[`${kind}.${wanted}`];
    const found = known ?? (await findInstalled(bareNames(kind, wanted), places));
    if (!found) throw await this.#unknown(kind, name, wanted);
    const label = `${found.package} (${found.dir})`;
    if (BUILTIN_PLUGINS.some((p) => p.name === found.name || p.aliases.includes(found.name))) {
      throw new SyncError('PLUGIN_BROKEN', `${label} has the name of a plugin that ships with the tool`);
    }
    const definition = await loadFrom(kind, label, () => importInstalled(found));
    if (definition.name !== found.name) {
      throw new SyncError('PLUGIN_BROKEN', `${label} calls its ${kind} "${String(definition.name)}"`, {
        hint: `The name must be "${found.name}", as in the name of the package.`,
      });
    }
    if (isMainThread) this.#env[RESOLVED] = JSON.stringify({ ...this.#resolved(), [`${kind}.${found.name}`]: found });
    return definition;
  }

  #resolved(): Readonly<Record<string, InstalledPlugin>> {
    return JSON.parse(this.#env[RESOLVED] ?? '{}') as Readonly<Record<string, InstalledPlugin>>;
  }

  async #unknown(kind: Kind, name: string, wanted: string): Promise<SyncError> {
    const { listInstalled } = await import('./installed.js');
    const installed = await listInstalled({ pluginPath: this.#env['SYNC_PLUGIN_PATH'], cwd: this.#cwd });
    const known = this.#plugins.filter((p) => p.kinds.includes(kind) && p.onlyWith === undefined);
    const names = [...known.flatMap((p) => [p.name, ...p.aliases]), ...installed.map((p) => p.name)];
    const spellings = [...names.flatMap((n) => [n, `${n}${kind}`]), ...installed.map((p) => p.package)];
    const near = nearestName(wanted, spellings);
    const all = [...known.map((p) => `${p.name}${kind}`), ...installed.map((p) => `${p.name} (${p.package})`)];
    const hint = near === null ? `known ${kind}s: ${all.join(', ')}` : `did you mean "${near}"?`;
    return new SyncError('PLUGIN_UNKNOWN', `no ${kind} is named "${name}"`, { hint });
  }

  #byName(kind: Kind, wanted: string): BuiltinPlugin | undefined {
    const bare = bareNames(kind, wanted);
    return this.#plugins.find((p) => bare.some((n) => n === p.name || p.aliases.includes(n)));
  }
}

function bareNames(kind: Kind, wanted: string): readonly string[] {
  return [wanted, ...SUFFIXES[kind].filter((s) => wanted.endsWith(s)).map((s) => wanted.slice(0, -s.length))];
}

function crossedKinds(kind: Kind, name: string, plugin: BuiltinPlugin): SyncError {
  const other = kind === 'reader' ? 'writer' : 'reader';
  const hint = plugin.kinds.includes(kind) ? `did you mean "${plugin.name}${kind}"?` : `${plugin.name} has no ${kind}`;
  return new SyncError('PLUGIN_UNKNOWN', `"${name}" is no ${kind} but a ${other}`, { hint });
}

async function loadFrom(
  kind: Kind,
  label: string,
  load: () => Promise<unknown>,
): Promise<Partial<AnyReaderDefinition | AnyWriterDefinition>> {
  let module: Readonly<Record<string, unknown>>;
  try {
    module = (await load()) as Readonly<Record<string, unknown>>;
  } catch (e) {
    const why = e instanceof Error ? e.message : String(e);
    const lacksTool = /Cannot find package 'syncx'/.test(why);
    throw new SyncError('PLUGIN_BROKEN', `plugin ${label} cannot be loaded: ${why}`, {
      cause: e,
      ...(lacksTool ? { hint: 'Install syncx beside the plugin, so that it finds the contract.' } : {}),
    });
  }
  const definition = module[kind] as Partial<AnyReaderDefinition | AnyWriterDefinition> | undefined;
  if (definition === undefined) throw new SyncError('PLUGIN_BROKEN', `plugin ${label} exports no ${kind}`);
  if (definition.apiVersion !== API_VERSION) {
    const has = String(definition.apiVersion);
    throw new SyncError('PLUGIN_BROKEN', `plugin ${label} is for contract ${has}, this is ${String(API_VERSION)}`, {
      hint: 'install a version of the plugin that fits this version of the tool',
    });
  }
  return definition;
}
