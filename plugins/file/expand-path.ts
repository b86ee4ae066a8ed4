import type { Dirent, readdir as readdirWithCallback } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isMangled, isMissing, lookError, mangledError, type Found, type Looker } from './file-spec.js';

/** What one entry of `path` means: the file that it names, or all that stands in a folder or matches a pattern. */
export interface Expanded {
  readonly paths: readonly string[];
  /** The entry is the very name of the one path. */
  readonly named: boolean;
  /** Linked folders below `**` that were left out. */
  readonly notEntered: readonly string[];
}

const NOTHING: Expanded = { paths: [], named: false, notEntered: [] };

const PATTERN_CHARACTER = /[*?[\]{}()!+@]/;

/** Names that tools keep for themselves: staging folders, `_SUCCESS`. */
const isHidden = (name: string): boolean => name.startsWith('.') || name.startsWith('_');

/** Where `**`, or a group that spans folders, leads to any depth, a linked folder may lead back to one above it. */
const isDeep = (pattern: string): boolean => pattern.includes('**') || /[({][^)}]*\//.test(pattern);

interface Entry {
  readonly name: string;
  readonly folder: boolean;
}

/** Lists folders for the walk of a pattern. The walker's own listing leaves out, in silence, all but files and folders. */
class FolderLister {
  readonly notEntered: string[] = [];
  /** The walker swallows errors: a folder that cannot be read would be one without files. */
  failed: Error | null = null;
  readonly #follow: boolean;
  /** Linked folders that are not to be entered; whether the pattern leads there, the walker knows. */
  readonly #links = new Set<string>();

  constructor(follow: boolean) {
    this.#follow = follow;
  }

  async list(folder: string): Promise<readonly Entry[]> {
    if (this.#links.has(resolve(folder))) {
      this.notEntered.push(resolve(folder));
      return [];
    }
    try {
      const entries = await readdir(folder, { withFileTypes: true });
      return await Promise.all(entries.map((e) => this.#entry(folder, e)));
    } catch (e) {
      if (!isMissing(e)) this.failed ??= lookError(e, folder);
      else if (isMangled(folder)) this.failed ??= mangledError(resolve(folder));
      return [];
    }
  }

  async #entry(folder: string, e: Dirent): Promise<Entry> {
    if (!e.isSymbolicLink()) return { name: e.name, folder: e.isDirectory() };
    const path = resolve(folder, e.name);
    // Links that lead to nothing, or round in a circle, are told when the path is looked at.
    const toFolder = await stat(path).then(
      (s) => s.isDirectory(),
      () => false,
    );
    if (toFolder && !this.#follow) this.#links.add(path);
    return { name: e.name, folder: toFolder };
  }
}

/** The walk begins in the last folder that is spelled out: the walker would list the current one, too. */
function splitBase(pattern: string): { readonly cwd: string; readonly rest: string } {
  const parts = pattern.split('/');
  const at = parts.findIndex((p) => PATTERN_CHARACTER.test(p) || p.includes('\\'));
  const base = parts.slice(0, at).join('/');
  return { cwd: resolve(base === '' && at > 0 ? '/' : base), rest: parts.slice(at).join('/') };
}

async function match(pattern: string): Promise<Expanded> {
  if (!PATTERN_CHARACTER.test(pattern)) return NOTHING;
  const { glob, isDynamicPattern } = await import('tinyglobby'); // only where there is a pattern: it takes its time to load
  if (!isDynamicPattern(pattern)) return NOTHING;
  const lister = new FolderLister(!isDeep(pattern));
  const walkerList = (folder: string, _options: object, done: (e: Error | null, entries: object[]) => void): void => {
    void lister.list(folder).then((entries) => {
      done(
        null,
        entries.map((e) => ({
          name: e.name,
          isFile: () => !e.folder,
          isDirectory: () => e.folder,
          isSymbolicLink: () => false,
        })),
      );
    });
  };
  const { cwd, rest } = splitBase(pattern);
  const found = await glob(rest, {
    cwd,
    absolute: true,
    dot: false,
    expandDirectories: false,
    fs: { readdir: walkerList as unknown as typeof readdirWithCallback },
  });
  if (lister.failed) throw lister.failed;
  const hiddenWanted = isHidden(basename(pattern));
  const paths = found.map((p) => resolve(p)).filter((p) => hiddenWanted || !isHidden(basename(p)));
  return { paths, named: false, notEntered: lister.notEntered };
}

/** The folder in which an entry is looked for: itself, the one that it stands in, or the one that its pattern begins in. */
export async function baseOf(entry: string, looker: Looker): Promise<string | null> {
  const path = resolve(entry);
  const there = await looker.look(path);
  if (there.is === 'folder') return path;
  if (there.is !== 'nothing') return dirname(path);
  return PATTERN_CHARACTER.test(entry) ? splitBase(entry).cwd : null;
}

export async function expandPath(entry: string, looker: Looker): Promise<Expanded> {
  const path = resolve(entry);
  const there: Found = await looker.look(path);
  if (there.is === 'nothing') return match(entry);
  if (there.is !== 'folder') return { paths: [path], named: true, notEntered: [] }; // before globs: a name may hold brackets
  try {
    const names = await readdir(path);
    return { ...NOTHING, paths: names.filter((n) => !isHidden(n)).map((n) => join(path, n)) };
  } catch (e) {
    throw lookError(e, path);
  }
}
