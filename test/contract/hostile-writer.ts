import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  dense,
  type Committer,
  type LaneContext,
  type LaneWriter,
  type PluginContext,
  type RowBatch,
  type Writer,
} from 'syncx/plugin-api';
import { testLane, testRun, type WriterHarness } from 'syncx/plugin-testkit';
import { writer } from '../../plugins/scripted/index.js';
import { strayFiles } from '../../plugins/scripted/target.js';
import { patched } from './hostile-reader.js';
import { KEEPING_FLAWS } from './keeping-writer.js';

interface Inside {
  readonly path: string;
  readonly writer: Writer;
  readonly context: LaneContext;
  /** Batches that the lane got. */
  readonly batches: readonly RowBatch[];
}

/** A healthy writer with one thing changed. */
export interface WriterFlaw {
  readonly lane?: (healthy: LaneWriter, inside: Inside) => Partial<LaneWriter>;
  readonly committer?: (healthy: Committer, path: string) => Partial<Committer>;
  readonly writer?: (healthy: Writer) => Partial<Writer>;
  /** How the harness says that prepared rows fare. */
  readonly prepared?: WriterHarness['prepared'];
}

const never = new AbortController().signal;
const copy = (b: RowBatch): RowBatch => dense(b, b.sections[0]?.schema.columns.map((_, i) => i) ?? [], (s) => s);

export function hostileWriter(flaw: WriterFlaw): WriterHarness['plugin'] {
  return {
    ...writer,
    async create(options: never, context: PluginContext) {
      const { path } = options as { readonly path: string };
      const healthy = await writer.create(options, context);
      const committer = healthy.committer;
      return patched(healthy, {
        async openLane(lane, restored) {
          const l = await healthy.openLane(lane, restored);
          if (!flaw.lane) return l;
          const batches: RowBatch[] = [];
          const noting = patched(l, {
            write(batch, signal) {
              batches.push(copy(batch));
              return l.write(batch, signal);
            },
          });
          return patched(noting, flaw.lane(noting, { path, writer: healthy, context: lane, batches }));
        },
        ...(committer && flaw.committer ? { committer: patched(committer, flaw.committer(committer, path)) } : {}),
        ...flaw.writer?.(healthy),
      });
    },
  };
}

/** Gets rows into the target behind everybody's back, as a run of their own. */
async function forceIn(inside: Inside): Promise<void> {
  const run = testRun();
  await inside.writer.begin(run);
  await using lane = await inside.writer.openLane(testLane(run), null);
  for (const b of inside.batches) await lane.write(b, never);
  await lane.prepare(1);
  await lane.commit(1);
}

const answer = (what: 'committed' | 'lost' | 'unknown'): WriterFlaw => ({
  committer: () => ({ recover: (_run, c) => Promise.resolve(c.map(() => what)) }),
});

