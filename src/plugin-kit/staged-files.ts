import { SyncError, type JsonObject, type JsonValue } from '../plugin-api/index.js';
import type { StagingStorage } from './staging-storage.js';

export interface StagedTarget {
  readonly storage: StagingStorage;
  /** Folder of the published files. */
  readonly folder: string;
  readonly prefix: string;
  readonly suffix: string;
  /** True: files are published into folders below `folder`, one level deep. */
  readonly buckets?: boolean;
  readonly failpoint: (step: string) => void;
}

/** The `data` of a committable, as checkpoints keep it. */
export interface StagedFile {
  readonly format: 1;
  readonly staged: string;
  readonly target: string;
  /** Bytes of the staged file. */
  readonly size: number;
}

/** @throws SyncError STATE_CORRUPT where it is not of {@link StagedFile}'s form. */
export function stagedFileOf(data: JsonValue): StagedFile {
  const d = (typeof data === 'object' && data !== null ? data : {}) as JsonObject;
  const { format, staged, target, size } = d;
  const ok = format === 1 && typeof staged === 'string' && typeof target === 'string' && typeof size === 'number';
  if (!ok) {
    throw new SyncError('STATE_CORRUPT', `a committable of the checkpoint is not a staged file of format 1`, {
      hint: 'It was written by another version; go on with that version.',
    });
  }
  return { format: 1, staged, target, size };
}

/**
 * Makes prepared files visible, all of them durably before the first staged name goes. Idempotent.
 * @throws SyncError SINK_CONFLICT where a file is in neither place or its name is taken.
 */
export async function publishStaged(target: StagedTarget, files: readonly StagedFile[]): Promise<void> {
  const { storage, failpoint } = target;
  const folders = new Set<string>();
  for (const folder of new Set(files.map((f) => storage.folderOf(f.target)))) {
    if (folder !== target.folder) await storage.makeSubfolder(folder);
  }
  for (const f of files) {
    if (folders.size > 0) failpoint('file.commit.next');
    // Somebody may have cut or replaced it since it was made durable.
    const staged = await storage.size(f.staged);
    if (staged !== null && staged !== f.size) throw conflict(f, 'changed');
    const r = await storage.publish(f.staged, f.target, f.size);
    if (r === 'missing' || r === 'conflict') throw conflict(f, r);
    folders.add(storage.folderOf(f.target));
  }
  for (const folder of folders) await storage.syncFolder(folder);
  for (const f of files) {
    failpoint('file.commit.between');
    await storage.remove(f.staged);
  }
}

function conflict(f: StagedFile, r: 'missing' | 'conflict' | 'changed'): SyncError {
  return new SyncError(
    'SINK_CONFLICT',
    r === 'changed'
      ? `the prepared file ${f.staged} no longer has its ${String(f.size)} bytes`
      : r === 'missing'
        ? `the prepared file ${f.staged} is gone and ${f.target} is not there`
        : `${f.target} is there already and is not the prepared file`,
    { place: f.target, hint: 'Something else works in this folder. Look at both names before running the job again.' },
  );
}
