/**
 * The plugins that ship with the tool. Names stand here so that a name can be looked up, and a typo answered, without
 * loading any plugin; a test checks that each plugin says the same of itself.
 */
export interface BuiltinPlugin {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly kinds: readonly ('reader' | 'writer')[];
  /** Environment variable that must be `1`: plugins for tests only. */
  readonly onlyWith?: string;
}

export const BUILTIN_PLUGINS: readonly BuiltinPlugin[] = [
  { name: 'file', aliases: ['txtfile', 'localfile'], kinds: ['reader', 'writer'] },
  { name: 'kafka', aliases: [], kinds: ['reader', 'writer'] },
  { name: 'mysql', aliases: ['mysqld', 'mariadb'], kinds: ['reader', 'writer'] },
  { name: 'socket', aliases: [], kinds: ['reader'] },
  { name: 'stream', aliases: [], kinds: ['reader', 'writer'] },
  { name: 'scripted', aliases: [], kinds: ['reader', 'writer'], onlyWith: 'SYNC_TEST_PLUGINS' },
];

/** True in the one-folder bundle; false in the compiler's output, where folders are as in the sources. */
const BUNDLED = !import.meta.url.endsWith('/src/registry/builtin.js');

// The path is put together at run time on purpose: the bundle has each plugin as an entry of its own, and the registry
// loads built-in and installed plugins the same way.
export function importBuiltin(name: string): Promise<unknown> {
  const path = BUNDLED ? `./plugins/${name}.js` : `../../plugins/${name}/index.js`;
  return import(new URL(path, import.meta.url).href);
}

/** What scripts/build-bundle.mjs compiled for a schema (`job`, `reader.file`); null outside the bundle. */
export async function importValidator(schema: string): Promise<unknown> {
  if (!BUNDLED) return null;
  return import(new URL(`./validators/${schema}.js`, import.meta.url).href);
}
