import { setTimeout as sleep } from 'node:timers/promises';
import { SyncError, type JsonValue, type Logger, type Split, type SplitPlanner } from 'syncx/plugin-api';
import { orAborted } from 'syncx/plugin-kit';
import { baseFolders, folderInode, listFiles } from './file-list.js';
import type { FileSpec } from './file-spec.js';
import { SMALL_PLAN, encodePlan, type Cutting, type Watched } from './saved-plan.js';
import type { SplitFeed } from './split-feed.js';

/** They stand in every checkpoint, with about 70 bytes each. */
const MOST_KNOWN = 200_000;
/** From here on the log warns of it. */
const MANY_KNOWN = 20_000;

export interface WatchParts {
  readonly feed: SplitFeed;
  readonly cutting: Cutting | null;
  readonly paths: readonly string[];
  readonly filter: RegExp | null;
  readonly log: Logger;
  readonly intervalMs: number;
  readonly stableMs: number;
  /** What `*` means; null: not known yet, or it means nothing here. */
  readonly columns: readonly string[] | null;
  /** What `*` means by these files. */
  agree(files: readonly FileSpec[]): Promise<readonly string[] | null>;
}

const sameFile = (a: FileSpec, b: FileSpec): boolean => a.size === b.size && a.mtimeNs === b.mtimeNs && a.ino === b.ino;

/** A look finds the same links and pipes each time; they are told once. */
function tellingOnce(log: Logger): Logger {
  let said = new Set<string>();
  return {
    debug: log.debug.bind(log),
    info: log.info.bind(log),
    error: log.error.bind(log),
    warn: (fields, message) => {
      if (said.has(message)) return;
      if (said.size >= 100) said = new Set();
      said.add(message);
      log.warn(fields, message);
    },
  };
}

function changedError(was: FileSpec, is: FileSpec): SyncError {
  const sizes = `it has ${String(is.size)} bytes, not ${String(was.size)}`;
  return new SyncError('SOURCE_CHANGED', `${is.path} was changed after the watching job had taken it: ${sizes}`, {
    place: is.path,
    hint: 'Give new data a file of its own name. To read everything that is there now, run with --fresh.',
  });
}

/** Never ends: looks for new files whenever all that it knows of are handed out. */
export class WatchPlanner implements SplitPlanner {
  readonly #p: WatchParts;
  readonly #log: Logger;
  /** By path: every file that was taken and is still there. */
  #known = new Map<string, FileSpec>();
  /** Seen, and not taken yet: since when they are as they are. */
  #candidates = new Map<string, { readonly spec: FileSpec; readonly since: number }>();
  #bases: Watched['bases'] = [];
  #columns: readonly string[] | null;
  #savedVersion = -1;
  #savedEpoch = 0;
  #version = 0;
  #warnedOfMany = false;

  constructor(parts: WatchParts) {
    this.#p = parts;
    this.#log = tellingOnce(parts.log);
    this.#columns = parts.columns;
  }

  /** The first look. What is there at the start of a run counts as it is, if nobody has written to it of late. */
  async start(saved: Watched | null): Promise<void> {
    this.#p.feed.watched = { columns: this.#columns };
    this.#bases = saved?.bases ?? (await baseFolders(this.#p.paths));
    for (const f of saved?.known ?? []) this.#known.set(f.path, f);
    const before = BigInt(Date.now() - this.#p.stableMs) * 1_000_000n;
    await this.#look(saved === null ? (f) => BigInt(f.mtimeNs) <= before : () => false);
  }

  async next(signal: AbortSignal): Promise<Split> {
    for (;;) {
      const split = await this.#p.feed.next(signal);
      if (split !== null) return split;
      await sleep(this.#p.intervalMs, undefined, { signal });
      await orAborted(
        this.#look(() => false),
        signal,
      );
    }
  }

  async #look(settled: (f: FileSpec) => boolean): Promise<void> {
    const { feed, paths, filter, stableMs } = this.#p;
    await this.#checkBases();
    const now = performance.now();
    const files = await listFiles(paths, filter, this.#log, true);
    const taken: FileSpec[] = [];
    const known = new Map<string, FileSpec>();
    const candidates = new Map<string, { readonly spec: FileSpec; readonly since: number }>();
    for (const f of files) {
      const was = this.#known.get(f.path);
      if (was !== undefined && was.ino === f.ino) {
        if (was.size !== f.size) throw changedError(was, f);
        if (was.mtimeNs !== f.mtimeNs)
          this.#p.log.warn(
            { file: f.path },
            `${f.path} was written to after it was taken, and kept its size: it is not read again`,
          );
        known.set(f.path, f);
        continue;
      }
      const seen = this.#candidates.get(f.path);
      const still = seen !== undefined && sameFile(seen.spec, f) ? seen : null;
      if (stableMs === 0 || settled(f) || (still !== null && now - still.since >= stableMs)) taken.push(f);
      else {
        candidates.set(f.path, still ?? { spec: f, since: now });
        // Another file under a known name: until it is taken, the old one is what is known.
        if (was !== undefined) known.set(f.path, was);
      }
    }
    if (taken.length > 0 && this.#columns === null) {
      this.#columns = await this.#p.agree(taken);
      feed.watched = { columns: this.#columns };
    }
    for (const f of taken) known.set(f.path, f);
    this.#count(known.size);
    this.#known = known;
    this.#candidates = candidates;
    this.#version++;
    if (taken.length > 0) feed.add(taken);
  }

  /** Where a folder is not mounted for once, all its files would be forgotten, and read again later. */
  async #checkBases(): Promise<void> {
    for (const [path, ino] of this.#bases) {
      if ((await folderInode(path)) === ino) continue;
      throw new SyncError(
        'SOURCE_CHANGED',
        `the watched folder ${path} is not the one that it was when the run began`,
        {
          place: path,
          hint: 'Is it mounted? To take the folder that is there now for a new source, run with --fresh.',
        },
      );
    }
  }

  #count(known: number): void {
    const hint = 'Move files away once they were read, or watch a folder for each day.';
    if (known > MOST_KNOWN) {
      const message = `${String(known)} files are watched, of which a run can know ${String(MOST_KNOWN)} at most`;
      throw new SyncError('SOURCE_IO', message, { retry: 'never', hint });
    }
    if (known <= MANY_KNOWN || this.#warnedOfMany) return;
    this.#warnedOfMany = true;
    this.#p.log.warn({ files: known }, `all ${String(known)} watched files stand in every checkpoint. ${hint}`);
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
    const version = this.#version + this.#p.feed.version;
    if (this.#savedVersion === version && this.#known.size > SMALL_PLAN) return { unchangedSince: this.#savedEpoch };
    this.#savedVersion = version;
    this.#savedEpoch = epoch;
    return encodePlan({
      ...this.#p.feed.left,
      columns: this.#columns,
      cutting: this.#p.cutting,
      watched: { known: [...this.#known.values()], bases: this.#bases },
    });
  }

  remaining(): null {
    return null;
  }
}
