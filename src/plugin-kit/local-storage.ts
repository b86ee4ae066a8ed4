import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, open, readdir, rename, rmdir, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  createExclusive,
  hasCode,
  makeDirDurable,
  publishNoReplace,
  readIfThere,
  sizeIfThere,
  syncDir,
  unlinkIfThere,
} from '../durable/files.js';
import { SyncError } from '../plugin-api/index.js';
import { notAFolder, sinkIo } from './sink-errors.js';
import type { StagedSink, StagingStorage } from './staging-storage.js';

/**
 * From so many bytes on the disk is set to work while more is made: at the end of an epoch, which waits for it, little is left
 * to make durable.
 */
const FLUSH_BYTES = 16 << 20;

class LocalSink implements StagedSink {
  readonly #path: string;
  #file: FileHandle | null;
  #at: number;
  /** Up to where the last early flush went. */
  #flushedTo: number;
  #flushing: Promise<void> | null = null;
  /** Of an early flush: a system tells of lost bytes once only, so the next sync must. */
  #lost: unknown = null;

  constructor(path: string, file: FileHandle, at = 0) {
    this.#path = path;
    this.#file = file;
    this.#at = at;
    this.#flushedTo = at;
  }

  write(bytes: Uint8Array): Promise<void> {
    return sinkIo(this.#path, async () => {
      // A write may be short (a nearly full disk, a signal): the rest is tried until the system says why.
      for (let at = 0; at < bytes.length;) {
        const r = await this.#open().write(bytes, at, bytes.length - at, this.#at);
        at += r.bytesWritten;
        this.#at += r.bytesWritten;
      }
      if (this.#flushing === null && this.#at - this.#flushedTo >= FLUSH_BYTES) this.#flush();
    });
  }

  #flush(): void {
    this.#flushedTo = this.#at;
    this.#flushing = this.#open()
      .datasync()
      .catch((e: unknown) => {
        this.#lost ??= e;
      })
      .finally(() => {
        this.#flushing = null;
      });
  }

  sync(): Promise<void> {
    return sinkIo(this.#path, async () => {
      await this.#flushing;
      if (this.#lost !== null) throw this.#lost as Error;
      await this.#open().sync();
    });
  }

  async finish(): Promise<void> {
    await this.sync();
    await this.discard();
  }

  async discard(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await this.#flushing;
    if (file !== null) await sinkIo(this.#path, () => file.close());
  }

  #open(): FileHandle {
    if (this.#file === null) throw new SyncError('INTERNAL', `${this.#path} is closed already`);
    return this.#file;
  }
}

/** One level only: a folder above that is gone must not get another one in its place. */
async function makeOneFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (e) {
    if (!hasCode(e, 'EEXIST')) throw e; // another lane may have been quicker
    if (!(await stat(folder)).isDirectory()) throw notAFolder(folder, e);
  }
  await syncDir(dirname(folder));
}

async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o666);
  } catch (e) {
    if (!hasCode(e, 'ENOENT')) throw e;
    await makeOneFolder(dirname(path));
    return open(path, 'wx', 0o666);
  }
}

async function copyHead(from: string, path: string, size: number): Promise<StagedSink | number | null> {
  const there = await sizeIfThere(from);
  if (there === null || there < size) return there;
  await copyFile(from, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const file = await open(path, 'r+');
  try {
    // It may have been cut while it was copied.
    const copied = (await file.stat()).size;
    if (copied < size) {
      await file.close();
      await unlinkIfThere(path);
      return copied;
    }
    await file.truncate(size);
    await file.sync();
    return new LocalSink(path, file, size);
  } catch (e) {
    await file.close().catch(() => undefined); // the first error is the one to tell
    throw e;
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
  continueFrom: (from, path, size) => sinkIo(path, () => copyHead(from, path, size)),
  rename: (from, to) => sinkIo(to, () => rename(from, to)),
  makeSubfolder: (path) => sinkIo(path, () => makeOneFolder(path)),
  size: (path) => sinkIo(path, () => sizeIfThere(path)),
  fileId: (path) =>
    sinkIo(path, async () => {
      try {
        const s = await lstat(path, { bigint: true });
        return s.isFile() ? [s.ino, s.size, s.mtimeNs].join(':') : null;
      } catch (e) {
        if (hasCode(e, 'ENOENT', 'ENOTDIR')) return null;
        throw e;
      }
    }),
  putWhole: (folder, name, data, unique) =>
    sinkIo(join(folder, name), () => createExclusive(folder, name, data, unique)),
  read: (path) => sinkIo(path, () => readIfThere(path)),
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
