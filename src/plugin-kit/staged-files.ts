import { SyncError, type Committable, type JsonObject, type JsonValue, type RunIdentity } from '../plugin-api/index.js';
import { publishedName, stagedName, stagingFolderName } from './staged-names.js';
import type { StagedSink, StagingStorage } from './staging-storage.js';
import { TargetFolder } from './target-folder.js';

export interface StagedTarget {
  readonly storage: StagingStorage;
  /** Folder of the published files. */
  readonly folder: string;
  readonly prefix: string;
  readonly suffix: string;
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

/** A staged file that is being written. */
export interface OpenStaged {
  readonly path: string;
  readonly sink: StagedSink;
}

interface ClosedStaged {
  readonly staged: string;
  readonly size: number;
  readonly rows: number;
}

/**
 * Makes prepared files visible, all of them durably before the first staged name goes. Idempotent.
 * @throws SyncError SINK_CONFLICT where a file is in neither place or its name is taken.
 */
export async function publishStaged(target: StagedTarget, files: readonly StagedFile[]): Promise<void> {
  const { storage, failpoint } = target;
  const folders = new Set<string>();
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

/**
 * The files of one lane through the phases: open → closed → prepared (durable, invisible, named for the epoch) →
 * published. Nothing is visible under a final name before `commit`.
 */
export class StagedLane {
  readonly #target: StagedTarget;
  readonly #run: RunIdentity;
  readonly #lane: number;
  readonly #folder: string;
  readonly #there: TargetFolder;
  readonly #open = new Set<OpenStaged>();
  #closed: ClosedStaged[] = [];
  readonly #prepared = new Map<number, readonly StagedFile[]>();
  #next = 0;

  constructor(target: StagedTarget, run: RunIdentity, lane: number) {
    this.#target = target;
    this.#run = run;
    this.#lane = lane;
    this.#folder = target.storage.join(target.folder, stagingFolderName(run.runId));
    this.#there = new TargetFolder(target.storage, target.folder);
  }

  /** @throws SyncError SINK_IO also where the target folder has vanished. */
  async open(): Promise<OpenStaged> {
    const { storage } = this.#target;
    await this.#there.assertThere();
    const path = storage.join(this.#folder, stagedName(this.#run.attempt, this.#lane, this.#next++));
    const file = { path, sink: await storage.create(path) };
    this.#open.add(file);
    return file;
  }

  /** Makes an open file durable; `size` bytes were written to it. */
  async close(file: OpenStaged, size: number, rows: number): Promise<void> {
    await file.sink.finish();
    this.#open.delete(file);
    this.#closed.push({ staged: file.path, size, rows });
  }

  /** Removes an open file that is not wanted. */
  async drop(file: OpenStaged): Promise<void> {
    await file.sink.discard();
    this.#open.delete(file);
    await this.#target.storage.remove(file.path);
  }

  /**
   * Phase 1. All files must be closed.
   * @throws SyncError SINK_IO where one is not what was written: found now, the epoch is undone and read again.
   */
  async prepare(epoch: number): Promise<readonly Committable[]> {
    const { storage, folder, prefix, suffix } = this.#target;
    if (this.#open.size > 0) throw new SyncError('INTERNAL', 'a staged file is still open at prepare');
    const closed = this.#closed;
    const files = closed.map(({ staged, size }, seq): StagedFile => {
      const name = publishedName(prefix, this.#run.runId, this.#lane, epoch, seq, suffix);
      return { format: 1, staged, target: storage.join(folder, name), size };
    });
    if (files.length > 0) {
      await this.#there.assertThere();
      for (const f of files) await this.#assertWhole(f);
      await storage.syncFolder(this.#folder);
    }
    this.#closed = [];
    this.#prepared.set(epoch, files);
    return files.map((f, i) => ({ data: { ...f }, place: f.target, rows: closed[i]?.rows ?? 0 }));
  }

  async #assertWhole(f: StagedFile): Promise<void> {
    const size = await this.#target.storage.size(f.staged);
    if (size === f.size) return;
    const what = size === null ? 'has vanished' : `has ${String(size)} bytes instead of ${String(f.size)}`;
    throw new SyncError('SINK_IO', `the staged file ${f.staged} ${what} before it was published`, {
      place: f.staged,
      hint: `Something else works in ${this.#folder}: stop it and run the job again. Nothing of this epoch was published.`,
    });
  }

  /** Phase 2. Idempotent; an epoch that is not known (committed before) is left alone. */
  async commit(epoch: number): Promise<void> {
    const files = this.#prepared.get(epoch);
    if (files === undefined) return;
    if (files.length > 0) await this.#there.assertThere();
    await publishStaged(this.#target, files);
    this.#prepared.delete(epoch);
  }

  /** Undoes what was written since the last prepare, and the prepared files of the epoch. */
  async abort(epoch: number): Promise<void> {
    await this.#dropUnprepared();
    for (const f of this.#prepared.get(epoch) ?? []) await this.#target.storage.remove(f.staged);
    this.#prepared.delete(epoch);
    if (this.#next > 0 && this.#prepared.size === 0) await this.#target.storage.removeEmptyFolder(this.#folder);
  }

  /** Closes and removes what no prepare has seen. Prepared files stay: recovery may have to publish them. */
  async dispose(): Promise<void> {
    await this.#dropUnprepared();
  }

  async #dropUnprepared(): Promise<void> {
    for (const f of this.#open) {
      await f.sink.discard();
      await this.#target.storage.remove(f.path);
    }
    this.#open.clear();
    for (const f of this.#closed) await this.#target.storage.remove(f.staged);
    this.#closed = [];
  }
}
