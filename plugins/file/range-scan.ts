import { BorderScan, type CsvDialect, type RecordPoint } from 'syncx/plugin-kit';
import type { ByteSource } from './byte-source.js';
import type { FileSpec } from './file-spec.js';
import type { FileRange } from './file-split.js';
import type { Cutting } from './saved-plan.js';
import { beginFile, type ReadingOptions } from './split-reading.js';

/** No record of more than 64 MiB is read: where no border comes, the lane tells why, and nobody looks any further. */
const LONGEST_SEARCH = 80 << 20;

/** Bytes of a part of a file. Depends on nothing but the file and the cutting, so each start cuts at the same places. */
export function partSize(size: number, { splitSize, lanes }: Cutting): number {
  const parts = Math.ceil(size / splitSize / lanes) * lanes;
  return Math.max(1, Math.ceil(size / parts));
}

/** How many parts are left from an offset on, at most. */
export const partsLeft = (size: number, part: number, from: number): number =>
  Math.ceil(size / part) - Math.floor(from / part);

/** Cuts one file at borders of its records, part after part. */
export class RangeScan {
  readonly #source: ByteSource;
  readonly #size: number;
  readonly #part: number;
  readonly #borders: BorderScan;
  #from: RecordPoint;
  #chunk: Buffer = Buffer.alloc(0);
  /** What of the chunk is scanned. */
  #at = 0;
  #stopped = false;

  private constructor(source: ByteSource, size: number, part: number, borders: BorderScan) {
    this.#source = source;
    this.#size = size;
    this.#part = part;
    this.#borders = borders;
    this.#from = borders.point;
  }

  /** `from` null: from the file's first record on. `dialect` null: any line feed is a border. */
  static async open(
    o: ReadingOptions,
    dialect: CsvDialect | null,
    spec: FileSpec,
    from: RecordPoint | null,
    part: number,
  ): Promise<RangeScan> {
    const { source, head } = await beginFile(o, spec);
    try {
      const start = from ?? head?.head.body ?? { offset: 0, line: 1 };
      await source.seek?.(start.offset);
      return new RangeScan(source, spec.size, part, new BorderScan(dialect, start));
    } catch (e) {
      await source.close();
      throw e;
    }
  }

  /** The next part, which has been scanned to its end. Null: it was stopped. */
  async next(): Promise<FileRange | null> {
    const from = this.#from;
    const target = (Math.floor(from.offset / this.#part) + 1) * this.#part;
    while (target < this.#size && this.#borders.point.offset < target + LONGEST_SEARCH) {
      if (this.#at === this.#chunk.length) {
        const chunk = await this.#source.read();
        if (this.#stopped) return null;
        if (chunk === null) break;
        this.#chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
        this.#at = 0;
      }
      const border = this.#borders.scan(this.#chunk, this.#at, target);
      this.#at = border < 0 ? this.#chunk.length : border;
      if (border < 0) continue;
      this.#from = this.#borders.point;
      return { from, to: this.#from.offset };
    }
    return { from, to: this.#size };
  }

  /** Where the part after the last one begins. */
  get point(): RecordPoint {
    return this.#from;
  }

  /** A search that is under way ends with its next chunk. */
  stop(): void {
    this.#stopped = true;
  }

  close(): Promise<void> {
    return this.#source.close();
  }
}
