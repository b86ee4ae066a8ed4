import { lstat, readlink, realpath, stat } from 'node:fs/promises';
import type { BigIntStats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SyncError } from 'syncx/plugin-api';

/** A file as it was when the job was planned: what reads it later must find it unchanged. */
export interface FileSpec {
  /** Absolute. */
  readonly path: string;
  readonly size: number;
  /** Nanoseconds since 1970: a text, as they are more than a double holds. */
  readonly mtimeNs: string;
  readonly ino: string;
}

/** What a path leads to. */
export type Found =
  /** `real`: the path without links, one for all the names that lead to a file through links. */
  | { readonly is: 'file'; readonly spec: FileSpec; readonly real: string }
  | { readonly is: 'folder' }
  /** Never opened: to open a named pipe is to wait for its writer. */
  | { readonly is: 'special'; readonly what: string }
  | { readonly is: 'dangling'; readonly to: string }
  | { readonly is: 'nothing' };

export function specOf(path: string, s: BigIntStats): FileSpec {
  return { path, size: Number(s.size), mtimeNs: s.mtimeNs.toString(), ino: s.ino.toString() };
}

const codeOf = (e: unknown): string | undefined => (e as NodeJS.ErrnoException).code;
export const isMissing = (e: unknown): boolean => codeOf(e) === 'ENOENT' || codeOf(e) === 'ENOTDIR';

export function lookError(e: unknown, path: string): SyncError {
  return new SyncError('SOURCE_IO', `cannot look at ${path}: ${String((e as Error).message)}`, {
    place: path,
    cause: e,
  });
}

/** A listing puts U+FFFD for the bytes of a name that are not UTF-8: no path leads there. */
export const isMangled = (path: string): boolean => path.includes('\ufffd');

export function mangledError(path: string): SyncError {
  return new SyncError('SOURCE_IO', `${path} has a name that is not UTF-8, and cannot be read by it`, {
    place: path,
    retry: 'never',
    hint: 'Rename it, or say in path or filterRegex which others to read; its rows would be missing.',
  });
}

function specialKind(s: BigIntStats): string {
  if (s.isFIFO()) return 'a named pipe';
  return s.isSocket() ? 'a socket' : 'a device';
}

/** Looks at paths. Folders are resolved once: a list of files mostly has few of them. */
export class Looker {
  readonly #folders = new Map<string, Promise<string>>();

  async look(path: string): Promise<Found> {
    try {
      let s = await lstat(path, { bigint: true });
      const link = s.isSymbolicLink();
      if (link) {
        try {
          s = await stat(path, { bigint: true });
        } catch (e) {
          if (isMissing(e)) return { is: 'dangling', to: await readlink(path) };
          throw e;
        }
      }
      if (s.isDirectory()) return { is: 'folder' };
      if (!s.isFile()) return { is: 'special', what: specialKind(s) };
      return { is: 'file', spec: specOf(path, s), real: await (link ? realpath(path) : this.#real(path)) };
    } catch (e) {
      if (isMissing(e)) return { is: 'nothing' };
      throw lookError(e, path);
    }
  }

  async #real(path: string): Promise<string> {
    const folder = dirname(path);
    let real = this.#folders.get(folder);
    if (real === undefined) this.#folders.set(folder, (real = realpath(folder)));
    return join(await real, basename(path));
  }
}
