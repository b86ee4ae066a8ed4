import type { ByteBuffer, StagedSink } from 'syncx/plugin-kit';

/** Encoders fill a buffer of this many bytes; one more may be on its way to the disk. */
export const BUFFER_BYTES = 1 << 20;

/** Takes encoded bytes; at most one buffer is in flight while the next is filled. */
export interface PartOutput {
  /** The buffer to append to. Another one after each `flush`. */
  readonly buffer: ByteBuffer;
  /** Hands the buffer over; waits only for the one before. */
  flush(): Promise<void>;
  /** All bytes are with the sink, which is not finished. */
  end(): Promise<void>;
  /** Bytes that reached or will reach the sink. */
  readonly size: number;
}

export class PlainOutput implements PartOutput {
  buffer: ByteBuffer;
  #other: ByteBuffer;
  readonly #sink: StagedSink;
  #flight: Promise<void> = Promise.resolve();
  #size = 0;

  /** Buffers are lent by the lane, so that a part file costs none. */
  constructor(sink: StagedSink, buffers: readonly [ByteBuffer, ByteBuffer]) {
    this.#sink = sink;
    [this.buffer, this.#other] = buffers;
    this.buffer.clear();
    this.#other.clear();
  }

  get size(): number {
    return this.#size;
  }

  async flush(): Promise<void> {
    await this.#flight;
    if (this.buffer.length === 0) return;
    const full = this.buffer;
    this.#size += full.length;
    this.#flight = this.#sink.write(full.data.subarray(0, full.length));
    this.#flight.catch(() => undefined); // told at the next flush or at the end
    this.buffer = this.#other;
    this.buffer.clear();
    this.#other = full;
  }

  async end(): Promise<void> {
    await this.flush();
    await this.#flight;
  }
}
