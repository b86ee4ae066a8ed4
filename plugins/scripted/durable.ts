import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export function hasCode(e: unknown, code: string): boolean {
  return e instanceof Error && (e as NodeJS.ErrnoException).code === code;
}

export async function syncDir(path: string): Promise<void> {
  const dir = await open(path, 'r');
  try {
    await dir.sync();
  } finally {
    await dir.close();
  }
}

/** mkdir -p with durable names. */
export async function makeDir(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let p = path; ; p = dirname(p)) {
    await syncDir(dirname(p));
    if (p === first) return;
  }
}

/** Creates `dir/name` whole and durable or not at all. @returns false where the name exists. */
export async function createExclusive(dir: string, name: string, text: string): Promise<boolean> {
  const temp = join(dir, `.${name}.${randomUUID()}.tmp`);
  const file = await open(temp, 'wx');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(temp, join(dir, name));
  } catch (e) {
    if (hasCode(e, 'EEXIST')) return false;
    throw e;
  } finally {
    await unlink(temp);
  }
  await syncDir(dir);
  return true;
}

/** Names in a folder, sorted, without temporary ones; none where the folder is missing. */
export async function listNames(dir: string): Promise<readonly string[]> {
  try {
    return (await readdir(dir)).filter((n) => !n.startsWith('.')).sort();
  } catch (e) {
    if (hasCode(e, 'ENOENT')) return [];
    throw e;
  }
}

export async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'));
}

export async function removeIfThere(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (e) {
    if (hasCode(e, 'ENOENT')) return false;
    throw e;
  }
}

/**
 * True the first `times` times that it is asked for this name, over all processes that share the folder: each yes is a
 * file that only one of them can create.
 */
export async function fewTimes(dir: string, name: string, times: number): Promise<boolean> {
  await makeDir(dir);
  for (let i = 1; i <= times; i++) {
    if (await createExclusive(dir, `${name}.${String(i)}`, '')) return true;
  }
  return false;
}
