/** A file under construction. Calls come one after another, but a `write` may be in flight while more is encoded. */
export interface StagedSink {
  write(bytes: Uint8Array): Promise<void>;
  /** All that was written is durable when it resolves. It stays open. */
  sync(): Promise<void>;
  /** All that was written is durable when it resolves. Also closes. */
  finish(): Promise<void>;
  /** Closes without promising anything. May be called after an error, and twice. */
  discard(): Promise<void>;
}

export type StagedPublish = 'published' | 'already' | 'missing' | 'conflict';

/** What the two-phase commit of files needs from a storage. Paths are absolute and the storage's own. */
export interface StagingStorage {
  join(folder: string, name: string): string;
  folderOf(path: string): string;
  /** Like mkdir -p, durable. */
  makeFolder(path: string): Promise<void>;
  /**
   * What tells this folder from another that took its place; null: it is not there.
   * @throws SyncError SINK_CONFLICT where it is no folder.
   */
  identity(path: string): Promise<string | null>;
  /** Makes the names in a folder durable. */
  syncFolder(path: string): Promise<void>;
  /**
   * Creates a file that must not be there yet, and its folder where that is missing: a fenced start may remove it. Never
   * the folder above that.
   */
  create(path: string): Promise<StagedSink>;
  /**
   * Creates a file that must not be there yet with the first `size` bytes of another one, durable, and open for what
   * follows them. The other file is only read: another process may still be writing to it.
   * @returns the bytes of the other file where they are fewer; null where it is not there.
   */
  continueFrom(from: string, path: string, size: number): Promise<StagedSink | number | null>;
  /** Another name in the same folder, which must not be taken. An open sink stays with the file. */
  rename(from: string, to: string): Promise<void>;
  /** Makes one folder where it is not there, durable; never the one above it. */
  makeSubfolder(path: string): Promise<void>;
  /** Bytes of the file; null: it is not there; -1: what is there is no file. */
  size(path: string): Promise<number | null>;
  /** What tells a regular file from another in its place, and from itself after a change; null: there is none. */
  fileId(path: string): Promise<string | null>;
  /** Creates a small file, whole and durable; `unique`: see `createExclusive`. @returns false where the name is taken. */
  putWhole(folder: string, name: string, data: string, unique: string): Promise<boolean>;
  /** A small file as text; null: it is not there. */
  read(path: string): Promise<string | null>;
  /**
   * Gives a staged file its final name, never replacing anything, and safe to repeat. The staged name may stay: it is
   * removed once the target's folder is synced.
   * `already`: the target is there with this size. `missing`: neither is there. `conflict`: the target is something else.
   */
  publish(staged: string, target: string, size: number): Promise<StagedPublish>;
  /** @returns false where it was not there. */
  remove(path: string): Promise<boolean>;
  /** Removes a folder if it is empty. @returns false where it is not empty or not there. */
  removeEmptyFolder(path: string): Promise<boolean>;
  /** Names in a folder; null where it is not there. */
  list(path: string): Promise<readonly string[] | null>;
}
