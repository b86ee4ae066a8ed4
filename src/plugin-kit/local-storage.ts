import { open, readdir, rmdir, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode, makeDirDurable, publishNoReplace, sizeIfThere, syncDir, unlinkIfThere } from '../durable/files.js';
import { SyncError, toSyncError } from '../plugin-api/index.js';
import type { StagedSink, StagingStorage } from './staging-storage.js';

/** The file system's word as a coded error that names the path; a full disk is told apart by its code. */
export function sinkError(e: unknown, path: string): SyncError {
  const s = toSyncError(e, 'SINK_IO');
  if (s.place !== undefined) return s;
  return new SyncError(s.code, `cannot write ${path}: ${s.message}`, {
    place: path,
    cause: e,
    ...(s.hint === undefined ? {} : { hint: s.hint }),
  });
}

class LocalSink implements StagedSink {
  readonly #path: string;
  #file: FileHandle | null;

  constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      // A write may be short (a nearly full disk, a signal): the rest is tried until the system says why.
      for (let at = 0; at < bytes.length;) {
        const r = await this.#open().write(bytes, at, bytes.length - at);
        at += r.bytesWritten;
      }
    } catch (e) {
      throw sinkError(e, this.#path);
    }
  }

  async finish(): Promise<void> {
    try {
      await this.#open().sync();
    } catch (e) {
      throw sinkError(e, this.#path);
    }
    await this.discard();
  }

  async discard(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }

  #open(): FileHandle {
    if (this.#file === null) throw new SyncError('INTERNAL', `${this.#path} is closed already`);
    return this.#file;
  }
}

async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o666);
  } catch (e) {
    if (!hasCode(e, 'ENOENT')) throw e;
    await makeDirDurable(dirname(path));
    return open(path, 'wx', 0o666);
  }
}

/** A POSIX file system with hard links. */
export const localStorage: StagingStorage = {
  join,
  folderOf: dirname,
  makeFolder: makeDirDurable,
  syncFolder: syncDir,
  create: async (path) => {
    try {
      return new LocalSink(path, await openNew(path));
    } catch (e) {
      throw sinkError(e, path);
    }
  },
  size: sizeIfThere,
  publish: publishNoReplace,
  remove: unlinkIfThere,
  removeEmptyFolder: async (path) => {
    try {
      await rmdir(path);
      return true;
    } catch (e) {
      if (hasCode(e, 'ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')) return false;
      throw e;
    }
  },
  list: async (path) => {
    try {
      return await readdir(path);
    } catch (e) {
      if (hasCode(e, 'ENOENT', 'ENOTDIR')) return null;
      throw e;
    }
  },
};
