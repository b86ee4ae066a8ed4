import { compress } from '@mongodb-js/zstd';
import type { ByteBuffer, StagedSink } from 'syncx/plugin-kit';
import type { BufferPool, PartOutput } from './part-file.js';

/** As {@link PlainOutput}, through zstd: one frame a buffer, which decompressors take as one file. */
export class ZstdOutput implements PartOutput {
  readonly #sink: StagedSink;
  readonly #pool: BufferPool;
  #buffer: ByteBuffer | null = null;
  #flight: Promise<void> = Promise.resolve();
  #size = 0;

  constructor(sink: StagedSink, pool: BufferPool) {
    this.#sink = sink;
    this.#pool = pool;
  }

  get buffer(): ByteBuffer {
    return (this.#buffer ??= this.#pool.take());
  }

  get size(): number {
    return this.#size;
  }

  async flush(): Promise<void> {
    await this.#flight;
    const full = this.#buffer;
    if (full === null) return;
    this.#buffer = null;
    this.#flight = this.#land(full);
    this.#flight.catch(() => undefined); // told at the next flush or at the end
  }

  async #land(full: ByteBuffer): Promise<void> {
    try {
      if (full.length === 0) return;
      const frame = await compress(full.data.subarray(0, full.length));
      this.#size += frame.length;
      await this.#sink.write(frame);
    } finally {
      this.#pool.give(full);
    }
  }

  async end(): Promise<void> {
    await this.flush();
    await this.#flight;
  }
}
