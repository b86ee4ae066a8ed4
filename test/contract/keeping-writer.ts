/** A writer that keeps rows over epochs, on top of the scripted one, and how such writers go wrong. */
import {
  toObjects,
  type JsonValue,
  type LaneWriter,
  type Prepared,
  type PrepareHint,
  type RowBatch,
  type Unfinished,
  type Writer,
  type WriteResult,
} from 'syncx/plugin-api';
import { plainBatch } from 'syncx/plugin-testkit';
import type { WriterFlaw } from './hostile-writer.js';
import { patched } from './hostile-reader.js';

const never = new AbortController().signal;

/** The state of a lane; `kept`: ids of rows that are in it and nowhere else. */
interface Kept {
  readonly inner: JsonValue | null;
  readonly kept: readonly number[];
}

const keptOf = (state: JsonValue | null): Kept => (state ?? { inner: null, kept: [] }) as unknown as Kept;
const stateOf = (k: Kept): JsonValue => ({ inner: k.inner, kept: [...k.kept] });

/** Takes rows as `plainBatch` makes them, and gives them to the target with a last epoch. */
class KeepingLane implements LaneWriter {
  readonly #inner: LaneWriter;
  /** As of the last prepare. */
  kept: readonly number[];
  #durable: readonly number[];
  #written: number[] = [];
  readonly #prepared = new Map<number, readonly number[]>();

  constructor(inner: LaneWriter, kept: readonly number[]) {
    this.#inner = inner;
    this.kept = this.#durable = kept;
  }

  write(batch: RowBatch): Promise<WriteResult> {
    for (const row of toObjects(batch)) this.#written.push(Number(row['id']));
    return Promise.resolve({ rejected: null, bytes: batch.data.byteLength });
  }

  async prepare(epoch: number, hint?: PrepareHint): Promise<Prepared> {
    const all = [...this.kept, ...this.#written];
    const last = hint?.last ?? true;
    if (last && all.length > 0) await this.#inner.write(plainBatch(all), never);
    const p = await this.#inner.prepare(epoch);
    this.#written = [];
    this.kept = last ? [] : all;
    this.#prepared.set(epoch, this.kept);
    return { ...p, state: stateOf({ inner: p.state, kept: this.kept }) };
  }

  unfinished(): Unfinished {
    return this.kept.length > 0 ? 'later' : 'none';
  }

  async commit(epoch: number): Promise<void> {
    await this.#inner.commit(epoch);
    this.#durable = this.#prepared.get(epoch) ?? this.#durable;
  }

  async abort(epoch: number): Promise<void> {
    await this.#inner.abort(epoch);
    this.#written = [];
    this.kept = this.#durable;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inner[Symbol.asyncDispose]();
  }
}

interface KeepingFlaw {
  readonly lane?: (healthy: KeepingLane) => Partial<LaneWriter>;
  readonly restored?: (state: Kept) => Kept;
  /** How the kept rows of all lanes are spread. */
  readonly spread?: (all: readonly (readonly number[])[], lane: number) => readonly number[];
}

function keeping(flaw: KeepingFlaw = {}): WriterFlaw {
  const spread = flaw.spread ?? ((all, lane) => (lane === 0 ? all.flat() : []));
  return {
    writer: (healthy: Writer): Partial<Writer> => ({
      async openLane(lane, restored) {
        const state = keptOf(restored);
        const { inner, kept } = restored !== null && flaw.restored ? flaw.restored(state) : state;
        const made = new KeepingLane(await healthy.openLane(lane, inner), kept);
        return flaw.lane ? patched<LaneWriter>(made, flaw.lane(made)) : made;
      },
      recoverLanes(states, lanes) {
        const all = states.map(keptOf);
        const inner =
          healthy.recoverLanes?.(
            all.map((s) => s.inner),
            lanes,
          ) ?? [];
        return inner.map((s, i) =>
          stateOf({
            inner: s,
            kept: spread(
              all.map((k) => k.kept),
              i,
            ),
          }),
        );
      },
    }),
  };
}

/** Nothing is wrong with it. */
export const KEEPING: WriterFlaw = keeping();

function disposeDrops(): WriterFlaw {
  let disposed = false;
  return keeping({
    lane: (l) => ({
      async [Symbol.asyncDispose]() {
        disposed = true;
        await l[Symbol.asyncDispose]();
      },
    }),
    restored: (s) => (disposed ? { ...s, kept: [] } : s),
  });
}

/** As a file that is gone on with in its place. */
function sharesPieces(): WriterFlaw {
  const lanes: KeepingLane[] = [];
  return keeping({
    lane(l) {
      lanes.push(l);
      return {
        prepare(epoch, hint) {
          if (hint?.last === true) l.kept = [...new Set(lanes.flatMap((other) => other.kept))];
          return l.prepare(epoch, hint);
        },
      };
    },
  });
}

/** Case id → writers that break it, and what the case must say about each. */
export const KEEPING_FLAWS: Readonly<Record<string, readonly (readonly [WriterFlaw, RegExp])[]>> = {
  'unfinished.told': [
    [keeping({ lane: () => ({ unfinished: () => 'none' }) }), /says none/],
    [keeping({ lane: (l) => ({ prepare: (epoch) => l.prepare(epoch, { last: false }) }) }), /after the last epoch/],
  ],
  'unfinished.restart': [
    [keeping({ restored: (s) => ({ ...s, kept: [] }) }), /says none/],
    [keeping({ restored: (s) => ({ ...s, kept: [...s.kept, ...s.kept] }) }), /after the last epoch/],
  ],
  'unfinished.dispose': [[disposeDrops(), /says none/]],
  'unfinished.abort': [
    [
      keeping({
        lane: (l) => ({
          async abort(epoch) {
            await l.abort(epoch);
            l.kept = [];
          },
        }),
      }),
      /says none/,
    ],
    [
      keeping({
        lane: (l) => ({
          async abort(epoch) {
            const { kept } = l;
            await l.abort(epoch);
            if (kept.length > 0) l.kept = kept;
          },
        }),
      }),
      /after the last epoch/,
    ],
  ],
  'unfinished.zombie': [[sharesPieces(), /after the last epoch/]],
  'unfinished.lanes': [
    [keeping({ spread: (all, lane) => all[lane] ?? [] }), /says none|after the last epoch/],
    [keeping({ spread: (all) => all.flat() }), /after the last epoch/],
  ],
  'unfinished.given-up': [
    [{ committer: (c) => ({ sweep: (runs) => c.sweep(runs.filter((r) => !r.givenUp)) }) }, /deep-equal|deeply/],
  ],
};
