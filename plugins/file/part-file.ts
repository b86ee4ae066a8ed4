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

/** Full buffers go to the sink one after another: as they are, or each as what `encode` makes of it (a frame of zstd). */
export class BufferedOutput implements PartOutput {
  readonly #sink: StagedSink;
  readonly #pool: BufferPool;
  readonly #encode: ((bytes: Buffer) => Promise<Uint8Array>) | null;
  #buffer: ByteBuffer | null = null;
  #flight: Promise<void> = Promise.resolve();
  #size: number;

  /** `size`: what the sink holds already. */
  constructor(
    sink: StagedSink,
    pool: BufferPool,
    size = 0,
    encode: ((bytes: Buffer) => Promise<Uint8Array>) | null = null,
  ) {
    this.#sink = sink;
    this.#pool = pool;
    this.#size = size;
    this.#encode = encode;
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
    if (this.#encode === null) this.#size += full.length;
    this.#flight = this.#land(full);
    this.#flight.catch(() => undefined); // told at the next flush or at the end
  }

  async #land(full: ByteBuffer): Promise<void> {
    try {
      if (full.length === 0) return;
      const bytes = full.data.subarray(0, full.length);
      if (this.#encode === null) return await this.#sink.write(bytes);
      const encoded = await this.#encode(bytes);
      this.#size += encoded.length;
      await this.#sink.write(encoded);
    } finally {
      this.#pool.give(full);
    }
  }

  async end(): Promise<void> {
    await this.flush();
    await this.#flight;
  }
}
