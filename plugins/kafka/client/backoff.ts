import { setTimeout as wait } from 'node:timers/promises';

const FIRST_MS = 20;
const LONGEST_MS = 500;

/** Pauses between tries, longer each time, until a limit. */
export class Backoff {
  readonly #until: number;
  readonly #signal: AbortSignal;
  #next = FIRST_MS;
  /** How many pauses there were. */
  tries = 0;

  constructor(limitMs: number, signal: AbortSignal) {
    this.#until = performance.now() + limitMs;
    this.#signal = signal;
  }

  /** False, at once: the time is up. @throws the signal's reason. */
  async pause(): Promise<boolean> {
    if (performance.now() + this.#next > this.#until) return false;
    const jitter = 0.75 + Math.random() / 2; // clients that broke off together should not come back together
    try {
      await wait(this.#next * jitter, undefined, { signal: this.#signal });
    } catch (e) {
      this.#signal.throwIfAborted(); // its own reason, not that of the timer
      throw e;
    }
    this.tries++;
    this.#next = Math.min(this.#next * 2, LONGEST_MS);
    return true;
  }
}
