import { pino } from 'pino';
import type { LogFormat, LogLevel, LogSink, Write } from './logger.js';

/** @returns a writer for lines of a given time, in ms since 1970. */
export async function pinoLog(level: LogLevel, format: LogFormat, sink: LogSink): Promise<(time: number) => Write> {
  const target = format === 'pretty' ? (await import('./pretty-log.js')).prettySink(sink) : sink;
  let now = 0;
  const timestamp = (): string => `,"time":"${new Date(now).toISOString()}"`;
  const log = pino({ level, base: null, timestamp }, target);
  return (time) => {
    now = time;
    return (l, fields, message) => {
      log[l](fields, message);
    };
  };
}
