import { prettyFactory } from 'pino-pretty';
import type { JsonObject } from '../plugin-api/index.js';
import { wantsColour } from './colour.js';
import type { LogSink } from './logger.js';

/** Takes lines of JSON and hands them on as a person likes to read them. */
export function prettySink(sink: LogSink): LogSink {
  const pretty = prettyFactory({
    colorize: wantsColour(process.stderr, process.env),
    translateTime: 'SYS:HH:MM:ss',
    // The message says it in words already; fields are for machines.
    hideObject: true,
  });
  return {
    write: (line) => {
      sink.write(pretty(JSON.parse(line) as JsonObject));
    },
  };
}
