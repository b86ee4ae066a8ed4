import { open, stat, type FileHandle } from 'node:fs/promises';
import type { BigIntStats } from 'node:fs';
import { SyncError, toSyncError } from 'syncx/plugin-api';
import { isMissing, specOf, type FileSpec } from './file-spec.js';

export const CHUNK_BYTES = 1 << 20;

/** The bytes of one split, after decompression. A chunk is valid until the next `read`. */
export interface ByteSource {
  /** Null: the end. */
  read(): Promise<Uint8Array | null>;
  /** Goes on at this offset (after decompression), up to `end` if given. Null: cannot jump; read and drop instead. */
  readonly seek: ((offset: number, end?: number) => Promise<void>) | null;
  /** Bytes taken from the source so far (before decompression). */
  readonly consumed: number;
  close(): Promise<void>;
}

export function sourceError(e: unknown, path: string): SyncError {
  const s = toSyncError(e, 'SOURCE_IO');
  if (s.place !== undefined) return s;
  const code = (e as NodeJS.ErrnoException).code;
  const why = code === 'EBADF' ? 'it is closed, or not open for reading (EBADF)' : s.message;
  return new SyncError(code === 'ENOENT' ? 'SOURCE_MISSING' : 'SOURCE_IO', `cannot read ${path}: ${why}`, {
    place: path,
    cause: e,
  });
}

function changed(spec: FileSpec, what: string): SyncError {
  return new SyncError('SOURCE_CHANGED', `${spec.path} ${what} since the job planned to read it`, {
    place: spec.path,
    hint: 'Read only files that nobody writes to any more. To read what is there now from the start, run with --fresh.',
  });
}

function checkPlanned(s: BigIntStats, spec: FileSpec): void {
  const now = specOf(spec.path, s);
  if (now.ino !== spec.ino) throw changed(spec, 'was replaced by another file');
  if (now.size !== spec.size) throw changed(spec, `has ${String(now.size)} bytes, not ${String(spec.size)}`);
  if (now.mtimeNs !== spec.mtimeNs) throw changed(spec, 'was written to');
}

/** A planned file, open. */
export interface OpenFile {
  readonly handle: FileHandle;
  /**
   * Asks the path, not the handle: that one stays with the old file where another was renamed into its place.
   * @throws SyncError SOURCE_CHANGED where the file is not the one that was planned, or gone.
   */
  checkUnchanged(): Promise<void>;
}

export async function openPlanned(spec: FileSpec): Promise<OpenFile> {
  let handle: FileHandle;
  try {
    handle = await open(spec.path, 'r');
  } catch (e) {
    throw sourceError(e, spec.path);
  }
  try {
    const opened = await handle.stat({ bigint: true });
    checkPlanned(opened, spec);
    const checkUnchanged = async (): Promise<void> => {
      let now: BigIntStats;
      try {
        now = await stat(spec.path, { bigint: true });
      } catch (e) {
        throw isMissing(e) ? changed(spec, 'was removed') : sourceError(e, spec.path);
      }
      // No plan keeps the device: its number may be another one after the machine was started anew.
      if (now.dev !== opened.dev) throw changed(spec, 'was replaced by another file');
      checkPlanned(now, spec);
    };
    return { handle, checkUnchanged };
  } catch (e) {
    await handle.close();
    throw sourceError(e, spec.path);
  }
}

/** A file read in chunks, with the next one under way while the caller works on the last. */
export class PlainSource implements ByteSource {
  readonly #spec: FileSpec;
  readonly #file: OpenFile;
  /** Two buffers: one is the caller's, one is being filled. */
  #mine: Buffer;
  #theirs: Buffer;
  /** Offset of the next read that will be started. */
  #next = 0;
  #end: number;
  #ahead: Promise<number> | null = null;
  #handed = 0;

  constructor(spec: FileSpec, file: OpenFile, chunkBytes: number = CHUNK_BYTES) {
    this.#spec = spec;
    this.#file = file;
    this.#end = spec.size;
    const size = Math.max(1, Math.min(chunkBytes, spec.size));
    this.#mine = Buffer.allocUnsafeSlow(size);
    this.#theirs = Buffer.allocUnsafeSlow(spec.size > size ? size : 1);
  }

  get consumed(): number {
    return this.#handed;
  }

  #start(): Promise<number> {
    const length = Math.min(this.#mine.length, this.#end - this.#next);
    const p = this.#file.handle.read(this.#mine, 0, length, this.#next).then((r) => r.bytesRead);
    // Its error is told when the chunk is asked for; until then it is no unhandled rejection.
    p.catch(() => 0);
    return p;
  }

  async read(): Promise<Uint8Array | null> {
    if (this.#next >= this.#end) return null;
    try {
      const n = await (this.#ahead ?? this.#start());
      this.#ahead = null;
      // Cut short: the check says how the file has changed.
      if (n === 0) await this.#file.checkUnchanged();
      if (n === 0) throw new SyncError('SOURCE_IO', 'the file ends before its size', { retry: 'never' });
      const chunk = this.#mine.subarray(0, n);
      this.#next += n;
      this.#handed += n;
      [this.#mine, this.#theirs] = [this.#theirs, this.#mine];
      if (this.#next < this.#end) this.#ahead = this.#start();
      // Before its last bytes are used: a file that someone still writes to may end in half a line.
      else await this.#file.checkUnchanged();
      return chunk;
    } catch (e) {
      throw sourceError(e, this.#spec.path);
    }
  }

  readonly seek = async (offset: number, end?: number): Promise<void> => {
    await this.#ahead;
    this.#ahead = null;
    this.#next = offset;
    if (end !== undefined) this.#end = Math.min(end, this.#spec.size);
    if (offset > this.#spec.size) {
      throw new SyncError('SOURCE_CHANGED', `${this.#spec.path} is shorter than the saved position`, {
        place: this.#spec.path,
      });
    }
  };

  async close(): Promise<void> {
    await this.#ahead?.catch(() => 0);
    await this.#file.handle.close();
  }
}
