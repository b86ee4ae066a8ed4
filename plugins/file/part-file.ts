import { ByteBuffer, type StagedSink } from 'syncx/plugin-kit';

/** Encoders fill a buffer of this many bytes; one more may be on its way to the disk. */
export const BUFFER_BYTES = 1 << 20;

/** The buffers of a lane: its part files borrow them, so that a file costs none. */
export class BufferPool {
  readonly #free: ByteBuffer[] = [];
  readonly #bytes: number;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  take(): ByteBuffer {
    const buffer = this.#free.pop() ?? new ByteBuffer(this.#bytes);
    buffer.clear();
    return buffer;
  }

  give(buffer: ByteBuffer): void {
    if (this.#free.length < 2) this.#free.push(buffer);
  }
}

/** Takes encoded bytes; at most one buffer is in flight while the next is filled. */
export interface PartOutput {
  /** The buffer to append to. Another one after each `flush`. */
  readonly buffer: ByteBuffer;
  /** Hands the buffer over; waits only for the one before. */
  flush(): Promise<void>;
  /** All bytes are with the sink, which is not finished. Nothing follows where the output is compressed. */
  end(): Promise<void>;
  /** Bytes that reached or will reach the sink. */
  readonly size: number;
}

export class PlainOutput implements PartOutput {
  readonly #sink: StagedSink;
  readonly #pool: BufferPool;
  #buffer: ByteBuffer | null = null;
  #flight: Promise<void> = Promise.resolve();
  #size: number;

  /** `size`: what the sink holds already. */
  constructor(sink: StagedSink, pool: BufferPool, size = 0) {
    this.#sink = sink;
    this.#pool = pool;
    this.#size = size;
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
    this.#size += full.length;
    this.#flight = this.#land(full);
    this.#flight.catch(() => undefined); // told at the next flush or at the end
  }

  async #land(full: ByteBuffer): Promise<void> {
    try {
      if (full.length > 0) await this.#sink.write(full.data.subarray(0, full.length));
    } finally {
      this.#pool.give(full);
    }
  }

  async end(): Promise<void> {
    await this.flush();
    await this.#flight;
  }
}
