import { once } from 'node:events';
import { createGzip, type Gzip } from 'node:zlib';
import type { ByteBuffer, StagedSink } from 'syncx/plugin-kit';
import { BUFFER_BYTES, type BufferPool, type PartOutput } from './part-file.js';

/** As {@link BufferedOutput}, through gzip. One member a file. */
export class GzipOutput implements PartOutput {
  readonly buffer: ByteBuffer;
  readonly #gzip: Gzip = createGzip({ chunkSize: BUFFER_BYTES >> 2 });
  readonly #pool: BufferPool;
  readonly #drained: Promise<void>;
  #size = 0;

  constructor(sink: StagedSink, pool: BufferPool) {
    this.#pool = pool;
    this.buffer = pool.take();
    this.#drained = this.#drain(sink);
    this.#drained.catch(() => undefined); // told at the next flush or at the end
  }

  get size(): number {
    return this.#size;
  }

  async #drain(sink: StagedSink): Promise<void> {
    for await (const chunk of this.#gzip as AsyncIterable<Buffer>) {
      this.#size += chunk.length;
      await sink.write(chunk);
    }
  }

  async flush(): Promise<void> {
    if (this.buffer.length === 0) return;
    // zlib works on its own thread, so it needs a copy.
    const room = this.#gzip.write(Buffer.from(this.buffer.data.subarray(0, this.buffer.length)));
    this.buffer.clear();
    if (room) return;
    // A sink that fails ends the drain and would leave nobody to make room.
    await Promise.race([once(this.#gzip, 'drain'), this.#drained]);
  }

  async end(): Promise<void> {
    await this.flush();
    this.#gzip.end();
    await this.#drained;
    this.#pool.give(this.buffer);
  }
}
