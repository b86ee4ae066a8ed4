import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Rows and bytes a second for a whole job. A batch passes at once and leaves a debt that the next one waits for, so the
 * mean is exact whatever the batch size. At most one second of unused allowance is kept.
 */
export class RateLimit {
  readonly #rowsPerMs: number;
  readonly #bytesPerMs: number;
  /** When the debt is paid, in ms of `performance.now`; null before the first batch: no allowance was unused yet. */
  #freeAt: number | null = null;

  /** 0: no limit. */
  constructor(rowsPerSecond: number, bytesPerSecond: number) {
    this.#rowsPerMs = rowsPerSecond / 1000;
    this.#bytesPerMs = bytesPerSecond / 1000;
  }

  async take(rows: number, bytes: number, signal: AbortSignal): Promise<void> {
    if (this.#rowsPerMs === 0 && this.#bytesPerMs === 0) return;
    const now = performance.now();
    const start = Math.max(this.#freeAt ?? now, now - 1000);
    const byRows = this.#rowsPerMs > 0 ? rows / this.#rowsPerMs : 0;
    const byBytes = this.#bytesPerMs > 0 ? bytes / this.#bytesPerMs : 0;
    this.#freeAt = start + Math.max(byRows, byBytes);
    if (start > now) await sleep(start - now, undefined, { signal });
  }
}
