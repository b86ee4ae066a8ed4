/**
 * The engine's part of one lane, in whatever thread: reading loop → bounded channel → writing loop.
 *
 * A barrier goes into the channel when every open split is at a safe point. When it reaches the writing loop, that loop
 * holds until the epoch is committed, skipped or withdrawn; the reading loop goes on, up to the channel's bounds.
 */
import {
  toSyncError,
  reportError,
  SyncError,
  type JsonValue,
  type LaneReader,
  type LaneWriter,
  type Position,
  type ReadItem,
  type RowBatch,
  type Split,
} from '../../plugin-api/index.js';
import { NO_COUNTERS, type LaneRecord, type SplitProgress } from '../checkpoint/format.js';
import type { DirtyRows } from '../dirty/dirty-rows.js';
import type { Failpoints } from '../failpoints.js';
import type { Counters } from '../job/job-spec.js';
import type { RateLimit } from '../limits/rate-limit.js';
import { BoundedChannel } from './bounded-channel.js';
import type { BarrierReport, LaneEnd, LaneEvents } from './lane-host.js';
import { SplitTrack } from './split-track.js';

const CHANNEL_ROWS = 262_144;
const CHANNEL_BYTES = 4 << 20;

interface Pending {
  /** Tells a barrier from a withdrawn one of the same epoch that is still in the channel. */
  readonly id: number;
  readonly epoch: number;
  readonly resolve: (r: BarrierReport) => void;
  readonly reject: (e: unknown) => void;
  /** Null until the barrier is in the channel. */
  cut: Cut | null;
  /** Splits told to hold until it is. */
  held: string[];
  readonly release: () => void;
  readonly released: Promise<void>;
}

interface Cut {
  readonly splits: readonly SplitProgress[];
  readonly read: number;
  readonly bytesRead: number;
}

