import type { LogSink } from './logger.js';

/** stderr with one live line at its end, on a terminal: log lines go above it. */
export interface StderrLine extends LogSink {
  /** Shows or replaces the live line. */
  show(text: string): void;
  /** Takes the live line away. */
  end(): void;
}

/** Not a terminal: there is no live line. */
export function plainStderr(): StderrLine {
  return {
    write: (line) => {
      process.stderr.write(line);
    },
    show: () => undefined,
    end: () => undefined,
  };
}

export async function liveStderr(): Promise<StderrLine> {
  const { createLogUpdate } = await import('log-update');
  const update = createLogUpdate(process.stderr);
  let current = '';
  return {
    write: (line) => {
      if (current === '') {
        process.stderr.write(line);
        return;
      }
      update.clear();
      process.stderr.write(line);
      update(current);
    },
    show: (text) => {
      // A wrapped line would leave its rests on the screen when the window narrows.
      current = text.slice(0, Math.max(20, process.stderr.columns - 1));
      update(current);
    },
    end: () => {
      if (current === '') return;
      current = '';
      update.clear();
      update.done();
    },
  };
}
