import { setTimeout as sleep } from 'node:timers/promises';

const SECOND = 1_000_000_000n;
/** A hundred years: what a rate near nothing comes to. */
const LONGEST_NS = 100 * 366 * 86_400e9;
/** Timers take 31 bits of milliseconds, and fire at once beyond. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Memory of a limit that lanes of several threads keep together. */
export function rateMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(8);
}

/**
 * Rows and bytes a second for a whole job, over all its lanes. A batch passes at once and leaves a debt that the next one
 * waits for, so the mean is exact whatever the batch size. At most one second of unused allowance is kept.
 */
export class RateLimit {
  readonly #nsPerRow: number;
  readonly #nsPerByte: number;
  /**
   * When the debt is paid, in ns of the process's monotonic clock (that of `performance` differs between threads); 0
   * before the first batch: no allowance was unused yet.
   */
  readonly #freeAt: BigInt64Array;

  /** 0: no limit. */
  constructor(rowsPerSecond: number, bytesPerSecond: number, memory = rateMemory()) {
    this.#nsPerRow = rowsPerSecond > 0 ? 1e9 / rowsPerSecond : 0;
    this.#nsPerByte = bytesPerSecond > 0 ? 1e9 / bytesPerSecond : 0;
    this.#freeAt = new BigInt64Array(memory);
  }

  async take(rows: number, bytes: number, signal: AbortSignal): Promise<void> {
    if (this.#nsPerRow === 0 && this.#nsPerByte === 0) return;
    const cost = BigInt(Math.min(LONGEST_NS, Math.ceil(Math.max(rows * this.#nsPerRow, bytes * this.#nsPerByte))));
    for (;;) {
      const freeAt = Atomics.load(this.#freeAt, 0);
      const now = process.hrtime.bigint();
      const earliest = now - SECOND;
      const start = freeAt === 0n ? now : freeAt > earliest ? freeAt : earliest;
      if (Atomics.compareExchange(this.#freeAt, 0, freeAt, start + cost) !== freeAt) continue; // another lane was faster
      await pause(Number(start - now) / 1e6, signal);
      return;
    }
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  for (let left = ms; left > 0; left -= LONGEST_TIMER_MS) {
    await sleep(Math.min(left, LONGEST_TIMER_MS), undefined, { signal });
  }
}