export interface LaneParts {
  readonly lane: number;
  readonly reader: LaneReader;
  readonly writer: LaneWriter;
  readonly pipelined: boolean;
  readonly writerState: JsonValue | null;
  readonly events: LaneEvents;
  readonly dirty: DirtyRows;
  readonly rate: RateLimit;
  readonly points: Failpoints;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class Lane {
  readonly #p: LaneParts;
  readonly #channel = new BoundedChannel(CHANNEL_ROWS, CHANNEL_BYTES);
  readonly #track = new SplitTrack();
  readonly #abort = new AbortController();
  readonly #live: Mutable<Counters> = { ...NO_COUNTERS };
  /** At the end of the last prepared epoch. */
  #settled: Counters = NO_COUNTERS;
  #writerState: JsonValue | null;
  /** The epoch that rows pushed from now on belong to. */
  #epoch = 0;
  #pending: Pending | null = null;
  /** Batches of held splits that were already under way. */
  readonly #stash: ReadItem[] = [];
  /** One item after the other, whoever brings it: the reading loop or a withdrawn barrier's stash. */
  #accepting: Promise<void> = Promise.resolve();
  #barriers = 0;
  #loops: Promise<unknown> = Promise.resolve();
  #failed = false;
  /** Called once the next commit is done (a schema change waits for it). */
  #onCommit: (() => void) | null = null;

  constructor(parts: LaneParts) {
    this.#p = parts;
    this.#writerState = parts.writerState;
  }

  start(epoch: number): void {
    this.#epoch = epoch;
    this.#loops = Promise.allSettled([
      this.#read().catch((e: unknown) => {
        this.#fail(e);
      }),
      this.#write().catch((e: unknown) => {
        this.#fail(e);
      }),
    ]);
    if (this.#track.openBounded === 0) this.#p.events.wantSplit(this.#p.lane, epoch);
  }

  counters(): Counters {
    return { ...this.#live };
  }

  assign(split: Split, from: Position | null): void {
    this.#track.assign(split, from);
    this.#p.reader.assign(split, from);
    if (!split.bounded && this.#track.openBounded === 0) this.#p.events.wantSplit(this.#p.lane, this.#epoch);
  }

  #fail(e: unknown): void {
    if (this.#failed || this.#abort.signal.aborted) return;
    this.#failed = true;
    const error = toSyncError(e);
    this.#pending?.reject(error);
    this.#p.events.failed(this.#p.lane, reportError(error));
  }

  // ---- reading ----

  async #read(): Promise<void> {
    const { reader } = this.#p;
    const signal = this.#abort.signal;
    for await (const item of reader.read(signal)) {
      if (this.#pending && !this.#pending.cut && this.#pending.held.includes(item.splitId)) {
        this.#stash.push(item);
        continue;
      }
      this.#accepting = this.#accepting.then(async () => {
        await this.#accept(item);
        await this.#acceptStash();
      });
      await this.#accepting;
    }
    if (!signal.aborted) throw new SyncError('PLUGIN_BROKEN', 'the reader ended without being stopped');
  }

  async #acceptStash(): Promise<void> {
    while (!this.#pending || this.#pending.cut) {
      const late = this.#stash.shift();
      if (!late) return;
      await this.#accept(late);
    }
  }

  async #accept(item: ReadItem): Promise<void> {
    const signal = this.#abort.signal;
    switch (item.is) {
      case 'batch': {
        this.#track.check(item.splitId);
        const rows = item.rows + (item.rejected?.length ?? 0);
        await this.#p.rate.take(rows, item.sourceBytes, signal);
        await this.#channel.space(signal);
        this.#live.read += rows;
        this.#live.bytesRead += item.sourceBytes;
        this.#channel.push({ is: 'batch', batch: item });
        this.#track.moved(item.splitId, item.position);
        break;
      }
      case 'splitEnd':
        this.#track.ended(item.splitId, item.position, item.outcome);
        this.#p.events.splitEnd(this.#p.lane, this.#epoch, item.splitId, item.outcome);
        if (this.#track.openBounded === 0) this.#p.events.wantSplit(this.#p.lane, this.#epoch);
        break;
      case 'schema':
        // Nothing may be open when the writer changes its target: commit all that came before, then change it.
        await this.#quiesce('schema change');
        this.#channel.push({ is: 'schema', change: item });
        break;
    }
    this.#tryPass();
  }

  #quiesce(why: string): Promise<void> {
    const signal = this.#abort.signal;
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#onCommit = (): void => {
        signal.removeEventListener('abort', stop);
        resolve();
      };
      this.#p.events.wantCheckpoint(this.#p.lane, why);
    });
  }

  // ---- barriers ----

  barrier(epoch: number): Promise<BarrierReport> {
    return new Promise((resolve, reject) => {
      let release = (): void => undefined;
      const released = new Promise<void>((r) => (release = r));
      this.#pending = { id: ++this.#barriers, epoch, resolve, reject, cut: null, held: [], release, released };
      this.#tryPass();
    });
  }

  /** Puts the pending barrier into the channel if every open split is at a safe point; else holds those that are. */
  #tryPass(): void {
    const p = this.#pending;
    if (!p || p.cut) return;
    if (!this.#track.allSafe) {
      const more = this.#track.safeOpen().filter((id) => !p.held.includes(id));
      if (more.length > 0) {
        p.held.push(...more);
        this.#p.reader.hold(more);
      }
      return;
    }
    p.cut = { splits: this.#track.cut(), read: this.#live.read, bytesRead: this.#live.bytesRead };
    this.#channel.push({ is: 'barrier', id: p.id });
    this.#epoch = p.epoch + 1;
    if (p.held.length > 0) this.#p.reader.release(p.held);
  }

  cancel(epoch: number): void {
    const p = this.#pending;
    if (p?.epoch !== epoch) return;
    this.#epoch = epoch;
    if (p.cut) this.#track.uncut(p.cut.splits);
    else if (p.held.length > 0) this.#p.reader.release(p.held);
    this.#pending = null;
    p.release();
    this.#accepting = this.#accepting.then(() => this.#acceptStash());
    this.#accepting.catch((e: unknown) => {
      this.#fail(e);
    });
  }

  /** The barrier that the writing loop holds at. */
  #heldAt(epoch: number): Pending & { readonly cut: Cut } {
    const p = this.#pending;
    if (p?.epoch !== epoch || !p.cut)
      throw new SyncError('INTERNAL', `lane is not at the barrier of epoch ${String(epoch)}`);
    return p as Pending & { readonly cut: Cut };
  }

  skip(epoch: number, hold: boolean): void {
    this.#heldAt(epoch);
    if (hold) return;
    this.cancel(epoch);
    const done = this.#onCommit;
    this.#onCommit = null;
    done?.();
  }

  async prepare(epoch: number): Promise<LaneRecord> {
    const { lane, points, dirty, writer, pipelined } = this.#p;
    const p = this.#heldAt(epoch);
    points.hit('prepare.before', lane);
    const prepared = await writer.prepare(epoch);
    this.#count(0, prepared.rejected, prepared.bytes);
    const staged = await dirty.prepare(epoch);
    points.hit('prepare.after', lane);
    const to: Counters = { ...this.#live, read: p.cut.read, bytesRead: p.cut.bytesRead };
    const record: LaneRecord = {
      lane,
      splits: p.cut.splits,
      writer: { from: this.#writerState, to: prepared.state },
      counters: { from: this.#settled, to },
      committables: prepared.committables,
      dirty: staged,
    };
    this.#settled = to;
    this.#writerState = prepared.state;
    if (pipelined) p.release();
    return record;
  }

  async commit(epoch: number, hold: boolean): Promise<void> {
    const { lane, points, dirty, writer } = this.#p;
    const p = this.#heldAt(epoch);
    points.hit('commit.before', lane);
    await writer.commit(epoch);
    points.hit('commit.data', lane);
    await dirty.commit(epoch);
    points.hit('commit.after', lane);
    if (hold) return;
    this.#pending = null;
    p.release();
    const done = this.#onCommit;
    this.#onCommit = null;
    done?.();
  }

  // ---- writing ----

  async #write(): Promise<void> {
    const { writer, points, lane } = this.#p;
    const signal = this.#abort.signal;
    for (;;) {
      const item = await this.#channel.take(signal);
      switch (item.is) {
        case 'batch':
          points.hit('write.before', lane);
          await this.#writeBatch(item.batch, signal);
          points.hit('write.after', lane);
          break;
        case 'barrier': {
          const p = this.#pending;
          if (p?.id !== item.id || !p.cut) break; // withdrawn in the meantime
          points.hit('barrier.passed', lane);
          p.resolve({ lane, changed: p.cut.splits.length > 0 });
          await p.released;
          break;
        }
        case 'schema':
          if (!writer.schema)
            throw new SyncError('PLUGIN_BROKEN', `the writer cannot follow the change of ${item.change.table}`);
          await writer.schema(item.change);
          this.#p.events.wantCheckpoint(lane, 'schema change');
          break;
      }
    }
  }

  async #writeBatch(batch: RowBatch, signal: AbortSignal): Promise<void> {
    if (batch.rejected) this.#reject(batch.rejected.length, batch.rejected);
    if (batch.rows === 0) return;
    const result = await this.#p.writer.write(batch, signal);
    this.#count(batch.rows, result.rejected, result.bytes);
  }

  #count(rows: number, rejected: RowBatch['rejected'], bytes: number): void {
    this.#live.bytesWritten += bytes;
    this.#live.written += rows - (rejected?.length ?? 0);
    if (rejected) this.#reject(rejected.length, rejected);
  }

  #reject(n: number, rows: NonNullable<RowBatch['rejected']>): void {
    this.#live.dirty += n;
    this.#p.dirty.add(rows);
  }

  // ---- end ----

  async close(end: LaneEnd): Promise<void> {
    this.#abort.abort(new SyncError('INTERNAL', 'the lane is closed'));
    this.#pending?.reject(this.#abort.signal.reason);
    this.#pending?.release();
    await this.#loops;
    const problems: unknown[] = [];
    const attempt = async (f: () => Promise<void>): Promise<void> => {
      try {
        await f();
      } catch (e) {
        problems.push(e);
      }
    };
    const { undo } = end;
    if (undo !== null) await attempt(() => this.#p.writer.abort(undo));
    await attempt(() => this.#p.dirty.close(undo === null ? 'leave' : end.keepDirty ? 'keep' : 'drop'));
    await attempt(async () => this.#p.reader[Symbol.asyncDispose]());
    await attempt(async () => this.#p.writer[Symbol.asyncDispose]());
    if (problems.length > 0) throw toSyncError(problems[0]);
  }
}
