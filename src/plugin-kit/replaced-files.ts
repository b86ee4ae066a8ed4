import { SyncError, type JsonObject } from '../plugin-api/index.js';
import type { StagedTarget } from './staged-files.js';
import { epochOfName, stagingFolderName } from './staged-names.js';

/** In the staging folder of the run; its ending keeps it from sweeps. */
const LIST = 'replaced.keep';

export interface DataFile {
  readonly path: string;
  /** See `StagingStorage.fileId`. */
  readonly id: string;
}

/** Hidden files and those that begin with `_` (markers, other tools' folders) are no data. */
const isData = (name: string): boolean => !/^[._]/.test(name);
/** Of folders, those for NULL and the empty text begin with `_` too. */
const isBucket = (name: string): boolean => isData(name) || /^__(?:NULL|EMPTY)__$/.test(name);

/**
 * The regular files in the target folder, and in its buckets where it has some; none of the run's own.
 * `only`: those whose name begins so; null: all.
 */
export async function dataFiles(
  target: StagedTarget,
  runId: string,
  only: string | null = null,
): Promise<readonly DataFile[]> {
  const { storage } = target;
  const found: DataFile[] = [];
  const look = async (folder: string, deep: boolean): Promise<void> => {
    for (const name of [...((await storage.list(folder)) ?? [])].sort()) {
      const path = storage.join(folder, name);
      const wanted = isData(name) && (only === null || name.startsWith(only));
      const id = wanted && epochOfName(name, runId) === null ? await storage.fileId(path) : null;
      if (id !== null) found.push({ path, id });
      else if (deep && isBucket(name)) await look(path, false);
    }
  };
  await look(target.folder, target.buckets === true);
  return found;
}

/**
 * Notes durably which files the run is to replace. The first list of a run holds: what comes later is not its to remove.
 * `attempt` makes the temporary name this start's own.
 */
export async function listReplaced(
  target: StagedTarget,
  runId: string,
  attempt: number,
  only: string | null = null,
): Promise<void> {
  const { storage, failpoint } = target;
  const folder = storage.join(target.folder, stagingFolderName(runId));
  const files = await dataFiles(target, runId, only);
  failpoint('file.list');
  await storage.makeSubfolder(folder);
  await storage.putWhole(folder, LIST, JSON.stringify({ format: 1, files }), String(attempt));
}

export interface Replaced {
  /** False: there is no list, as the files were removed before or somebody took it away. */
  readonly listed: boolean;
  /** Files that are not as they were listed: another one stands there, or it was written to. They stay. */
  readonly changed: readonly string[];
}

/** Removes the listed files. May be cut off anywhere and done again. */
export async function removeReplaced(target: StagedTarget, runId: string): Promise<Replaced> {
  const { storage, failpoint } = target;
  const folder = storage.join(target.folder, stagingFolderName(runId));
  const path = storage.join(folder, LIST);
  const text = await storage.read(path);
  if (text === null) return { listed: false, changed: [] };
  const changed: string[] = [];
  const folders = new Set<string>();
  for (const f of filesOf(text, path)) {
    const id = await storage.fileId(f.path);
    if (id === null) continue;
    if (id !== f.id) {
      changed.push(f.path);
      continue;
    }
    await storage.remove(f.path);
    folders.add(storage.folderOf(f.path));
    failpoint('file.replace');
  }
  for (const f of folders) await storage.syncFolder(f);
  return { listed: true, changed };
}

function filesOf(text: string, place: string): readonly DataFile[] {
  let list: JsonObject | null = null;
  try {
    list = JSON.parse(text) as JsonObject | null;
  } catch {
    // told below
  }
  if (list?.['format'] !== 1 || !Array.isArray(list['files'])) {
    throw new SyncError('STATE_CORRUPT', `the list of files to replace, ${place}, is damaged`, {
      place,
      hint: 'All rows are published. Remove the files that the run was to replace yourself, then this list.',
    });
  }
  return list['files'];
}
