/** A bell for one waiter. Ringing while nobody waits is remembered. */
export class Wake {
  #rung = false;
  #waiter: (() => void) | null = null;

  readonly ring = (): void => {
    this.#rung = true;
    this.#waiter?.();
  };

  /** Resolves at the next ring, or after `ms`. */
  async wait(ms?: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
        this.#waiter = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#waiter = null;
    this.#rung = false;
  }
}
