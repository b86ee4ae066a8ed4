import { createRequire } from 'node:module';
import type * as zstd from '@mongodb-js/zstd';
import type * as crc32 from '@node-rs/crc32';
import type * as snappy from 'snappy';

/** What codecs are made of. All are native, with prebuilt binaries as optional dependencies. */
interface Modules {
  readonly '@mongodb-js/zstd': Pick<typeof zstd, 'compress' | 'decompress'>;
  readonly '@node-rs/crc32': Pick<typeof crc32, 'crc32c'>;
  readonly snappy: Pick<typeof snappy, 'compressSync' | 'uncompressSync'>;
}

/** A package has no binary for this machine, or was not installed. */
export class MissingModule extends Error {
  readonly module: string;

  constructor(module: string, cause: unknown) {
    super(`the package ${module} cannot be loaded`, { cause });
    this.module = module;
  }
}

const load = createRequire(import.meta.url);
const loaded = new Map<keyof Modules, unknown>();

/**
 * Loaded by the first batch that needs it, in the midst of reading: hence not by import(), which would make every step
 * of the reader asynchronous.
 * @throws MissingModule
 */
export function codecModule<K extends keyof Modules>(name: K): Modules[K] {
  let module = loaded.get(name);
  if (module === undefined) {
    try {
      module = load(name);
    } catch (e) {
      throw new MissingModule(name, e);
    }
    loaded.set(name, module);
  }
  return module as Modules[K];
}

/** Null: it cannot be loaded. */
export function optionalModule<K extends keyof Modules>(name: K): Modules[K] | null {
  try {
    return codecModule(name);
  } catch {
    return null;
  }
}
