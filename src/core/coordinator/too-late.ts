const LONGEST_TIMER_MS = 0x7fff_ffff;

/**
 * Resolves with `late` after `ms`, or with `stop` `graceMs` after `stop` where that is earlier: who wants to stop does not wait for a
 * longer limit. Never resolves once `done` has aborted, and leaves no timer then, which would keep the process alive.
 */
export function tooLate(ms: number, stop: AbortSignal, graceMs: number, done: AbortSignal): Promise<'late' | 'stop'> {
  return new Promise((resolve) => {
    const timers: NodeJS.Timeout[] = [];
    const arm = (after: number, why: 'late' | 'stop'): void => {
      timers.push(setTimeout(resolve, Math.min(Math.max(1, after), LONGEST_TIMER_MS), why));
    };
    arm(ms, 'late');
    if (stop.aborted) arm(graceMs, 'stop');
    else {
      const onStop = (): void => {
        arm(graceMs, 'stop');
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
