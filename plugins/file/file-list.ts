import { readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { SyncError } from 'syncx/plugin-api';

/** A file as it was when the job was planned: what reads it later must find it unchanged. */
export interface FileSpec {
  /** Absolute. */
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ino: number;
}

export const STDIN = '-';

export function pathList(path: string | readonly string[]): readonly string[] {
  const list = typeof path === 'string' ? path.split(',') : path;
  return list.map((p) => p.trim()).filter((p) => p !== '');
}

/** Folders may hold very many files: asked about together, but not all at once. */
const STATS_AT_ONCE = 64;

/** Names that tools keep for themselves: staging folders, `_SUCCESS`. */
const isHidden = (name: string): boolean => name.startsWith('.') || name.startsWith('_');

async function specOf(path: string): Promise<FileSpec | 'folder' | 'other' | null> {
  try {
    const s = await stat(path);
    if (s.isDirectory()) return 'folder';
    return s.isFile() ? { path, size: s.size, mtimeMs: s.mtimeMs, ino: s.ino } : 'other';
  } catch (e) {
    const code = (e as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new SyncError('SOURCE_IO', `cannot look at ${path}: ${String((e as Error).message)}`, {
      place: path,
      cause: e,
    });
  }
}

/** Paths of the files that one entry of `path` means. */
async function expand(entry: string): Promise<readonly string[]> {
  const path = resolve(entry);
  const there = await specOf(path);
  if (there === 'folder') return (await readdir(path)).filter((n) => !isHidden(n)).map((n) => join(path, n));
  if (there !== null) return [path]; // before globs: a name may well hold brackets
  if (!/[*?[\]{}()!+@]/.test(entry)) return [];
  const { glob, isDynamicPattern } = await import('tinyglobby'); // only where there is a pattern: it takes its time to load
  if (!isDynamicPattern(entry)) return [];
  const found = await glob(entry, { absolute: true, dot: false, expandDirectories: false });
  const hiddenWanted = isHidden(basename(entry));
  return found.map((p) => resolve(p)).filter((p) => hiddenWanted || !isHidden(basename(p)));
}

const missing = (entry: string, why: string): SyncError =>
  new SyncError('SOURCE_MISSING', `${why}: ${entry}`, {
    place: entry,
    hint: 'Check the path; relative ones start at the folder the job was started in.',
  });

/**
 * The files to read, sorted by path, none twice.
 * @throws SyncError SOURCE_MISSING where an entry means no file.
 */
export async function listFiles(entries: readonly string[], filter: RegExp | null): Promise<readonly FileSpec[]> {
  const files = new Map<string, FileSpec>();
  for (const entry of entries) {
    let found = 0;
    let matched = 0;
    const paths = await expand(entry);
    for (let at = 0; at < paths.length; at += STATS_AT_ONCE) {
      const some = paths.slice(at, at + STATS_AT_ONCE);
      const specs = await Promise.all(some.map((path) => specOf(path)));
      specs.forEach((spec, i) => {
        const path = some[i] ?? '';
        if (spec === 'other') throw missing(path, 'not a regular file (use - to read from a pipe)');
        if (spec === null || spec === 'folder') return;
        found++;
        if (filter && !filter.test(basename(path))) return;
        matched++;
        files.set(path, spec);
      });
    }
    if (found === 0) throw missing(entry, 'no file matches');
    if (matched === 0) throw missing(entry, `none of ${String(found)} files passes filterRegex`);
  }
  return [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}
