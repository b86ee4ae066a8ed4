import { SyncError, type Committable, type RunIdentity } from '../plugin-api/index.js';
import { keptFileLost, type KeptFile } from './kept-files.js';
import { publishStaged, type StagedFile, type StagedTarget } from './staged-files.js';
import { attemptOfKept, keptName, publishedName, stagedName, stagingFolderName } from './staged-names.js';
import type { StagedSink } from './staging-storage.js';
import { TargetFolder } from './target-folder.js';

/** A staged file that is being written. */
export interface OpenStaged {
  /** Another one once it has stayed open over a checkpoint. */
  readonly path: string;
  readonly sink: StagedSink;
  /** See {@link KeptFile}. */
  readonly bucket: string;
  readonly suffix: string;
}

interface Open extends OpenStaged {
  path: string;
}

interface ClosedStaged {
  readonly staged: string;
  readonly size: number;
  readonly rows: number;
  readonly bucket: string;
  readonly suffix: string;
}

interface PreparedFiles {
  readonly files: readonly StagedFile[];
  readonly kept: readonly KeptFile[];
}

/**
 * The files of one lane through the phases: open → closed → prepared (durable, invisible, named for the epoch) →
 * published. Nothing is visible under a final name before `commit`. An open file may stay open over checkpoints: then the
 * lane's state names it.
 */
export class StagedLane {
  readonly #target: StagedTarget;
  readonly #run: RunIdentity;
  readonly #lane: number;
  readonly #folder: string;
  readonly #there: TargetFolder;
  readonly #open = new Set<Open>();
  #closed: ClosedStaged[] = [];
  /** What the next prepare leaves open. */
  #kept: KeptFile[] = [];
  readonly #prepared = new Map<number, PreparedFiles>();
  /** Open files that the last durable checkpoint names: rows are in them that are in no other place. */
  #durable: readonly KeptFile[];
  /** Files that others have taken the place of; they go when no checkpoint that may come to count names them. */
  #replaced: string[] = [];
  /** Since this epoch the states of all lanes name files of this attempt only. */
  #ownSince: number | null = null;
  #next = 0;

  /** `restored`: what the state of this lane names. */
  constructor(target: StagedTarget, run: RunIdentity, lane: number, restored: readonly KeptFile[] = []) {
    this.#target = target;
    this.#run = run;
    this.#lane = lane;
    this.#durable = restored;
    this.#folder = target.storage.join(target.folder, stagingFolderName(run.runId));
    this.#there = new TargetFolder(target.storage, target.folder);
  }

  /** A closed file may wait for the next prepare. */
  get anyClosed(): boolean {
    return this.#closed.length > 0;
  }

  /** @throws SyncError SINK_IO also where the target folder has vanished. */
  async open(bucket = ''): Promise<OpenStaged> {
    await this.#there.assertThere();
    const path = this.#newPath();
    return this.#opened({ path, sink: await this.#target.storage.create(path), bucket, suffix: this.#target.suffix });
  }

  /**
   * Goes on with a file that a durable checkpoint names, in a new file. Never in the old one: a zombie may still write to
   * it, and that would be seen through every name of it.
   * @throws SyncError SINK_CONFLICT where the file is not there or too short.
   */
  async adopt(file: KeptFile): Promise<OpenStaged> {
    await this.#there.assertThere();
    const path = this.#newPath();
    const sink = await this.#target.storage.continueFrom(file.staged, path, file.size);
    if (sink === null || typeof sink === 'number') throw keptFileLost(file, sink);
    this.#replaced.push(file.staged);
    this.#target.failpoint('file.adopt');
    return this.#opened({ path, sink, bucket: file.bucket, suffix: file.suffix });
  }