/** Case id → writers that break it, and what the case must say about each. */
export const WRITER_FLAWS: Readonly<Record<string, readonly (readonly [WriterFlaw, RegExp])[]>> = {
  'commit.invisible': [
    [
      {
        lane: (l) => ({
          async prepare(epoch) {
            const p = await l.prepare(epoch);
            await l.commit(epoch);
            return p;
          },
        }),
      },
      /after prepare/,
    ],
    [{ lane: () => ({ commit: () => Promise.resolve() }) }, /deep-equal|deeply/],
  ],
  'commit.twice': [
    [
      {
        lane: (l, inside) => {
          const done = new Set<number>();
          return {
            async commit(epoch) {
              if (done.has(epoch)) await forceIn(inside);
              done.add(epoch);
              await l.commit(epoch);
            },
          };
        },
      },
      /deep-equal|deeply/,
    ],
  ],
  'commit.epochs': [
    [{ lane: (l) => ({ commit: (epoch) => (epoch > 3 ? Promise.resolve() : l.commit(epoch)) }) }, /deep-equal|deeply/],
  ],
  'commit.empty-epoch': [
    [
      {
        lane: (l) => ({
          async prepare(epoch) {
            const p = await l.prepare(epoch);
            return p.committables.length > 0
              ? p
              : { ...p, committables: [{ data: { runId: 'x', lane: 0, file: 'x' } }] };
          },
        }),
      },
      /unknown/,
    ],
  ],
  'commit.abort-open': [[{ lane: () => ({ abort: () => Promise.resolve() }) }, /deep-equal|deeply/]],
  'commit.abort-prepared': [[{ lane: (l) => ({ abort: (epoch) => l.commit(epoch) }) }, /deep-equal|deeply/]],
  'commit.abort-clean': [
    [
      {
        lane: (l) => {
          let prepared = 0;
          return {
            prepare: (epoch) => l.prepare((prepared = epoch)),
            abort: (epoch) => (epoch === prepared ? Promise.resolve() : l.abort(epoch)),
          };
        },
      },
      /after abort of a prepared epoch/,
    ],
  ],
  'commit.dispose': [
    [
      {
        lane: (l) => {
          let closed = false;
          return {
            async [Symbol.asyncDispose]() {
              if (closed) return;
              closed = true;
              await l.prepare(1);
              await l.commit(1);
            },
          };
        },
      },
      /deep-equal|deeply/,
    ],
  ],
  'commit.lanes': [
    [answer('unknown'), /unknown/],
    [
      {
        lane: (l, inside) => ({
          async prepare(epoch) {
            const p = await l.prepare(epoch);
            if (inside.context.lane === 1) await l.commit(epoch);
            return p;
          },
        }),
      },
      /deep-equal|deeply/,
    ],
  ],
  'commit.pipelined': [
    [
      {
        lane: (l) => {
          let open = false;
          return {
            prepare(epoch) {
              open = true;
              return l.prepare(epoch);
            },
            async write(batch, signal) {
              return open ? { rejected: null, bytes: 0 } : l.write(batch, signal);
            },
          };
        },
      },
      /deep-equal|deeply/,
    ],
  ],
  'commit.begin-complete': [
    [
      {
        writer: (w) => {
          let begun = false;
          return {
            async begin(run) {
              if (begun) throw new Error('table exists');
              begun = true;
              await w.begin(run);
            },
          };
        },
      },
      /table exists/,
    ],
  ],
  'commit.high-water': [
    [{ committer: () => ({ highWater: () => Promise.resolve(99) }) }, /99/],
    [
      { committer: (c) => ({ highWater: async (id) => ((await c.highWater(id)) > 0 ? 2 : 0) }) },
      /highWater is 2 after epoch 3/,
    ],
  ],
  'recover.prepared': [
    [answer('committed'), /deep-equal|deeply/],
    [answer('unknown'), /unknown/],
    [{ ...answer('committed'), prepared: 'die' }, /committed/],
  ],
  'recover.committed': [[answer('lost'), /lost/]],
  'recover.goes-on': [[{ writer: (w) => ({ openLane: (lane) => w.openLane(lane, null) }) }, /begins at row/]],
  'recover.zombie': [
    [
      {
        lane: (l, inside) => ({
          async commit(epoch) {
            await l.commit(epoch);
            await forceIn(inside);
          },
        }),
      },
      /deep-equal|deeply/,
    ],
    [
      {
        ...answer('lost'),
        prepared: 'die',
        writer: (w) => ({ openLane: (c, s) => w.openLane({ ...c, run: { ...c.run, attempt: 1 } }, s) }),
        committer: () => ({
          recover: (_r, c) => Promise.resolve(c.map(() => 'lost' as const)),
          sweep: () => Promise.resolve({ removed: 0 }),
        }),
      },
      /deep-equal|deeply/,
    ],
  ],
  'recover.zombie-swept': [
    [{ lane: (l) => ({ commit: (epoch) => l.commit(epoch).catch(() => undefined) }) }, /claims to have worked/],
  ],
  'recover.sweep': [
    [{ committer: () => ({ sweep: () => Promise.resolve({ removed: 0 }) }) }, /deep-equal|deeply/],
    [
      { committer: (c) => ({ sweep: async (runs) => ({ removed: (await c.sweep(runs)).removed + 1 }) }) },
      /second sweep/,
    ],
  ],
  'recover.two-runs': [
    [
      {
        committer: (_c, path) => ({
          async sweep() {
            const files = await strayFiles(path);
            for (const f of files) await unlink(join(path, 'data', f));
            return { removed: files.length };
          },
        }),
      },
      /unknown/,
    ],
  ],
  'recover.damaged': [[answer('committed'), /committed/]],
  'recover.lanes': [
    [{ writer: () => ({ recoverLanes: (_s, lanes) => Array.from({ length: lanes }, () => null) }) }, /begins at row/],
    [{ writer: () => ({ recoverLanes: (s) => s }) }, /3 !== 1/],
  ],
  ...KEEPING_FLAWS,
  'values.every-type': [
    [
      {
        lane: (l) => ({
          // The classic: a 64-bit integer through a double.
          write(batch, signal) {
            const text = Buffer.from(batch.data).toString('latin1').replaceAll('9007199254740993', '9007199254740992');
            return l.write({ ...batch, data: Buffer.from(text, 'latin1') }, signal);
          },
        }),
      },
      /c_u?int64/,
    ],
    [
      {
        lane: (l) => ({
          async write(batch, signal) {
            const result = await l.write(batch, signal);
            batch.data.fill(0);
            return result;
          },
        }),
      },
      /changed the bytes/,
    ],
  ],
  'values.reused-buffers': [
    [
      {
        lane: (l) => {
          const kept: RowBatch[] = [];
          return {
            async write(batch) {
              kept.push(batch);
              return Promise.resolve({ rejected: null, bytes: batch.data.length });
            },
            async prepare(epoch) {
              for (const b of kept) await l.write(b, never);
              return l.prepare(epoch);
            },
          };
        },
      },
      /deep-equal|deeply/,
    ],
  ],
  'values.bad-row': [
    [{ lane: (l) => ({ write: async (b, s) => ({ ...(await l.write(b, s)), rejected: null }) }) }, /rejected rows/],
  ],
  'values.bytes': [
    [
      {
        lane: (l) => ({
          write: async (b, s) => ({ ...(await l.write(b, s)), bytes: 0 }),
          prepare: async (e) => ({ ...(await l.prepare(e)), bytes: 0 }),
        }),
      },
      /no byte/,
    ],
  ],
};
