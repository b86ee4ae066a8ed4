const LONGEST_TIMER_MS = 0x7fff_ffff;

/**
 * Resolves with null after `ms`, or `graceMs` after `stop` where that is earlier: who wants to stop does not wait for a
 * longer limit. Never resolves once `done` has aborted, and leaves no timer then, which would keep the process alive.
 */
export function tooLate(ms: number, stop: AbortSignal, graceMs: number, done: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    const timers: NodeJS.Timeout[] = [];
    const arm = (after: number): void => {
      timers.push(setTimeout(resolve, Math.min(Math.max(1, after), LONGEST_TIMER_MS), null));
    };
    arm(ms);
    if (stop.aborted) arm(graceMs);
    else {
      const onStop = (): void => {
        arm(graceMs);
      };
      stop.addEventListener('abort', onStop, { once: true, signal: done });
    }
    done.addEventListener(
      'abort',
      () => {
        for (const t of timers) clearTimeout(t);
      },
      { once: true },
    );
  });
}
