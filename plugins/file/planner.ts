import { dirname, basename, join } from 'node:path';
import { SyncError, type JsonObject, type JsonValue, type Split, type SplitPlanner } from 'syncx/plugin-api';
import { STDIN } from './file-list.js';
import type { FileSpec } from './file-spec.js';

/** What a checkpoint keeps of the planner: the files not yet handed out, folder by folder, and what `*` means. */
interface SavedPlan {
  readonly format: 2;
  readonly columns: readonly string[] | null;
  readonly folders: readonly (readonly [string, readonly SavedFile[]])[];
}

/** Name, size, mtimeNs, ino. */
type SavedFile = readonly [string, number, string, string];

function encode(files: readonly FileSpec[], columns: readonly string[] | null): JsonValue {
  const folders: [string, SavedFile[]][] = [];
  let open: [string, SavedFile[]] | undefined;
  for (const f of files) {
    const folder = dirname(f.path);
    if (open?.[0] !== folder) folders.push((open = [folder, []]));
    open[1].push([basename(f.path), f.size, f.mtimeNs, f.ino]);
  }
  return { format: 2, columns, folders };
}

/** @throws SyncError STATE_CORRUPT */
export function decodePlan(saved: JsonValue): {
  readonly files: readonly FileSpec[];
  readonly columns: readonly string[] | null;
} {
  const plan = saved as unknown as SavedPlan | null;
  if (typeof plan !== 'object' || (plan?.format as unknown) !== 2) {
    throw new SyncError('STATE_CORRUPT', "the file reader's saved plan is not of format 2", {
      hint: 'It was written by another version; go on with that version.',
    });
  }
  const files = plan?.folders.flatMap(([folder, names]) =>
    names.map(([name, size, mtimeNs, ino]): FileSpec => ({
      path: folder === '' ? name : join(folder, name),
      size,
      mtimeNs,
      ino,
    })),
  );
  return { files: files ?? [], columns: plan?.columns ?? null };
}

export function splitOf(spec: FileSpec): Split {
  return { id: `file:${spec.path}`, bounded: true, spec: { ...spec }, weight: spec.size };
}

/** @throws SyncError STATE_CORRUPT */
export function specOfSplit(split: Split): FileSpec {
  const { path, size, mtimeNs, ino } = split.spec as JsonObject;
  if (typeof path !== 'string' || typeof size !== 'number' || typeof mtimeNs !== 'string' || typeof ino !== 'string') {
    throw new SyncError('STATE_CORRUPT', `split ${split.id} is none of this file reader`, {
      hint: 'It was written by another version; go on with that version.',
    });
  }
  return { path, size, mtimeNs, ino };
}

export const STDIN_SPLIT: Split = { id: 'stdin', bounded: true, spec: { path: STDIN }, weight: null };

/** Up to so many files left, the plan is written into each checkpoint again, so that each stands for itself. */
const SMALL_PLAN = 1000;

/** One split a file, in the order of their paths. */
export class FilePlanner implements SplitPlanner {
  readonly #files: readonly FileSpec[];
  readonly #columns: readonly string[] | null;
  #next = 0;
  #savedNext = -1;
  #savedEpoch = 0;

  constructor(files: readonly FileSpec[], columns: readonly string[] | null) {
    this.#files = files;
    this.#columns = columns;
  }

  next(): Promise<Split | 'end'> {
    const spec = this.#files[this.#next];
    if (spec === undefined) return Promise.resolve('end');
    this.#next++;
    return Promise.resolve(splitOf(spec));
  }

  finished(): void {
    // A file that was read tells nothing about others.
  }

  committed(): void {
    // No split waits for another.
  }

  reopen(): void {
    // The engine assigns it again itself.
  }

  snapshot(epoch: number): JsonValue | { readonly unchangedSince: number } {
    if (this.#savedNext === this.#next && this.#files.length - this.#next > SMALL_PLAN)
      return { unchangedSince: this.#savedEpoch };
    this.#savedNext = this.#next;
    this.#savedEpoch = epoch;
    return encode(this.#files.slice(this.#next), this.#columns);
  }

  remaining(): number {
    return this.#files.length - this.#next;
  }
}

/** Standard input: one split, which only this process can read. */
export class StdinPlanner implements SplitPlanner {
  #left: boolean;

  /** @throws SyncError STATE_CORRUPT */
  constructor(saved: JsonValue | null) {
    const plan = saved as { readonly format?: JsonValue; readonly left?: JsonValue } | null;
    if (plan !== null && plan.format !== 1) {
      throw new SyncError('STATE_CORRUPT', 'the saved plan of standard input is not of format 1', {
        hint: 'It was written by another version; go on with that version.',
      });
    }
    this.#left = plan === null || plan.left === true;
  }

  next(): Promise<Split | 'end'> {
    const left = this.#left;
    this.#left = false;
    return Promise.resolve(left ? STDIN_SPLIT : 'end');
  }

  finished(): void {
    // Nothing depends on it.
  }

  committed(): void {
    // Nothing depends on it.
  }

  reopen(): void {
    // It cannot be read again; the lane says so.
  }

  snapshot(): JsonValue {
    return { format: 1, left: this.#left };
  }

  remaining(): number {
    return this.#left ? 1 : 0;
  }
}
