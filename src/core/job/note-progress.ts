import type { JobLock } from '../checkpoint/job-lock.js';
import type { Progress } from './run-types.js';

/** How often a running job notes how far it is (ms). */
const NOTE_MS = 2000;

/** Notes progress in the owner file until disposed, for `sync status`. A stop is noted at once: `sync stop` looks. */
export function noteProgress(
  lock: JobLock,
  stop: AbortSignal,
  look: () => { readonly progress: Progress; readonly runId: string | null },
): Disposable {
  let before = { at: Date.now(), read: 0 };
  let known = false;
  const note = (): void => {
    const { progress, runId } = look();
    const { phase, counters, restarts, lag, checkpoint } = progress;
    const at = Date.now();
    // What an earlier start has read is no rate of this one; nor is what a restart has taken back.
    const rows = Math.max(0, counters.read - before.read);
    const rowsPerSecond = known && at > before.at ? Math.round((1000 * rows) / (at - before.at)) : null;
    known = phase === 'running';
    before = { at, read: counters.read };
    const shown = stop.aborted && phase !== 'done' ? 'stopping' : phase;
    void lock.note({ at, phase: shown, runId, ...counters, rowsPerSecond, restarts, lag, checkpoint });
  };
  const timer = setInterval(note, NOTE_MS);
  timer.unref();
  stop.addEventListener('abort', note, { once: true });
  return {
    [Symbol.dispose]: () => {
      clearInterval(timer);
      stop.removeEventListener('abort', note);
    },
  };
}
