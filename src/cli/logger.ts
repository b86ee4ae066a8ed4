import type { Redact } from '../job/redact.js';
import type { JsonObject, Logger } from '../plugin-api/index.js';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';
export type LogFormat = 'json' | 'pretty';

/** Where log lines go: a whole line with its end. */
export interface LogSink {
  write(line: string): void;
}

export interface RunLog {
  readonly log: Logger;
  /** Resolves when the logging package is there and all that was logged so far is written. */
  readonly ready: Promise<void>;
}

export type Write = (level: LogLevel, fields: JsonObject, message: string) => void;

const RANK: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/**
 * The log of a run, on stderr. pino is loaded while the job opens its state, which is waiting for the disk: start-up
 * counts. What is logged before pino is there is kept for these milliseconds; afterwards every line is written at once,
 * so that what was logged before a crash is there.
 */
export function createLogger(level: LogLevel, format: LogFormat, out: LogSink, redact: Redact): RunLog {
  const sink: LogSink = {
    write: (line) => {
      out.write(redact(line));
    },
  };
  let early: (readonly [LogLevel, number, JsonObject, string])[] = [];
  let write: Write | null = null;
  const ready = import('./pino-log.js').then(async ({ pinoLog }) => {
    const at = await pinoLog(level, format, sink);
    for (const [l, time, fields, message] of early) at(time)(l, fields, message);
    early = [];
    write = (l, fields, message) => {
      at(Date.now())(l, fields, message);
    };
  });
  const to =
    (l: LogLevel) =>
    (fields: JsonObject, message: string): void => {
      if (RANK[l] < RANK[level]) return;
      if (write) write(l, fields, message);
      else early.push([l, Date.now(), fields, message]);
    };
  return { log: { debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') }, ready };
}
