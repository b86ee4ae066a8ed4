import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  LaneReader,
  PluginContext,
  Position,
  Reader,
  ReadItem,
  RowBatch,
  Split,
  SplitPlanner,
} from 'syncx/plugin-api';
import type { ReaderHarness } from 'syncx/plugin-testkit';
import { reader } from '../../plugins/scripted/index.js';

/** A healthy reader with one thing changed. */
export interface ReaderFlaw {
  readonly planner?: (healthy: SplitPlanner) => Partial<SplitPlanner>;
  readonly lane?: (healthy: LaneReader) => Partial<LaneReader>;
  readonly reader?: (healthy: Reader) => Partial<Reader>;
  readonly options?: (healthy: Record<string, unknown>) => Record<string, unknown>;
  readonly name?: string;
}

/** `base` with the methods of `over`; methods of `base` keep their `this`. */
export function patched<T extends object>(base: T, over: Partial<T>): T {
  return new Proxy(base, {
    get(target, key) {
      const own = key in over ? (over as Record<PropertyKey, unknown>)[key] : undefined;
      if (own !== undefined) return own;
      const value = (target as Record<PropertyKey, unknown>)[key];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

export function hostileReader(flaw: ReaderFlaw): ReaderHarness['plugin'] {
  return {
    ...reader,
    name: flaw.name ?? reader.name,
    options: flaw.options ? flaw.options(structuredClone(reader.options)) : reader.options,
    async create(options: never, context: PluginContext) {
      const healthy = await reader.create(options, context);
      return patched(healthy, {
        planner: async (saved) => {
          const p = await healthy.planner(saved);
          return flaw.planner ? patched(p, flaw.planner(p)) : p;
        },
        openLane: async (lane, shared) => {
          const l = await healthy.openLane(lane, shared);
          return flaw.lane ? patched(l, flaw.lane(l)) : l;
        },
        ...flaw.reader?.(healthy),
      });
    },
  };
}

const items = (map: (item: ReadItem) => ReadItem) => ({
  lane: (l: LaneReader): Partial<LaneReader> => ({
    async *read(signal) {
      for await (const item of l.read(signal)) yield map(item);
    },
  }),
});
const batches = (map: (batch: RowBatch) => RowBatch): ReaderFlaw =>
  items((item) => (item.is === 'batch' ? map(item) : item));

const property = (name: string, schema: unknown) => ({
  options: (s: Record<string, unknown>) => ({ ...s, properties: { ...(s['properties'] as object), [name]: schema } }),
});
const offByOne = (from: Position | null): Position | null =>
  from === null ? null : { row: Math.max(0, (from as { row: number }).row - 1) };

const shared = Buffer.alloc(1 << 16);
let counter = 0;
const strip = (id: string): string => id.replace(/-\d+$/, '');
const servers: Server[] = [];

export function closeServers(): void {
  for (const s of servers.splice(0)) s.close();
}

async function swallow(l: LaneReader, signal: AbortSignal, put: (item: ReadItem) => void): Promise<void> {
  try {
    for await (const item of l.read(signal)) put(item);
  } catch {
    put({ is: 'splitEnd', splitId: 'a', position: { row: 0 }, outcome: null });
  }
}

const errorAsEnd: ReaderFlaw = {
  lane: (l) => ({
    async *read(signal) {
      const got: ReadItem[] = [];
      await swallow(l, signal, (item) => got.push(item));
      yield* got;
    },
  }),
};

const deaf: ReaderFlaw = {
  lane: (l) => ({
    async *read() {
      yield* l.read(new AbortController().signal);
    },
  }),
};

/** Case id → readers that break it, and what the case must say about each. */
export const READER_FLAWS: Readonly<Record<string, readonly (readonly [ReaderFlaw, RegExp])[]>> = {
  'descriptor.schema': [
    [{ options: (s) => ({ ...s, additionalProperties: true }) }, /additionalProperties/],
    [{ options: (s) => ({ ...s, propertys: {} }) }, /unknown keyword/],
  ],
  'descriptor.descriptions': [
    [property('odd', { type: 'string', default: '' }), /odd/],
    [property('odd', { type: 'string', default: '', description: 'todo' }), /odd/],
  ],
  'descriptor.defaults': [
    [property('odd', { type: 'string', description: 'An odd option.' }), /odd/],
    [property('odd', { type: 'integer', default: 'x', description: 'An odd option.' }), /default of odd/],
  ],
  'descriptor.examples': [
    [{ options: (s) => ({ ...s, examples: [{ splits: 3 }] }) }, /example of options/],
    [{ options: (s) => ({ ...s, examples: [] }) }, /empty list/],
    [
      {
        options: ({ examples: _whole, properties, ...s }) => ({
          ...s,
          properties: { ...(properties as object), splits: { type: 'array', description: 'The splits.' } },
        }),
      },
      /nor of these/,
    ],
  ],
  'descriptor.names': [
    [{ name: 'Bad Name' }, /Bad Name/],
    [property('Odd_one', { type: 'string', default: '', description: 'An odd option.' }), /Odd_one/],
  ],
  'descriptor.secrets': [
    [property('userPassword', { type: 'string', default: '', description: 'A secret thing.' }), /userPassword/],
    [property('odd', { type: 'string', default: 'hunter2', description: 'A secret thing.', 'x-secret': true }), /odd/],
  ],
  'descriptor.state': [
    [property('odd', { type: 'string', default: '', description: 'An odd option.', 'x-state': 'maybe' }), /odd/],
  ],
  'planning.same': [
    [
      {
        planner: (p) => ({
          async next(signal) {
            const s = await p.next(signal);
            return s === 'end' ? s : { ...s, id: `${s.id}-${String(++counter)}` };
          },
          finished: (id, outcome) => p.finished(strip(id), outcome),
          committed: (ids) => p.committed(ids.map(strip)),
        }),
        lane: (l) => {
          let now = '';
          return {
            assign(split: Split, from) {
              now = split.id;
              l.assign({ ...split, id: strip(split.id) }, from);
            },
            async *read(signal) {
              for await (const item of l.read(signal)) yield { ...item, splitId: now };
            },
          };
        },
      },
      /a-\d+/,
    ],
  ],
  'planning.snapshot': [
    [
      { planner: () => ({ snapshot: () => ({ format: 1, pending: ['a', 'b', 'c', 'd'], committed: [] }) }) },
      /resumed after/,
    ],
    [
      { planner: (p) => ({ snapshot: (e) => ({ ...(p.snapshot(e) as object), at: new Date(0) as never }) }) },
      /survive JSON/,
    ],
    [{ planner: () => ({ snapshot: () => ({ unchangedSince: 0 }) }) }, /cannot be unchanged/],
  ],
  'planning.pending': [
    [
      {
        planner: (p) => ({
          async next(signal) {
            const s = await p.next(signal);
            await sleep(20);
            return s;
          },
        }),
      },
      /in neither place/,
    ],
  ],
  'planning.remaining': [[{ planner: () => ({ remaining: () => 1 }) }, /1 were said to remain/]],
  'planning.once': [
    [
      {
        lane: (l) => ({
          async *read(signal) {
            let first = true;
            for await (const item of l.read(signal)) {
              yield item;
              if (first && item.is === 'batch') yield item;
              first = false;
            }
          },
        }),
      },
      /!==/,
    ],
  ],
  'planning.idempotent': [
    [
      {
        planner: (p) => {
          const seen = new Set<string>();
          return {
            committed(ids) {
              if (ids.some((id) => seen.has(id))) throw new Error('told twice');
              for (const id of ids) seen.add(id);
              p.committed(ids);
            },
          };
        },
      },
      /told twice/,
    ],
  ],
  'planning.abort': [[{ planner: () => ({ next: () => new Promise(() => undefined) }) }, /took longer/]],
  'resume.everywhere': [
    [{ lane: (l) => ({ assign: (s, from) => l.assign(s, offByOne(from)) }) }, /resumed split/],
    [{ lane: (l) => ({ assign: (s) => l.assign(s, null) }) }, /resumed split/],
    [batches((b) => ({ ...b, position: null })), /not one batch with rows/],
  ],
  'resume.end': [[{ lane: (l) => ({ assign: (s, from) => l.assign(s, offByOne(from)) }) }, /deep-equal|deeply/]],
  'resume.compare': [
    [
      {
        reader: (r) => ({
          positions: { ...r.positions, compare: (a, b) => r.positions.compare(b, a) },
        }),
      },
      /compare\(/,
    ],
    [{ reader: (r) => ({ positions: { ...r.positions, compare: () => 0 } }) }, /compare\(/],
  ],
  'resume.positions': [
    [{ reader: (r) => ({ positions: { ...r.positions, format: 0 } }) }, /format/],
    [{ reader: (r) => ({ positions: { ...r.positions, show: () => '' } }) }, /actual/],
    [batches((b) => ({ ...b, position: b.position === null ? null : (new Map() as never) })), /deep-equal|deeply/],
  ],
  'resume.safe-end': [[items((i) => (i.is === 'splitEnd' ? { ...i, position: null } : i)), /no position/]],
  'batch.shape': [
    [batches((b) => ({ ...b, rows: b.rows + 1 })), /sections hold/],
    [batches((b) => ({ ...b, data: b.data.map((byte) => (byte === 0x22 ? 0xff : byte)) })), /not valid UTF-8/],
    [batches((b) => ({ ...b, ops: new Uint8Array(b.rows).fill(1) })), /tears|between/],
  ],
  'batch.size': [
    [
      {
        reader: (r) => ({
          openLane: (lane, shared) => r.openLane({ ...lane, batch: { bytes: 1 << 25, rows: 65_536 } }, shared),
        }),
      },
      /a batch of \d+ rows has/,
    ],
  ],
  'batch.own-buffers': [
    [
      batches((b) => {
        shared.set(b.data);
        return { ...b, data: shared.subarray(0, b.data.length) };
      }),
      /overwritten/,
    ],
  ],
  'transaction.safe-points': [[batches((b) => ({ ...b, position: b.position ?? { row: 1 } })), /inside transaction/]],
  'flow.abort': [
    [deaf, /took longer/],
    [
      {
        lane: () => {
          servers.push(createServer().listen(0));
          return {};
        },
      },
      /handles stay open/,
    ],
    [{ lane: () => ({ [Symbol.asyncDispose]: () => new Promise<void>(() => undefined) }) }, /disposing the lane took/],
  ],
  'flow.abort-idle': [[deaf, /took longer/]],
  'flow.waits': [
    [
      {
        lane: () => ({
          async *read() {
            return;
          },
        }),
      },
      /nothing assigned/,
    ],
  ],
  'flow.hold': [
    [{ lane: () => ({ hold: () => undefined }) }, /held split/],
    [{ lane: () => ({ release: () => undefined }) }, /does not go on/],
  ],
  'flow.slow-consumer': [
    [
      {
        lane: (l) => ({
          async *read(signal) {
            const queue: ReadItem[] = [];
            let over = false;
            void swallow(l, signal, (item) => queue.push(item)).finally(() => (over = true));
            while (!over || queue.length > 0) {
              const item = queue.shift();
              if (item) yield item;
              else await new Promise((resolve) => setImmediate(resolve));
            }
          },
        }),
      },
      /read ahead/,
    ],
  ],
  'trouble.bad-row': [
    [batches((b) => ({ ...b, rejected: null })), /rejected rows/],
    [batches((b) => ({ ...b, rejected: b.rejected?.map((r) => ({ ...r, row: null })) ?? null })), /no content/],
  ],
  'trouble.bad-alone': [[batches((b) => (b.rows === 0 ? { ...b, rejected: null } : b)), /rejected rows/]],
  'trouble.error': [
    [errorAsEnd, /without an error/],
    [
      {
        lane: (l) => ({
          async *read(signal) {
            try {
              yield* l.read(signal);
            } catch {
              throw new Error('foreign');
            }
          },
        }),
      },
      /not a SyncError/,
    ],
  ],
  'trouble.missing': [[errorAsEnd, /empty one/]],
};
