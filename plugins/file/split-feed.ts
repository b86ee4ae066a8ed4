import { toSyncError, type Split, type SyncError } from 'syncx/plugin-api';
import { orAborted, type CsvDialect, type RecordPoint } from 'syncx/plugin-kit';
import type { FileSpec } from './file-spec.js';
import { splitOf } from './file-split.js';
import { RangeScan, partSize, partsLeft } from './range-scan.js';
import type { Cutting } from './saved-plan.js';
import { isPlain, type ReadingOptions } from './split-reading.js';

export interface FeedParts {
  readonly reading: ReadingOptions;
  /** How records are told apart, where files are cut; null: any line feed does. */
  readonly dialect: CsvDialect | null;
  readonly cutting: Cutting | null;
  readonly failpoint: (step: string) => void;
}

interface Ready {
  readonly split: Split;
  /** What is left behind it: files, and the point in the first of them. */
  readonly next: number;
  readonly from: RecordPoint | null;
}

/** Small, as scanning is faster than reading: it need not run far ahead. */
const LEAST_AHEAD = 2;

/** The splits of a growing list of files, in its order. Big files are scanned for borders a few parts ahead of the lanes. */
export class SplitFeed {
  readonly #p: FeedParts;
  readonly #ahead: number;
  readonly #files: FileSpec[] = [];
  /** What of `files` was not handed out. */
  #next = 0;
  #from: RecordPoint | null;
  /** What of them is neither handed out nor ready. */
  #scanned = 0;
  #scannedTo: RecordPoint | null;
  readonly #ready: Ready[] = [];
  #scan: RangeScan | null = null;
  /** Resolves when the scan that is under way has come to something; it never rejects. */
  #busy: Promise<void> | null = null;
  #failure: SyncError | null = null;
  #closed = false;
  #version = 0;
  /** Set while files are watched: goes into every split. */
  watched: { readonly columns: readonly string[] | null } | null = null;

  constructor(parts: FeedParts, files: readonly FileSpec[], from: RecordPoint | null) {
    this.#p = parts;
    this.#ahead = Math.max(LEAST_AHEAD, parts.cutting?.lanes ?? 0);
    this.#files.push(...files);
    this.#from = this.#scannedTo = from;
  }

  add(files: readonly FileSpec[]): void {
    this.#files.splice(0, this.#next);
    this.#scanned -= this.#next;
    for (const [i, r] of this.#ready.entries()) this.#ready[i] = { ...r, next: r.next - this.#next };
    this.#next = 0;
    for (const f of files) this.#files.push(f);
    this.#version++;
  }

  /** Whole files that are left, and the part of the first one that is. */
  get left(): { readonly files: readonly FileSpec[]; readonly from: RecordPoint | null } {
    return { files: this.#files.slice(this.#next), from: this.#from };
  }

  get leftCount(): number {
    return this.#files.length - this.#next;
  }

  /** Grows with every change of what is left. */
  get version(): number {
    return this.#version;
  }

  /** How many splits are left, at most. */
  get remaining(): number {
    let n = 0;
    for (let i = this.#next; i < this.#files.length; i++) {
      const spec = this.#files[i];
      const part = spec === undefined ? null : this.#partOf(spec);
      const from = i === this.#next ? (this.#from?.offset ?? 0) : 0;
      n += part === null || spec === undefined ? 1 : partsLeft(spec.size, part, from);
    }
    return n;
  }

  /** Null: the file is read whole. */
  #partOf(spec: FileSpec): number | null {
    const { cutting, reading } = this.#p;
    if (cutting === null || spec.size <= cutting.splitSize || !isPlain(reading, spec.path)) return null;
    return partSize(spec.size, cutting);
  }

  /** Null: nothing is left. A split leaves the list in the same moment as it is answered. */
  async next(signal: AbortSignal): Promise<Split | null> {
    for (;;) {
      signal.throwIfAborted();
      this.#fill();
      const ready = this.#ready.shift();
      if (ready !== undefined) {
        this.#next = ready.next;
        this.#from = ready.from;
        this.#version++;
        this.#fill();
        return ready.split;
      }
      if (this.#failure !== null) throw this.#failure;
      if (this.#busy === null) return null;
      await orAborted(this.#busy, signal);
    }
  }

  #fill(): void {
    while (this.#busy === null && this.#failure === null && !this.#closed && this.#ready.length < this.#ahead) {
      const spec = this.#files[this.#scanned];
      if (spec === undefined) return;
      const part = this.#partOf(spec);
      if (part === null) {
        this.#scanned++;
        this.#ready.push({ split: splitOf(spec, null, this.watched), next: this.#scanned, from: null });
        continue;
      }
      this.#busy = this.#scanOn(spec, part).then(
        () => {
          this.#busy = null;
          this.#fill();
        },
        (e: unknown) => {
          this.#busy = null;
          this.#failure = toSyncError(e, 'SOURCE_IO');
        },
      );
    }
  }

  async #scanOn(spec: FileSpec, part: number): Promise<void> {
    const { reading, dialect, failpoint } = this.#p;
    this.#scan ??= await RangeScan.open(reading, dialect, spec, this.#scannedTo, part);
    const range = this.#closed ? null : await this.#scan.next();
    if (range === null) return this.#endScan();
    failpoint('file.range.found');
    const ended = range.to === spec.size;
    this.#scannedTo = ended ? null : this.#scan.point;
    if (ended) {
      this.#scanned++;
      await this.#endScan();
    }
    this.#ready.push({ split: splitOf(spec, range, this.watched), next: this.#scanned, from: this.#scannedTo });
  }

  async #endScan(): Promise<void> {
    const scan = this.#scan;
    this.#scan = null;
    await scan?.close();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#scan?.stop();
    await this.#busy;
    await this.#endScan();
  }
}
