/** What `sync plugins` and `sync describe` say of a plugin's reader or writer without any options of a job. */
import { createRequire } from 'node:module';
import {
  SyncError,
  toSyncError,
  type AnyReaderDefinition,
  type AnyWriterDefinition,
  type Delivery,
} from '../../plugin-api/index.js';
import { versionOf } from '../../registry/installed.js';
import type { Definitions } from '../../registry/load-definition.js';
import type { Located, Registry } from '../../registry/registry.js';

interface CommonFacts {
  readonly name: string;
  /** Null: its package does not say. */
  readonly version: string | null;
  readonly package: string;
  /** Other names, to which a job file may add `reader`, `source`, `writer` or `sink` as to the first. */
  readonly aliases: readonly string[];
  readonly summary: string;
}
/** Null: the definition does not say. */
export interface ReaderFacts extends CommonFacts {
  readonly kind: 'reader';
  readonly boundedness: 'bounded' | 'unbounded' | 'by-options' | null;
  readonly replayable: boolean | 'by-options' | null;
}
export interface WriterFacts extends CommonFacts {
  readonly kind: 'writer';
  readonly delivery: readonly Delivery[] | null;
}
export type PluginFacts = ReaderFacts | WriterFacts;

export type Described =
  | { readonly facts: ReaderFacts; readonly definition: AnyReaderDefinition }
  | { readonly facts: WriterFacts; readonly definition: AnyWriterDefinition };

export type Origin = Pick<CommonFacts, 'name' | 'version' | 'package' | 'aliases'>;

export async function originOf(at: Located): Promise<Origin> {
  const { name } = at.plugin;
  // An installed plugin goes by the name of its package alone: no other name leads to it without loading all of them.
  if (at.is === 'package')
    return { name, version: await versionOf(at.plugin), package: at.plugin.package, aliases: [] };
  const own = createRequire(import.meta.url)('syncx/package.json') as { readonly version: string };
  return { name, version: own.version, package: 'syncx', aliases: at.plugin.aliases };
}

/** @throws SyncError PLUGIN_BROKEN */
export async function loadDescribed(registry: Registry, at: Located, origin: Origin): Promise<readonly Described[]> {
  return describedOf(origin, await registry.definitions(at));
}

/** Nothing is taken for granted: a plugin may be plain JavaScript. */
function describedOf(origin: Origin, { reader, writer }: Definitions): readonly Described[] {
  const found: Described[] = [];
  if (reader) {
    const boundedness = boundednessOf(reader);
    const { replayable = null } = reader;
    const facts: ReaderFacts = { ...commonFacts(origin, reader), kind: 'reader', boundedness, replayable };
    found.push({ definition: reader, facts });
  }
  if (writer) {
    const delivery = Array.isArray(writer.delivery) ? (writer.delivery as readonly Delivery[]) : null;
    const facts: WriterFacts = { ...commonFacts(origin, writer), kind: 'writer', delivery };
    found.push({ definition: writer, facts });
  }
  return found;
}

function commonFacts<K extends 'reader' | 'writer'>(
  origin: Origin,
  definition: { readonly kind: K; readonly summary: unknown },
) {
  const { name, version, aliases, package: from } = origin;
  const summary = typeof definition.summary === 'string' ? definition.summary : '';
  return { name, kind: definition.kind, version, package: from, aliases, summary };
}

/** A function that takes no options gives the same answer for all of them. */
function boundednessOf(reader: AnyReaderDefinition): ReaderFacts['boundedness'] {
  if (typeof reader.boundedness !== 'function') return null;
  if (reader.boundedness.length > 0) return 'by-options';
  try {
    return reader.boundedness({});
  } catch (e) {
    throw new SyncError('PLUGIN_BROKEN', `boundedness of reader ${reader.name} threw: ${toSyncError(e).message}`);
  }
}
