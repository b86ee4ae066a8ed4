import {
  defineReader,
  SyncError,
  type JsonValue,
  type LaneContext,
  type LaneReader,
  type PluginContext,
  type Position,
  type PositionCodec,
  type Reader,
  type SplitPlanner,
} from 'syncx/plugin-api';
import { parseAddress } from './address.js';
import { lineEncoding, openCoding } from './encoding.js';
import { check, columnNames, lineFormat } from './formats.js';
import { SocketLaneReader, type SocketPosition, type SocketReading } from './lane-reader.js';
import { READER_OPTIONS, type ReaderOptions } from './options.js';
import { SocketPlanner } from './planner.js';

const at = (p: Position): SocketPosition => p as unknown as SocketPosition;

const positions: PositionCodec = {
  format: 1,
  compare: (a, b) => {
    const by = at(a).connection - at(b).connection || at(a).line - at(b).line;
    return by < 0 ? -1 : by > 0 ? 1 : 0;
  },
  show: (p) => `connection ${String(at(p).connection)}, line ${String(at(p).line)}`,
};

class SocketReader implements Reader {
  readonly positions = positions;
  readonly replayable = false;
  readonly #reading: SocketReading;
  readonly #context: PluginContext;

  constructor(reading: SocketReading, context: PluginContext) {
    this.#reading = reading;
    this.#context = context;
  }

  planner(saved: JsonValue | null): Promise<SplitPlanner> {
    const { name } = this.#reading;
    if (saved !== null) {
      const message = `a socket cannot be read again: what ${name} sent after the last checkpoint, or while nobody was connected, is gone`;
      this.#context.log.warn({ address: name }, message);
    }
    return Promise.resolve(new SocketPlanner(name, saved));
  }

  openLane(lane: LaneContext): Promise<LaneReader> {
    return Promise.resolve(new SocketLaneReader(this.#reading, lane));
  }
}

async function createReader(o: ReaderOptions, context: PluginContext): Promise<Reader> {
  const address = parseAddress(o.address);
  const encoding = lineEncoding(o.encoding);
  if (address === null || encoding === null) {
    throw new SyncError('JOB_INVALID', 'the socket reader was made with options that its check refuses');
  }
  const { host, port } = address;
  const name = host.includes(':') ? `[${host}]:${String(port)}` : `${host}:${String(port)}`;
  const coding = await openCoding(encoding);
  return new SocketReader({ address, name, format: lineFormat(o), coding, options: o }, context);
}

export const reader = defineReader({
  name: 'socket',
  aliases: [],
  summary: 'Reads lines from a TCP server, at most once.',
  options: READER_OPTIONS,
  boundedness: () => 'unbounded',
  replayable: false,
  check,
  columns: columnNames,
  create: createReader,
});
