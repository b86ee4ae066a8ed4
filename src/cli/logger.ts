import { pino } from 'pino';
import type { JsonObject, Logger } from '../plugin-api/index.js';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';
export type LogFormat = 'json' | 'pretty';

/** Where log lines go: a whole line with its end. */
export interface LogSink {
  write(line: string): void;
}

/** The log of a run, on stderr. Written at once: what was logged before a crash must be there. */
export async function createLogger(level: LogLevel, format: LogFormat, sink: LogSink): Promise<Logger> {
  const options = { level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` };
  const log = pino(options, format === 'pretty' ? await prettySink(sink) : sink);
  return {
    debug: (fields, message) => {
      log.debug(fields, message);
    },
    info: (fields, message) => {
      log.info(fields, message);
    },
    warn: (fields, message) => {
      log.warn(fields, message);
    },
    error: (fields, message) => {
      log.error(fields, message);
    },
  };
}

async function prettySink(sink: LogSink): Promise<LogSink> {
  const { prettyFactory } = await import('pino-pretty');
  const pretty = prettyFactory({
    colorize: process.stderr.isTTY && process.env['NO_COLOR'] === undefined,
    translateTime: 'SYS:HH:MM:ss',
    // The message says it in words already; fields are for machines and for the debug level.
    hideObject: true,
  });
  return {
    write: (line) => {
      sink.write(pretty(JSON.parse(line) as JsonObject));
    },
  };
}
