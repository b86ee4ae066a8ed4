/** The plugins that are there, as the schema of job files wants them. */
import type { SchemaPlugin } from '../../config/editor-schema/job-file.js';
import type { SchemaNode } from '../../config/schema.js';
import { toSyncError, type SyncError } from '../../plugin-api/index.js';
import { SUFFIXES } from '../../registry/names.js';
import type { Located, Registry } from '../../registry/registry.js';
import { loadDescribed, originOf, type Described } from './plugin-facts.js';

export interface FoundPlugins {
  readonly plugins: readonly SchemaPlugin[];
  /** Of plugins that cannot be loaded. */
  readonly broken: readonly { readonly name: string; readonly error: SyncError }[];
}

export async function schemaPlugins(registry: Registry, which: (at: Located) => boolean): Promise<FoundPlugins> {
  const plugins: SchemaPlugin[] = [];
  const broken: { name: string; error: SyncError }[] = [];
  for (const at of (await registry.everything()).filter(which)) {
    const origin = await originOf(at);
    try {
      for (const d of await loadDescribed(registry, at, origin)) plugins.push(schemaPlugin(d, at));
    } catch (e) {
      broken.push({ name: origin.package, error: toSyncError(e, 'PLUGIN_BROKEN') });
    }
  }
  return { plugins, broken };
}

function schemaPlugin({ facts, definition }: Described, at: Located): SchemaPlugin {
  const suffixes = SUFFIXES[facts.kind];
  const bare = [facts.name, ...facts.aliases, ...(at.is === 'package' ? [facts.package] : [])];
  // The usual spelling first: `filereader`.
  const names = bare.flatMap((n) => [...suffixes.map((s) => n + s), n]).map((n) => n.toLowerCase());
  const from = at.is === 'package' ? facts.package : null;
  const { kind, name, summary } = facts;
  return { kind, name, package: from, summary, options: definition.options as SchemaNode, names };
}
