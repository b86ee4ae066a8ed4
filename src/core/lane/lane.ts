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
  type Position,
  type ReadItem,
  type RowBatch,
  type SchemaChange,
  type Split,
} from '../../plugin-api/index.js';
import { NO_COUNTERS, type LaneRecord } from '../checkpoint/format.js';
import type { Counters } from '../job/run-types.js';
import { FIRST } from '../limits/dirty-limit.js';
import { BoundedChannel } from './bounded-channel.js';
import { EpochSize } from './epoch-size.js';
import type { BarrierReport, LaneEnd } from './lane-host.js';
import type { LaneParts } from './lane-parts.js';
import { Gate, type Cut, type PendingBarrier } from './pending-barrier.js';
import { SplitHolds } from './split-holds.js';
import { SplitTrack } from './split-track.js';

const CHANNEL_ROWS = 262_144;
const CHANNEL_BYTES = 4 << 20;

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
  #pending: PendingBarrier | null = null;
  /** What the reader gave and the lane has not taken yet: items of held splits that were already under way. */
  readonly #inbox: ReadItem[] = [];
  /** One item after the other, whoever asks: the reading loop or a released split. */
  #accepting: Promise<void> = Promise.resolve();
  readonly #holds: SplitHolds;
  readonly #size: EpochSize;
  /** By split. The split is held until all rows before the change are committed. */
  readonly #changes = new Map<string, SchemaChange>();
  #barriers = 0;
  #loops: Promise<unknown> = Promise.resolve();
  /** The prepare or commit that is under way. */
  #call: Promise<unknown> = Promise.resolve();
  #failed = false;

  constructor(parts: LaneParts) {
    this.#p = parts;
    this.#writerState = parts.writerState;
    this.#holds = new SplitHolds(parts.reader);
    this.#size = new EpochSize(parts.epochLimit);
  }

  start(epoch: number): void {
    this.#epoch = epoch;
    this.#loops = Promise.allSettled([
      this.#read().catch((e: unknown) => {
        this.#fail(toSyncError(e, 'SOURCE_IO'));
      }),
      this.#write().catch((e: unknown) => {
        this.#fail(toSyncError(e, 'SINK_IO'));
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
    this.#applyHolds();
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
      this.#inbox.push(item);
      await this.#drain();
    }
    if (!signal.aborted) throw new SyncError('PLUGIN_BROKEN', 'the reader ended without being stopped');
  }

  /** Takes what may be taken: of each split in order, of held ones nothing. */
  #drain(): Promise<void> {
    this.#accepting = this.#accepting.then(async () => {
      for (;;) {
        const i = this.#inbox.findIndex((x) => !this.#holds.has(x.splitId));
        const [item] = i < 0 ? [] : this.#inbox.splice(i, 1);
        if (!item) return;
        await this.#accept(item);
      }
    });
    return this.#accepting;
  }

  async #accept(item: ReadItem): Promise<void> {
    const signal = this.#abort.signal;
    switch (item.is) {
      case 'batch': {
        this.#track.check(item.splitId);
        const rows = item.rows + (item.rejected?.length ?? 0);
        await this.#p.rate.take(rows, item.sourceBytes, signal);
        await this.#channel.space(signal);
        signal.throwIfAborted();
        this.#live.read += rows;
        this.#live.bytesRead += item.sourceBytes;
        const batch = this.#transformed(item);
        this.#channel.push({ is: 'batch', batch });
        this.#track.moved(item.splitId, item.position);
        if (this.#size.add(batch)) this.#wantEnd();
        break;
      }
      case 'splitEnd':
        this.#track.ended(item.splitId, item.position, item.outcome);
        this.#p.events.splitEnd(this.#p.lane, this.#epoch, item.splitId, item.outcome);
        if (this.#track.openBounded === 0) this.#p.events.wantSplit(this.#p.lane, this.#epoch);
        break;
      case 'schema':
        this.#change(this.#p.transform?.change(item) ?? item);
        break;
    }
    this.#tryPass();
  }

  #transformed(batch: RowBatch): RowBatch {
    if (!this.#p.transform) return batch;
    const done = this.#p.transform.apply(batch);
    this.#live.filtered += done.filtered;
    return done.batch;
  }

  /**
   * Nothing may be open when the writer changes its target: all that came before is committed first. Meanwhile only this
   * split is held: another one may be inside a transaction that must end before any barrier can pass.
   */
  #change(item: SchemaChange): void {
    if (!this.#track.isSafe(item.splitId)) {
      throw new SyncError('PLUGIN_BROKEN', `the reader sent a schema change inside a transaction of ${item.splitId}`);
    }
    this.#changes.set(item.splitId, item);
    this.#applyHolds();
    this.#wantEnd();
  }

  // ---- holding ----

  /**
   * Held: splits whose schema changes; at a barrier or in a full epoch those that are at a safe point, so that others can
   * get there. A batch that was under way when its split was told to hold may begin a transaction: that one must end.
   */
  #shouldHold(splitId: string): boolean {
    if (this.#changes.has(splitId)) return true;
    const waits = this.#pending !== null && !this.#pending.cut;
    return (waits || this.#size.full) && this.#track.isSafe(splitId);
  }

  #applyHolds(): void {
    if (!this.#holds.any && this.#changes.size === 0 && !this.#pending && !this.#size.full) return;
    this.#holds.apply(this.#track.openIds(), (id) => this.#shouldHold(id));
  }

  #wantEnd(): void {
    this.#p.events.wantCheckpoint(this.#p.lane, this.#epoch);
  }

  // ---- barriers ----

  barrier(epoch: number): Promise<BarrierReport> {
    return new Promise((resolve, reject) => {
      const released = new Gate();
      this.#pending = { id: ++this.#barriers, epoch, resolve, reject, cut: null, released };
      this.#tryPass();
    });
  }

  /** Puts the pending barrier into the channel if every open split is at a safe point; else holds those that are. */
  #tryPass(): void {
    const p = this.#pending;
    const passes = p !== null && !p.cut && this.#track.allSafe;
    if (passes) {
      const changes = [...this.#changes.values()];
      const { read, bytesRead, filtered } = this.#live;
      p.cut = { changes, splits: this.#track.cut(), read, bytesRead, filtered, epochBytes: this.#size.cut() };
      this.#channel.push({ is: 'barrier', id: p.id });
      this.#epoch = p.epoch + 1;
    }
    this.#applyHolds();
    if (passes) this.#drainSoon();
  }

  #drainSoon(): void {
    this.#drain().catch((e: unknown) => {
      this.#fail(e);
    });
  }

  cancel(epoch: number): void {
    const p = this.#pending;
    if (p?.epoch !== epoch) return;
    this.#epoch = epoch;
    if (p.cut) {
      this.#track.uncut(p.cut.splits);
      this.#size.uncut(p.cut.epochBytes);
    }
    this.#goOn(p);
    if (this.#changes.size > 0) this.#wantEnd();
    if (this.#size.reached) this.#wantEnd();
  }

  /** The barrier is done with: both loops go on. */
  #goOn(p: PendingBarrier): void {
    this.#pending = null;
    p.released.open();
    this.#applyHolds();
    this.#drainSoon();
  }

  /** The barrier that the writing loop holds at. */
  #heldAt(epoch: number): PendingBarrier & { readonly cut: Cut } {
    const p = this.#pending;
    if (p?.epoch !== epoch || !p.cut)
      throw new SyncError('INTERNAL', `lane is not at the barrier of epoch ${String(epoch)}`);
    return p as PendingBarrier & { readonly cut: Cut };
  }

  prepare(epoch: number, hold: boolean, last: boolean): Promise<LaneRecord> {
    return this.#calling(this.#prepare(epoch, hold, last));
  }

  commit(epoch: number, hold: boolean): Promise<void> {
    return this.#calling(this.#commit(epoch, hold));
  }

  alter(epoch: number): Promise<void> {
    return this.#calling(this.#alter(epoch));
  }

  release(epoch: number): void {
    this.#goOn(this.#heldAt(epoch));
  }

  #calling<T>(call: Promise<T>): Promise<T> {
    this.#call = call.catch(() => undefined);
    return call.catch((e: unknown) => {
      throw toSyncError(e, 'SINK_IO');
    });
  }

  async #prepare(epoch: number, hold: boolean, last: boolean): Promise<LaneRecord> {
    const { lane, points, dirty, writer, pipelined } = this.#p;
    const p = this.#heldAt(epoch);
    points.hit('prepare.before', lane);
    const prepared = await writer.prepare(epoch, { last });
    this.#count(0, prepared.rejected, prepared.bytes);
    const staged = await dirty.prepare(epoch);
    points.hit('prepare.after', lane);
    const { read, bytesRead, filtered } = p.cut;
    const to: Counters = { ...this.#live, read, bytesRead, filtered };
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
    if (pipelined && !hold) p.released.open();
    return record;
  }

  async #commit(epoch: number, hold: boolean): Promise<void> {
    const { lane, points, dirty, writer } = this.#p;
    const p = this.#heldAt(epoch);
    points.hit('commit.before', lane);
    await writer.commit(epoch);
    points.hit('commit.data', lane);
    await dirty.commit(epoch);
    points.hit('commit.after', lane);
    if (!hold) this.#goOn(p);
  }

  async #alter(epoch: number): Promise<void> {
    const { lane, points, writer } = this.#p;
    const { changes } = this.#heldAt(epoch).cut;
    for (const change of changes) {
      if (!writer.schema) {
        throw new SyncError('PLUGIN_BROKEN', `the writer cannot follow the change of ${change.table}`);
      }
      points.hit('alter.before', lane);
      await writer.schema(change);
      points.hit('alter.after', lane);
      this.#changes.delete(change.splitId);
    }
    if (changes.length > 0) this.#wantEnd();
  }

  // ---- writing ----

  async #write(): Promise<void> {
    const { points, lane, writer } = this.#p;
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
          p.resolve({
            lane,
            changed: p.cut.splits.length > 0,
            alters: p.cut.changes.length > 0,
            unfinished: writer.unfinished?.() ?? 'none',
          });
          await p.released.opened;
          break;
        }
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
    if (this.#live.dirty < FIRST) this.#p.events.dirty(this.#p.lane, rows.slice(0, FIRST - this.#live.dirty));
    this.#live.dirty += n;
    this.#p.dirty.add(rows);
  }

  // ---- end ----

  async close(end: LaneEnd): Promise<void> {
    this.#abort.abort(new SyncError('INTERNAL', 'the lane is closed'));
    this.#pending?.reject(this.#abort.signal.reason);
    this.#pending?.released.open();
    await this.#loops;
    await this.#call; // the writer's calls come one after another
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
