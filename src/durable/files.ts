/**
 * File operations that survive a crash at any point, on POSIX file systems: what they return from is on disk, and what a
 * reader finds under a final name is whole.
 */
import { constants } from 'node:fs';
import { link, mkdir, open, readFile, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export function hasCode(e: unknown, ...codes: readonly string[]): boolean {
  return e instanceof Error && codes.includes((e as NodeJS.ErrnoException).code ?? '');
}

/** Makes the names in a folder durable. */
export async function syncDir(path: string): Promise<void> {
  const dir = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await dir.sync();
  } finally {
    await dir.close();
  }
}

/**
 * mkdir -p whose new names are durable. Not by mkdir's own `recursive`: below a folder that takes no new names and says
 * ENOENT (as /proc does) that one tries for ever.
 */
export async function makeDirDurable(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (e) {
    if (hasCode(e, 'EEXIST')) {
      if ((await stat(path)).isDirectory()) return;
      throw e;
    }
    const parent = dirname(path);
    if (!hasCode(e, 'ENOENT') || parent === path) throw e;
    await makeDirDurable(parent);
    try {
      await mkdir(path);
    } catch (again) {
      if (!hasCode(again, 'EEXIST')) throw again; // another process may have been quicker
    }
  }
  await syncDir(dirname(path));
}

async function writeTemp(path: string, data: string | Uint8Array): Promise<void> {
  const file = await open(path, 'w');
  try {
    await file.writeFile(data);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Creates `dir/name` with this content, whole or not at all, and never replaces.
 * `unique` makes the temporary name this process's own. `beforeLink` is where crash tests stop.
 * @returns false if the name exists already.
 */
export async function createExclusive(
  dir: string,
  name: string,
  data: string | Uint8Array,
  unique: string,
  beforeLink?: () => void,
): Promise<boolean> {
  const temp = join(dir, `.${name}.${unique}.tmp`);
  const target = join(dir, name);
  try {
    await writeTemp(temp, data);
    beforeLink?.();
    await link(temp, target);
  } catch (e) {
    await unlinkIfThere(temp).catch(() => false); // the first error is the one to tell
    if (hasCode(e, 'EEXIST')) return false;
    throw e;
  }
  await unlink(temp);
  await syncDir(dir);
  return true;
}

/** @returns false where it was not there. */
export async function unlinkIfThere(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (e) {
    if (hasCode(e, 'ENOENT')) return false;
    throw e;
  }
}

/** @returns null where it is not there. */
export async function sizeIfThere(path: string): Promise<number | null> {
  try {
    const s = await stat(path);
    return s.isFile() ? s.size : -1;
  } catch (e) {
    if (hasCode(e, 'ENOENT', 'ENOTDIR')) return null;
    throw e;
  }
}

/** @returns null where it is not there. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (e) {
    if (hasCode(e, 'ENOENT', 'ENOTDIR')) return null;
    throw e;
  }
}

export type PublishResult = 'published' | 'already' | 'missing' | 'conflict';

/**
 * Gives a durable staged file its final name too, without ever replacing anything. Idempotent. `size` is the staged
 * file's recorded length in bytes.
 *
 * The staged name stays: it may go only after the target's folder is synced ({@link syncDir}), or a power cut could
 * keep the removal and lose the link.
 *
 * `already`: the target is there with that size. `missing`: neither is there. `conflict`: the target is something else,
 * or the staged file is not what was made durable.
 */
export async function publishNoReplace(staged: string, target: string, size: number): Promise<PublishResult> {
  const prepared = await sizeIfThere(staged);
  if (prepared !== null && prepared !== size) return 'conflict';
  try {
    await link(staged, target);
    return 'published';
  } catch (e) {
    if (!hasCode(e, 'EEXIST', 'ENOENT')) throw e;
    const there = await sizeIfThere(target);
    if (there === null) return 'missing';
    return there === size ? 'already' : 'conflict';
  }
}
