import { API_VERSION, SyncError, type AnyReaderDefinition, type AnyWriterDefinition } from '../plugin-api/index.js';

export type Kind = 'reader' | 'writer';

export interface Definitions {
  /** Null: the plugin has none, or none is wanted. */
  readonly reader: AnyReaderDefinition | null;
  readonly writer: AnyWriterDefinition | null;
}

/**
 * Imports a plugin and takes from it those of the kinds that it has. `label`: the plugin, as messages call it.
 * @throws SyncError PLUGIN_BROKEN where it has none of them, or what it has is not for this contract.
 */
export async function loadDefinitions(
  kinds: readonly Kind[],
  label: string,
  load: () => Promise<unknown>,
): Promise<Definitions> {
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
  if (kinds.every((kind) => module[kind] === undefined)) {
    throw new SyncError('PLUGIN_BROKEN', `plugin ${label} exports no ${kinds.join(' and no ')}`);
  }
  const take = (kind: Kind): unknown => {
    if (!kinds.includes(kind) || module[kind] === undefined) return null;
    checkContract(label, module[kind]);
    return module[kind];
  };
  return { reader: take('reader') as AnyReaderDefinition | null, writer: take('writer') as AnyWriterDefinition | null };
}

function checkContract(label: string, exported: unknown): void {
  const has = (exported as { readonly apiVersion?: unknown } | null)?.apiVersion;
  if (has === API_VERSION) return;
  throw new SyncError(
    'PLUGIN_BROKEN',
    `plugin ${label} is for contract ${String(has)}, this is ${String(API_VERSION)}`,
    {
      hint: 'install a version of the plugin that fits this version of the tool',
    },
  );
}

/** What an installed plugin must have so that anything can be done with it. */
export function checkInstalled({ reader, writer }: Definitions, label: string, name: string): void {
  for (const [kind, definition] of [
    ['reader', reader],
    ['writer', writer],
  ] as const) {
    if (definition === null) continue;
    if (definition.name !== name) {
      throw new SyncError('PLUGIN_BROKEN', `${label} calls its ${kind} "${definition.name}"`, {
        hint: `The name must be "${name}", as in the name of the package.`,
      });
    }
    if (typeof definition.options !== 'object' || definition.options === null) {
      throw new SyncError('PLUGIN_BROKEN', `the ${kind} of ${label} has no schema of its options`);
    }
  }
}

/** Importing a plugin does nothing, so one that takes longer does not end at all. */
const LOAD_MS = 10_000;

/**
 * The timer also keeps the process alive, which would end without a word at an import that waits for nothing.
 * @throws SyncError PLUGIN_BROKEN
 */
export async function inTime<T>(label: string, loading: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new SyncError('PLUGIN_BROKEN', `plugin ${label} is not loaded after ${String(LOAD_MS / 1000)} s`));
    }, LOAD_MS);
  });
  try {
    return await Promise.race([loading, late]);
  } finally {
    clearTimeout(timer);
  }
}
