import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { SyncError, type Logger } from 'syncx/plugin-api';
import { baseOf, expandPath } from './expand-path.js';
import { Looker, isMangled, isMissing, lookError, mangledError, type FileSpec, type Found } from './file-spec.js';

export const STDIN = '-';

export function pathList(path: string | readonly string[]): readonly string[] {
  const list = typeof path === 'string' ? path.split(',') : path;
  return list.map((p) => p.trim()).filter((p) => p !== '');
}

/** Folders may hold very many files: asked about together, but not all at once. */
const LOOKS_AT_ONCE = 64;
/** Paths that a warning names. */
const NAMED = 5;

const missing = (entry: string, why: string): SyncError =>
  new SyncError('SOURCE_MISSING', `${why}: ${entry}`, {
    place: entry,
    hint: 'Check the path; relative ones start at the folder the job was started in.',
  });

function specialError(path: string, what: string): SyncError {
  const pipe = what === 'a named pipe';
  return new SyncError('SOURCE_IO', `${path} is ${what}, not a file`, {
    place: path,
    retry: 'never',
    hint: pipe ? 'Set path to - and connect it to standard input: sync run … < pipe.' : 'Name regular files.',
  });
}

const danglingError = (path: string, to: string): SyncError =>
  new SyncError('SOURCE_IO', `${path} is a link to ${to}, which does not exist`, {
    place: path,
    retry: 'never',
    hint: 'Mend or remove the link; the rows behind it would be missing.',
  });

/** Null: there is no such folder. @throws SyncError SOURCE_IO */
export async function folderInode(path: string): Promise<string | null> {
  try {
    const s = await stat(path, { bigint: true });
    return s.isDirectory() ? s.ino.toString() : null;
  } catch (e) {
    if (isMissing(e)) return null;
    throw lookError(e, path);
  }
}

/**
 * The folders that the entries are looked for in, with their inodes.
 * @throws SyncError SOURCE_MISSING
 */
export async function baseFolders(entries: readonly string[]): Promise<readonly (readonly [string, string])[]> {
  const looker = new Looker();
  const bases = new Map<string, string>();
  for (const entry of entries) {
    const base = await baseOf(entry, looker);
    const ino = base === null ? null : await folderInode(base);
    if (base === null || ino === null) throw missing(entry, 'no such file or folder');
    bases.set(base, ino);
  }
  return [...bases];
}

/** The files found so far, and what was left out, which the log tells. */
class FileCollection {
  readonly #byReal = new Map<string, FileSpec>();
  readonly #doubles: string[] = [];
  readonly #special: string[] = [];
  readonly #notEntered = new Set<string>();

  get files(): readonly FileSpec[] {
    return [...this.#byReal.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** @returns whether it is a file. */
  add(path: string, found: Found, named: boolean): boolean {
    if (found.is === 'dangling') throw danglingError(path, found.to);
    if (found.is === 'nothing' && isMangled(path)) throw mangledError(path);
    if (found.is === 'special') {
      if (named) throw specialError(path, found.what);
      this.#special.push(`${path} (${found.what})`);
    }
    if (found.is !== 'file') return false;
    const { spec, real } = found;
    const before = this.#byReal.get(real);
    // Of several names the file's own one stays, else the first: a plan must not depend on the order of the listing.
    const better = before === undefined || spec.path === real || (before.path !== real && spec.path < before.path);
    const [kept, left] = better ? [spec, before] : [before, spec];
    this.#byReal.set(real, kept);
    if (left !== undefined && left.path !== kept.path) this.#doubles.push(`${left.path} (is ${kept.path})`);
    return true;
  }

  notEntered(folders: readonly string[]): void {
    for (const f of folders) this.#notEntered.add(f);
  }

  tell(log: Logger): void {
    this.#warn(log, 'files that are read under another name were left out', this.#doubles);
    this.#warn(log, 'what is no regular file was left out', this.#special);
    this.#warn(log, 'linked folders below ** were not entered; name one in path to read it', [...this.#notEntered]);
  }

  #warn(log: Logger, what: string, paths: readonly string[]): void {
    if (paths.length === 0) return;
    const some = [...new Set(paths)].sort();
    const more = some.length > NAMED ? `, and ${String(some.length - NAMED)} more` : '';
    log.warn({ left: some.length }, `${what}: ${some.slice(0, NAMED).join(', ')}${more}`);
  }
}

/**
 * The files to read, sorted by path, none twice: links are followed to tell.
 * @throws SyncError SOURCE_MISSING where an entry means no file and `mayLack` is false; SOURCE_IO where one is no file,
 * or leads to none.
 */
export async function listFiles(
  entries: readonly string[],
  filter: RegExp | null,
  log: Logger,
  mayLack = false,
): Promise<readonly FileSpec[]> {
  const looker = new Looker();
  const files = new FileCollection();
  for (const entry of entries) {
    let found = 0;
    let matched = 0;
    const { paths, named, notEntered } = await expandPath(entry, looker);
    files.notEntered(notEntered);
    for (let at = 0; at < paths.length; at += LOOKS_AT_ONCE) {
      const some = paths.slice(at, at + LOOKS_AT_ONCE);
      const looks = await Promise.all(some.map((path) => looker.look(path)));
      looks.forEach((look, i) => {
        const path = some[i] ?? '';
        const passes = !filter || filter.test(basename(path));
        if (look.is === 'file') found++;
        if (passes && files.add(path, look, named)) matched++;
      });
    }
    if (mayLack) continue;
    if (found === 0) throw missing(entry, 'no file matches');
    if (matched === 0) throw missing(entry, `none of ${String(found)} files passes filterRegex`);
  }
  files.tell(log);
  return files.files;
}