  #newPath(): string {
    return this.#target.storage.join(this.#folder, stagedName(this.#run.attempt, this.#lane, this.#next++));
  }

  #opened(file: Open): OpenStaged {
    this.#open.add(file);
    return file;
  }

  /** Makes an open file durable; `size` bytes were written to it. */
  async close(file: OpenStaged, size: number, rows: number): Promise<void> {
    await file.sink.finish();
    this.#open.delete(file);
    this.#closed.push({ staged: file.path, size, rows, bucket: file.bucket, suffix: file.suffix });
  }

  /** Makes an open file durable as it is; it stays open over the prepare that follows. All its bytes are with the sink. */
  async keep(file: OpenStaged, size: number, rows: number, note: KeptFile['note']): Promise<KeptFile> {
    const { storage, failpoint } = this.#target;
    await file.sink.sync();
    await this.#assertWhole(file.path, size);
    const open = [...this.#open].find((o) => o === file);
    if (!open) throw new SyncError('INTERNAL', `${file.path} is not open`);
    const staged = keptName(file.path);
    if (staged !== file.path) {
      failpoint('file.keep');
      await storage.rename(file.path, staged);
      open.path = staged;
    }
    const kept = { staged, size, rows, bucket: file.bucket, suffix: file.suffix, note };
    this.#kept.push(kept);
    return kept;
  }

  /** Removes an open file that is not wanted. */
  async drop(file: OpenStaged): Promise<void> {
    await file.sink.discard();
    this.#open.delete(file);
    await this.#target.storage.remove(file.path);
  }

  /**
   * Phase 1. All files must be closed or kept.
   * @throws SyncError SINK_IO where one is not what was written: found now, the epoch is undone and read again.
   */
  async prepare(epoch: number): Promise<readonly Committable[]> {
    const { storage, folder, prefix } = this.#target;
    const closed = this.#closed;
    const kept = this.#kept;
    if (this.#open.size > kept.length) throw new SyncError('INTERNAL', 'a staged file is still open at prepare');
    await this.#removeOld(epoch);
    const files = closed.map(({ staged, size, bucket, suffix }, seq): StagedFile => {
      const name = publishedName(prefix, this.#run.runId, this.#lane, epoch, seq, suffix);
      const into = bucket === '' ? folder : storage.join(folder, bucket);
      return { format: 1, staged, target: storage.join(into, name), size };
    });
    if (files.length > 0 || kept.length > 0) {
      await this.#there.assertThere();
      for (const f of files) await this.#assertWhole(f.staged, f.size);
      await storage.syncFolder(this.#folder);
    }
    this.#closed = [];
    this.#kept = [];
    this.#prepared.set(epoch, { files, kept });
    return files.map((f, i) => ({ data: { ...f }, place: f.target, rows: closed[i]?.rows ?? 0 }));
  }

  /**
   * The first epoch of this attempt has an outcome when the second is prepared. From then on no state that counts, of
   * whatever lane, names an open file of an older attempt.
   */
  async #removeOld(epoch: number): Promise<void> {
    const { storage, failpoint } = this.#target;
    this.#ownSince ??= epoch;
    if (this.#ownSince === epoch) return;
    for (const path of this.#replaced) await storage.remove(path);
    if (this.#ownSince > 0 && this.#run.attempt > 1) {
      failpoint('file.old');
      for (const name of (await storage.list(this.#folder)) ?? []) {
        const attempt = attemptOfKept(name);
        if (attempt !== null && attempt < this.#run.attempt) await storage.remove(storage.join(this.#folder, name));
      }
    }
    this.#replaced = [];
    this.#ownSince = 0;
  }

  async #assertWhole(path: string, size: number): Promise<void> {
    const there = await this.#target.storage.size(path);
    if (there === size) return;
    const what = there === null ? 'has vanished' : `has ${String(there)} bytes instead of ${String(size)}`;
    throw new SyncError('SINK_IO', `the staged file ${path} ${what} before it was published`, {
      place: path,
      hint: `Something else works in ${this.#folder}: stop it and run the job again. Nothing of this epoch was published.`,
    });
  }

  /** Phase 2. Idempotent; an epoch that is not known (committed before) is left alone. */
  async commit(epoch: number): Promise<void> {
    const prepared = this.#prepared.get(epoch);
    if (prepared === undefined) return;
    if (prepared.files.length > 0) await this.#there.assertThere();
    await publishStaged(this.#target, prepared.files);
    this.#durable = prepared.kept;
    this.#prepared.delete(epoch);
  }

  /**
   * Undoes what was written since the last prepare, and the prepared files of the epoch.
   * @returns the files that the last committed epoch left open: whoever writes on adopts them again.
   */
  async abort(epoch: number): Promise<readonly KeptFile[]> {
    const names = new Set(this.#durable.map((f) => f.staged));
    await this.#dropUnprepared(names);
    const { files, kept } = this.#prepared.get(epoch) ?? { files: [], kept: [] };
    for (const { staged } of [...files, ...kept]) {
      if (!names.has(staged)) await this.#target.storage.remove(staged);
    }
    this.#prepared.delete(epoch);
    this.#replaced = [];
    this.#ownSince = null;
    if (this.#next > 0 && this.#prepared.size === 0) await this.#target.storage.removeEmptyFolder(this.#folder);
    return this.#durable;
  }

  /** Closes and removes what no prepare has seen. Prepared files stay: recovery may have to publish them. */
  async dispose(): Promise<void> {
    const kept = [...this.#prepared.values()].flatMap((p) => p.kept);
    await this.#dropUnprepared(new Set([...this.#durable, ...kept].map((f) => f.staged)));
  }

  /** `stay`: the names that a checkpoint may hold. */
  async #dropUnprepared(stay: ReadonlySet<string>): Promise<void> {
    for (const f of this.#open) {
      await f.sink.discard();
      if (!stay.has(f.path)) await this.#target.storage.remove(f.path);
    }
    this.#open.clear();
    for (const f of this.#closed) if (!stay.has(f.staged)) await this.#target.storage.remove(f.staged);
    this.#closed = [];
    this.#kept = [];
  }
}
