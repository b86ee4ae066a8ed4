/** The worker's side of {@link WorkerHost}: runs an in-process host and answers for it. */
import type { MessagePort } from 'node:worker_threads';
import {
  errorFromReport,
  reportError,
  type AnyReaderDefinition,
  type AnyWriterDefinition,
  type JsonObject,
  type Logger,
} from '../../plugin-api/index.js';
import { parseFailpoints } from '../failpoints.js';
import { DirtyLimit } from '../limits/dirty-limit.js';
import { RateLimit } from '../limits/rate-limit.js';
import { InProcessHost } from './in-process-host.js';
import type { LaneEvents } from './lane-host.js';
import type { FromLane, LaneCall, LaneEvent, LogLevel, ToLane, WorkerStart } from './lane-messages.js';

/** How often counters and metrics go over while rows flow (ms); they also go before every answer. */
const TELL_MS = 200;

export interface LanePlugins {
  reader(name: string): Promise<AnyReaderDefinition>;
  writer(name: string): Promise<AnyWriterDefinition>;
}

/** Serves one lane until the thread is ended from outside. Never rejects: what fails is told. */
export async function serveLane(port: MessagePort, start: WorkerStart, plugins: LanePlugins): Promise<void> {
  const post = (m: FromLane): void => {
    port.postMessage(m);
  };
  // Calls may come before the plugins are loaded.
  const early: ToLane[] = [];
  port.on('message', (m: ToLane) => early.push(m));
  const abort = new AbortController();
  const { lane, settings, memory } = start;
  const events = eventsTo(post);
  try {
    const host = new InProcessHost({
      job: {
        reader: { definition: await plugins.reader(start.reader.name), options: frozen(start.reader.options) },
        writer: { definition: await plugins.writer(start.writer.name), options: frozen(start.writer.options) },
        settings,
      },
      log: logTo(post),
      points: parseFailpoints(start.failpoint, memory.hits),
      rate: new RateLimit(settings.rowsPerSecond, settings.bytesPerSecond, memory.rate),
      limit: new DirtyLimit(settings.errorLimit, memory.dirty),
      events,
      signal: abort.signal,
    });
    const tell = (): void => {
      post({ is: 'moved', counters: host.counters(), metrics: host.metrics() });
    };
    setInterval(tell, TELL_MS).unref();
    const receive = (m: ToLane): void => {
      switch (m.is) {
        case 'start':
          host.start(...m.args);
          break;
        case 'assign':
          try {
            host.assign(...m.args);
          } catch (e) {
            events.failed(lane, reportError(e));
          }
          break;
        case 'abort':
          abort.abort(errorFromReport(m.error));
          break;
        case 'call':
          call(host, m).then(
            (value) => {
              tell();
              post({ is: 'answer', id: m.id, value });
            },
            (e: unknown) => {
              tell();
              post({ is: 'refusal', id: m.id, error: reportError(e) });
            },
          );
          break;
      }
    };
    port.removeAllListeners('message');
    port.on('message', receive);
    for (const m of early) receive(m);
  } catch (e) {
    events.failed(lane, reportError(e));
  }
}

function call(host: InProcessHost, m: LaneCall): Promise<unknown> {
  switch (m.method) {
    case 'open':
      return host.open(...m.args);
    case 'barrier':
      return host.barrier(...m.args);
    case 'cancel':
      return host.cancel(...m.args);
    case 'skip':
      return host.skip(...m.args);
    case 'prepare':
      return host.prepare(...m.args);
    case 'commit':
      return host.commit(...m.args);
    case 'close':
      return host.close(...m.args);
  }
}

function eventsTo(post: (m: LaneEvent) => void): LaneEvents {
  return {
    wantSplit: (...args) => {
      post({ is: 'event', name: 'wantSplit', args });
    },
    splitEnd: (...args) => {
      post({ is: 'event', name: 'splitEnd', args });
    },
    wantCheckpoint: (...args) => {
      post({ is: 'event', name: 'wantCheckpoint', args });
    },
    dirty: (...args) => {
      post({ is: 'event', name: 'dirty', args });
    },
    failed: (...args) => {
      post({ is: 'event', name: 'failed', args });
    },
  };
}

function logTo(post: (m: FromLane) => void): Logger {
  const at =
    (level: LogLevel) =>
    (fields: JsonObject, message: string): void => {
      post({ is: 'log', level, fields, message });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** Plugins get their options frozen, as they do in the coordinator's thread; copying over a port thaws them. */
function frozen<T extends object>(value: T): T {
  for (const v of Object.values(value)) if (v !== null && typeof v === 'object') frozen(v as object);
  return Object.freeze(value);
}
