import { API_VERSION, SyncError, type AnyReaderDefinition, type AnyWriterDefinition } from '../plugin-api/index.js';
import { BUILTIN_PLUGINS, importBuiltin, importValidator, type BuiltinPlugin } from './builtin.js';
import { nearestName } from './nearest.js';

type Kind = 'reader' | 'writer';

/** What job files may say after a plugin's name. */
const SUFFIXES: Readonly<Record<Kind, readonly string[]>> = {
  reader: ['reader', 'source'],
  writer: ['writer', 'sink'],
};

/** A validator as ajv makes it; its shape belongs to the config. */
export interface BuiltValidator {
  (data: unknown): boolean;
}

/** Finds plugins by name and loads them on demand. */
export class Registry {
  readonly #plugins: readonly BuiltinPlugin[];

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#plugins = BUILTIN_PLUGINS.filter((p) => p.onlyWith === undefined || env[p.onlyWith] === '1');
  }

  async reader(name: string): Promise<AnyReaderDefinition> {
    return (await load('reader', this.#find('reader', name))) as AnyReaderDefinition;
  }

  async writer(name: string): Promise<AnyWriterDefinition> {
    return (await load('writer', this.#find('writer', name))) as AnyWriterDefinition;
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

  #find(kind: Kind, name: string): BuiltinPlugin {
    const wanted = name.trim().toLowerCase();
    const plugin = this.#byName(kind, wanted);
    if (plugin?.kinds.includes(kind) === true) return plugin;
    const other = kind === 'reader' ? 'writer' : 'reader';
    const crossed = this.#byName(other, wanted);
    if (crossed) {
      const hint = crossed.kinds.includes(kind)
        ? `did you mean "${crossed.name}${kind}"?`
        : `${crossed.name} has no ${kind}`;
      throw new SyncError('PLUGIN_UNKNOWN', `"${name}" is no ${kind} but a ${other}`, { hint });
    }
    const known = this.#plugins.filter((p) => p.kinds.includes(kind) && p.onlyWith === undefined);
    const spellings = known.flatMap((p) => [p.name, ...p.aliases].flatMap((n) => [n, `${n}${kind}`]));
    const near = nearestName(wanted, spellings);
    const hint =
      near === null ? `known ${kind}s: ${known.map((p) => `${p.name}${kind}`).join(', ')}` : `did you mean "${near}"?`;
    throw new SyncError('PLUGIN_UNKNOWN', `no ${kind} is named "${name}"`, { hint });
  }

  #byName(kind: Kind, wanted: string): BuiltinPlugin | undefined {
    const bare = [wanted, ...SUFFIXES[kind].filter((s) => wanted.endsWith(s)).map((s) => wanted.slice(0, -s.length))];
    return this.#plugins.find((p) => bare.some((n) => n === p.name || p.aliases.includes(n)));
  }
}

async function load(kind: Kind, plugin: BuiltinPlugin): Promise<unknown> {
  let module: Readonly<Record<string, unknown>>;
  try {
    module = (await importBuiltin(plugin.name)) as Readonly<Record<string, unknown>>;
  } catch (e) {
    const why = e instanceof Error ? e.message : String(e);
    throw new SyncError('PLUGIN_BROKEN', `plugin ${plugin.name} cannot be loaded: ${why}`, { cause: e });
  }
  const definition = module[kind] as Partial<AnyReaderDefinition> | undefined;
  if (definition === undefined) throw new SyncError('PLUGIN_BROKEN', `plugin ${plugin.name} exports no ${kind}`);
  if (definition.apiVersion !== API_VERSION) {
    const has = String(definition.apiVersion);
    throw new SyncError(
      'PLUGIN_BROKEN',
      `plugin ${plugin.name} is for contract ${has}, this is ${String(API_VERSION)}`,
      {
        hint: 'install a version of the plugin that fits this version of the tool',
      },
    );
  }
  return definition;
}
