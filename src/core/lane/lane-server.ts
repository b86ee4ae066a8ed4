/** The worker's side of {@link WorkerHost}: runs an in-process host and answers for it. */
import type { MessagePort } from 'node:worker_threads';
import {
  errorFromReport,
  reportError,
  type AnyReaderDefinition,
  type AnyWriterDefinition,
  type JsonObject,
  type Logger,
  type PluginContext,
} from '../../plugin-api/index.js';
import { parseFailpoints } from '../failpoints.js';
import { redactor } from '../../job/redact.js';
import { DirtyLimit } from '../limits/dirty-limit.js';
import { RateLimit } from '../limits/rate-limit.js';
import { MetricRegistry } from '../observe/metrics.js';
import type { Counters } from '../job/run-types.js';
import { InProcessHost } from './in-process-host.js';
import type { LaneEnd, LaneEvents } from './lane-host.js';
import type { FromLane, LaneCall, LaneEvent, LogLevel, ToLane, WorkerStart } from './lane-messages.js';

/** How often counters and metrics go over (ms), which is also the sign of life; they also go before every answer. */
const TELL_MS = 200;

export interface LanePlugins {
  reader(name: string): Promise<AnyReaderDefinition>;
  writer(name: string): Promise<AnyWriterDefinition>;
}

/** Serves one lane until the thread is ended from outside. Never throws: what fails is told. */
export function serveLane(port: MessagePort, start: WorkerStart, plugins: LanePlugins): void {
  const post = (m: FromLane): void => {
    port.postMessage(m);
  };
  const abort = new AbortController();
  const events = eventsTo(post);
  // Calls come at once, and wait until the plugins are loaded.
  const opening = openLane(start, plugins, { log: logTo(post), events, signal: abort.signal });
  let lane: ServedLane | null = null;
  const answer = async (m: LaneCall): Promise<void> => {
    try {
      // A lane that could not be opened is closed as it is.
      lane = m.method === 'close' ? await opening.catch(() => null) : await opening;
      const value = lane ? await call(lane, m) : undefined;
      if (lane) post({ is: 'moved', ...lane.moved() });
      post({ is: 'answer', id: m.id, value });
    } catch (e) {
      if (lane) post({ is: 'moved', ...lane.moved() });
      post({ is: 'refusal', id: m.id, error: reportError(e) });
    }
  };
  setInterval(() => {
    post(lane ? { is: 'moved', ...lane.moved() } : { is: 'alive' });
  }, TELL_MS).unref();
  port.on('message', (m: ToLane) => {
    switch (m.is) {
      case 'start':
        lane?.host.start(...m.args);
        break;
      case 'assign':
        try {
          lane?.host.assign(...m.args);
        } catch (e) {
          events.failed(start.lane, reportError(e));
        }
        break;
      case 'abort':
        abort.abort(errorFromReport(m.error));
        break;
      case 'call':
        void answer(m);
        break;
    }
  });
}

interface ServedLane {
  readonly host: InProcessHost;
  moved(): { readonly counters: Counters; readonly metrics: JsonObject };
  close(end: LaneEnd): Promise<void>;
}

/** Makes the lane's own plugins and the host of the lane. */
async function openLane(
  start: WorkerStart,
  plugins: LanePlugins,
  deps: { readonly log: Logger; readonly events: LaneEvents; readonly signal: AbortSignal },
): Promise<ServedLane> {
  const { settings, memory } = start;
  const points = parseFailpoints(start.failpoint, memory.hits);
  const metrics = new MetricRegistry();
  const context: PluginContext = {
    log: deps.log,
    metrics,
    signal: deps.signal,
    failpoint: (step) => {
      points.hit(step, start.lane);
    },
  };
  const readers = await plugins.reader(start.reader.name);
  const writers = await plugins.writer(start.writer.name);
  const reader = await readers.create(frozen(start.reader.options), context);
  const writer = await writers.create(frozen(start.writer.options), context);
  const host = new InProcessHost({
    ...deps,
    reader,
    writer,
    settings,
    points,
    rate: new RateLimit(settings.rowsPerSecond, settings.bytesPerSecond, memory.rate),
    limit: new DirtyLimit(settings.errorLimit, memory.dirty),
    redact: redactor(start.secrets),
  });
  return {
    host,
    moved: () => ({ counters: host.counters(), metrics: { ...metrics.snapshot(), ...host.metrics() } }),
    close: async (end) => {
      try {
        await host.close(end);
      } finally {
        try {
          await reader.close?.();
        } finally {
          await writer.close?.();
        }
      }
    },
  };
}

function call(lane: ServedLane, m: LaneCall): Promise<unknown> {
  const { host } = lane;
  switch (m.method) {
    case 'open':
      return host.open(...m.args);
    case 'barrier':
      return host.barrier(...m.args);
    case 'cancel':
      return host.cancel(...m.args);
    case 'prepare':
      return host.prepare(...m.args);
    case 'commit':
      return host.commit(...m.args);
    case 'alter':
      return host.alter(...m.args);
    case 'release':
      return host.release(...m.args);
    case 'close':
      return lane.close(...m.args);
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
