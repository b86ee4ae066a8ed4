import type { RowBatch } from '../../plugin-api/index.js';

export type ChannelItem =
  { readonly is: 'batch'; readonly batch: RowBatch } | { readonly is: 'barrier'; readonly id: number };

/**
 * Between the reading and the writing loop of a lane; one producer, one consumer. Bounded by rows and bytes: a batch
 * goes in while both are below their bound, so memory stays within one batch of it. Barriers take no room.
 */
export class BoundedChannel {
  readonly #maxRows: number;
  readonly #maxBytes: number;
  readonly #items: ChannelItem[] = [];
  #rows = 0;
  #bytes = 0;
  #wakeProducer: (() => void) | null = null;
  #wakeConsumer: (() => void) | null = null;

  constructor(maxRows: number, maxBytes: number) {
    this.#maxRows = maxRows;
    this.#maxBytes = maxBytes;
  }

  get empty(): boolean {
    return this.#items.length === 0;
  }

  /** Resolves when a batch may be pushed. Rejects on abort. */
  async space(signal: AbortSignal): Promise<void> {
    while (this.#rows >= this.#maxRows || this.#bytes >= this.#maxBytes) {
      await wait(signal, (wake) => (this.#wakeProducer = wake));
    }
    signal.throwIfAborted();
  }

  push(item: ChannelItem): void {
    this.#items.push(item);
    if (item.is === 'batch') {
      this.#rows += rowsOf(item.batch);
      this.#bytes += bytesOf(item.batch);
    }
    this.#wakeConsumer?.();
  }

  async take(signal: AbortSignal): Promise<ChannelItem> {
    for (;;) {
      signal.throwIfAborted();
      const item = this.#items.shift();
      if (item) {
        if (item.is === 'batch') {
          this.#rows -= rowsOf(item.batch);
          this.#bytes -= bytesOf(item.batch);
          this.#wakeProducer?.();
        }
        return item;
      }
      await wait(signal, (wake) => (this.#wakeConsumer = wake));
    }
  }
}

/** Rejected rows are objects; a batch with no row at all (idle progress) is one thing more to hold. */
function rowsOf(b: RowBatch): number {
  return Math.max(1, b.rows + (b.rejected?.length ?? 0));
}

/** For narrow columns the offsets outweigh the cells. */
function bytesOf(b: RowBatch): number {
  return b.data.byteLength + b.ends.byteLength;
}

/** Waits until woken; the waker is set through `arm`. */
function wait(signal: AbortSignal, arm: (wake: (() => void) | null) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      signal.removeEventListener('abort', stop);
      arm(null);
      resolve();
    };
    const stop = (): void => {
      arm(null);
      reject(signal.reason as Error);
    };
    if (signal.aborted) {
      stop();
      return;
    }
    signal.addEventListener('abort', stop, { once: true });
    arm(done);
  });
}
