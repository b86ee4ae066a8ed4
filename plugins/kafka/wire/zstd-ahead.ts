import { batchHeaderAt, batchSizeAt, type BatchHeader } from './batch-header.js';
import { HEADER_BYTES } from './batch-layout.js';
import { decompressZstd } from './decompress.js';

/** Batches under way at once, in the threads of the decoder; those that the reader waits for, too. */
const MOST = 8;
/** Packed bytes of them: large batches are worth a thread each, and their memory is bounded. */
const MOST_BYTES = 256 << 10;

interface UnderWay {
  readonly header: BatchHeader;
  readonly bytes: Promise<Buffer>;
}

/** The zstd batches of a fetch, decompressed ahead of the one that is read. */
export class ZstdAhead {
  readonly #batches: Buffer;
  readonly #place: string;
  readonly #limit: number;
  /** By start, in the order of the batches. */
  readonly #underWay = new Map<number, UnderWay>();
  /** Behind those that were looked at. */
  #next = 0;

  /** `limit`: the most bytes that a batch may hold. */
  constructor(batches: Buffer, place: string, limit: number) {
    this.#batches = batches;
    this.#place = place;
    this.#limit = limit;
  }

  /** Of a batch that is under way: its bytes need no second look. */
  header(start: number): BatchHeader | null {
    return this.#underWay.get(start)?.header ?? null;
  }

  /** The batch is read, or passed over. */
  drop(start: number): void {
    this.#underWay.delete(start);
  }

  /** @throws as {@link decompressZstd} */
  async open(batch: BatchHeader): Promise<Buffer> {
    const known = this.#underWay.get(batch.start)?.bytes ?? this.#begin(batch);
    this.#lookAhead();
    return await known;
  }

  #begin(header: BatchHeader): Promise<Buffer> {
    const packed = this.#batches.subarray(header.start + HEADER_BYTES, header.end);
    const bytes = decompressZstd(packed, this.#limit, header.place);
    bytes.catch(() => undefined); // told to whoever opens the batch; it may also be passed over
    this.#underWay.set(header.start, { header, bytes });
    this.#next = Math.max(this.#next, header.end);
    return bytes;
  }

  #lookAhead(): void {
    let bytes = 0;
    for (const { header } of this.#underWay.values()) bytes += header.end - header.start;
    while (this.#underWay.size < MOST && bytes < MOST_BYTES) {
      const header = this.#headerAt(this.#next);
      if (header?.codec !== 'zstd') return;
      void this.#begin(header);
      bytes += header.end - header.start;
    }
  }

  /** Null: none, or a damaged one, which is told when its turn has come. */
  #headerAt(start: number): BatchHeader | null {
    const size = batchSizeAt(this.#batches, start);
    if (size === null || start + size > this.#batches.length) return null;
    try {
      return batchHeaderAt(this.#batches, start, size, this.#place);
    } catch {
      return null;
    }
  }
}
