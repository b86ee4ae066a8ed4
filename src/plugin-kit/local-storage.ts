import { mkdir, open, readdir, rmdir, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode, makeDirDurable, publishNoReplace, sizeIfThere, syncDir, unlinkIfThere } from '../durable/files.js';
import { SyncError } from '../plugin-api/index.js';
import { notAFolder, sinkIo } from './sink-errors.js';
import type { StagedSink, StagingStorage } from './staging-storage.js';

class LocalSink implements StagedSink {
  readonly #path: string;
  #file: FileHandle | null;

  constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  write(bytes: Uint8Array): Promise<void> {
    return sinkIo(this.#path, async () => {
      // A write may be short (a nearly full disk, a signal): the rest is tried until the system says why.
      for (let at = 0; at < bytes.length;) {
        const r = await this.#open().write(bytes, at, bytes.length - at);
        at += r.bytesWritten;
      }
    });
  }

  async finish(): Promise<void> {
    await sinkIo(this.#path, () => this.#open().sync());
    await this.discard();
  }

  async discard(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    if (file !== null) await sinkIo(this.#path, () => file.close());
  }

  #open(): FileHandle {
    if (this.#file === null) throw new SyncError('INTERNAL', `${this.#path} is closed already`);
    return this.#file;
  }
}

/** The folder of a staged file may have to be made, that above it never: it would stand in for one that was removed. */
async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o666);
  } catch (e) {
    if (!hasCode(e, 'ENOENT')) throw e;
    const folder = dirname(path);
    try {
      await mkdir(folder);
    } catch (again) {
      if (!hasCode(again, 'EEXIST')) throw again; // another lane may have been quicker
    }
    await syncDir(dirname(folder));
    return open(path, 'wx', 0o666);
  }
}

/** A POSIX file system with hard links. */
export const localStorage: StagingStorage = {
  join,
  folderOf: dirname,
  makeFolder: (path) =>
    sinkIo(path, async () => {
      try {
        await makeDirDurable(path);
      } catch (e) {
        throw hasCode(e, 'EEXIST') ? notAFolder(path, e) : e;
      }
    }),
  identity: (path) =>
    sinkIo(path, async () => {
      try {
        const s = await stat(path, { bigint: true });
        if (!s.isDirectory()) throw notAFolder(path);
        return `${String(s.dev)}:${String(s.ino)}`;
      } catch (e) {
        if (hasCode(e, 'ENOENT')) return null;
        throw e;
      }
    }),
  syncFolder: (path) => sinkIo(path, () => syncDir(path)),
  create: (path) => sinkIo(path, async () => new LocalSink(path, await openNew(path))),
  size: (path) => sinkIo(path, () => sizeIfThere(path)),
  publish: (staged, target, size) => sinkIo(target, () => publishNoReplace(staged, target, size)),
  remove: (path) => sinkIo(path, () => unlinkIfThere(path)),
  removeEmptyFolder: (path) =>
    sinkIo(path, async () => {
      try {
        await rmdir(path);
        return true;
      } catch (e) {
        if (hasCode(e, 'ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')) return false;
        throw e;
      }
    }),
  list: (path) =>
    sinkIo(
      path,
      async () => {
        try {
          return await readdir(path);
        } catch (e) {
          if (hasCode(e, 'ENOENT', 'ENOTDIR')) return null;
          throw e;
        }
      },
      'list',
    ),
};
