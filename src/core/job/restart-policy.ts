import type { RetryClass } from '../../plugin-api/index.js';
import type { RestartSettings } from '../../job/job-spec.js';

/** Decides whether and when a failed job starts again by itself. The rules are Flink's. */
export class RestartPolicy {
  readonly #s: RestartSettings;
  readonly #random: () => number;
  /** Since the job began; exponential-delay: since its last reset. */
  #restarts = 0;
  #backoffMs = 0;
  /** Times of the last failures, in ms. */
  #failures: number[] = [];

  constructor(settings: RestartSettings, random: () => number = Math.random) {
    this.#s = settings;
    this.#random = random;
  }

  /**
   * The job has failed at `now` (ms, monotonic).
   * @returns the pause before the next start in ms; null: the job has failed for good.
   */
  next(retry: RetryClass, now: number): number | null {
    const s = this.#s;
    if (retry === 'never') return null;
    switch (s.strategy) {
      case 'none':
        return null;
      case 'fixed-delay':
        return this.#restarts++ < s.attempts ? s.delayMs : null;
      case 'failure-rate':
        this.#failures = [...this.#failures.filter((t) => now - t < s.intervalMs), now];
        return this.#failures.length <= s.maxFailures ? s.delayMs : null;
      case 'exponential-delay': {
        const last = this.#failures[0];
        this.#failures = [now];
        if (last === undefined || now - last - this.#backoffMs >= s.resetMs) {
          this.#restarts = 0;
          this.#backoffMs = s.initialMs;
        } else this.#backoffMs = Math.min(this.#backoffMs * s.multiplier, s.maxMs);
        if (s.attempts !== null && this.#restarts >= s.attempts) return null;
        this.#restarts++;
        const spread = this.#backoffMs * s.jitter * (2 * this.#random() - 1);
        return Math.max(0, Math.min(s.maxMs, Math.round(this.#backoffMs + spread)));
      }
    }
  }
}
