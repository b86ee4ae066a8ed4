import { constants } from 'node:os';
import { printNote } from './output.js';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * The first SIGTERM or SIGINT asks for a clean stop at a checkpoint; the second ends the process at once.
 * The signal's reason is the name of the first.
 */
export function stopOnSignals(): { readonly signal: AbortSignal; readonly dispose: () => void } {
  const stop = new AbortController();
  const on = (name: NodeJS.Signals): void => {
    if (stop.signal.aborted) process.exit(128 + constants.signals[name]);
    printNote(`sync: ${name}: stopping at the next checkpoint; once more to stop at once`);
    stop.abort(name);
  };
  for (const s of SIGNALS) process.on(s, on);
  return {
    signal: stop.signal,
    dispose: () => {
      for (const s of SIGNALS) process.off(s, on);
    },
  };
}
