import { constants } from 'node:os';
import { printNote } from './output.js';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** `timeout` and a terminal signal a process and its group: what comes so soon after the first is not a second wish (ms). */
const SAME_MS = 500;

export interface StopSignals {
  /** Aborted by the first signal; the reason is its name. */
  readonly signal: AbortSignal;
  /** The result is known and stands whatever comes: signals are ignored from here to the end of the process. */
  settled(): void;
}

/**
 * The first SIGTERM or SIGINT asks for a clean stop at a checkpoint; the second ends the process at once, through `atOnce`.
 * The handlers are never taken off: a signal in the last moments of a job that is done must not look like a kill.
 */
export function stopOnSignals(atOnce: (signal: NodeJS.Signals) => void): StopSignals {
  const stop = new AbortController();
  let since = 0;
  let settled = false;
  const on = (name: NodeJS.Signals): void => {
    if (settled) return;
    if (!stop.signal.aborted) {
      since = performance.now();
      printNote(`sync: ${name}: stopping at the next checkpoint; once more to stop at once`);
      stop.abort(name);
    } else if (performance.now() - since > SAME_MS) atOnce(name);
  };
  for (const s of SIGNALS) process.on(s, on);
  return {
    signal: stop.signal,
    settled: () => {
      settled = true;
    },
  };
}

export function signalExit(name: NodeJS.Signals): number {
  return 128 + constants.signals[name];
}
