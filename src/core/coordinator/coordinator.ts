/**
 * Drives the lanes of one attempt through epochs. The steps and their order are those of
 * docs/specs/checkpoint-protocol.md; every failpoint here is a row of the crash tests.
 */
import { setImmediate as macrotask } from 'node:timers/promises';
import {
  errorFromReport,
  SyncError,
  toSyncError,
  type ErrorReport,
  type JsonValue,
  type Logger,
  type Reader,
  type RejectedRow,
  type RunIdentity,
  type SplitPlanner,
} from '../../plugin-api/index.js';
import { addCounters, STATE_FORMAT, type Checkpoint, type LaneRecord, type OpenSplit } from '../checkpoint/format.js';
import type { Restored } from '../checkpoint/recovery.js';
import type { RunStore } from '../checkpoint/run-store.js';
import type { Failpoints } from '../failpoints.js';
import type { Counters, Progress } from '../job/run-types.js';
import type { JobSettings } from '../../job/job-spec.js';
import type { BarrierReport, LaneEnd, LaneEvents, LaneHost } from '../lane/lane-host.js';
import { FIRST, showingRows, type DirtyLimit } from '../limits/dirty-limit.js';
import { sourceLag } from '../observe/source-lag.js';
import { SplitQueue } from './split-queue.js';
import { openAfter, positionsOf } from './split-positions.js';
import { barrierTimeout, prepareTimeout, stopTimeout } from './timeouts.js';
import { tooLate } from './too-late.js';

export interface CoordinatorParts {
  readonly settings: JobSettings;
  readonly store: RunStore;
  readonly run: RunIdentity;
  readonly fingerprint: string;
  readonly reader: Reader;
  readonly bounded: boolean;
  readonly restored: Restored;
  readonly limit: DirtyLimit;
  readonly points: Failpoints;
  readonly log: Logger;
  /** The user's wish to stop at a checkpoint. */
  readonly stop: AbortSignal;
  /** A stop that finds no safe point in this time aborts the epoch. */
  readonly stopTimeoutMs: number;
  /** Ends everything of this attempt. */
  readonly signal: AbortSignal;
}

type Trigger = 'interval' | 'end' | 'stop' | 'lane' | 'commit-wanted';

export class Coordinator implements LaneEvents {
  readonly #p: CoordinatorParts;
  #lanes: readonly LaneHost[] = [];
  #queue: SplitQueue | null = null;
  /** The epoch that is being read. */
  #epoch: number;
  #epochs: number;
  #committed: Counters;
  #failure: SyncError | null = null;
  #wake: (() => void) | null = null;
  /** Set while a barrier is under way. */
  #onFail: ((e: SyncError) => void) | null = null;
  /** The highest epoch that a lane wants ended. */
  #wanted = 0;
  #lastStart = performance.now();
  #lastEnd = this.#lastStart;
  #timeouts = 0;
  readonly #firstDirty: RejectedRow[] = [];
  /** The epoch whose prepare has begun and which is not durable; null: none, or it must be left to recovery. */
  #undo: number | null;
  #checkpoint: Progress['checkpoint'];

  constructor(parts: CoordinatorParts) {
    this.#p = parts;
    this.#epoch = parts.restored.epoch + 1;
    this.#epochs = parts.restored.epochs;
    this.#committed = parts.restored.base;
    this.#undo = this.#epoch;
    const { epoch, at } = parts.restored;
    this.#checkpoint = at === null ? null : { epoch, at };
    parts.stop.addEventListener('abort', () => this.#wake?.(), { once: true, signal: parts.signal });
  }

  /** What is known to be committed. */
  get committed(): Counters {
    return this.#committed;
  }

  get epochs(): number {
    return this.#epochs;
  }

  get moved(): Counters {
    return addCounters(this.#p.restored.base, ...this.#lanes.map((l) => l.counters()));
  }

  get progress(): Pick<Progress, 'splits' | 'lag' | 'checkpoint'> {
    const splits = this.#queue?.progress ?? { done: 0, open: 0, bytes: null };
    return { splits, lag: sourceLag(this.#lanes), checkpoint: this.#checkpoint };
  }

  /** How the lanes are to be closed, given where the last epoch got to. */
  laneEnd(error: SyncError | null): LaneEnd {
    return { undo: this.#undo, keepDirty: error?.code === 'DIRTY_LIMIT' };
  }

  /**
   * A failure as the job tells it: a passed dirty limit with the first rows of all lanes. Ask once the lanes are closed: what
   * a lane says of its rows may arrive after the failure of another.
   */
  told(failure: SyncError): SyncError {
    return showingRows(failure, this.#firstDirty, this.#p.limit.count - this.#p.restored.base.dirty);
  }

  // ---- what lanes say ----

  wantSplit(lane: number, epoch: number): void {
    this.#queue?.want(lane, epoch);
  }

  splitEnd(_lane: number, epoch: number, splitId: string, outcome: JsonValue): void {
    this.#queue?.finished(epoch, splitId, outcome);
  }

  wantCheckpoint(_lane: number, epoch: number): void {
    this.#wanted = Math.max(this.#wanted, epoch);
    this.#wake?.();
  }

  dirty(_lane: number, rows: readonly RejectedRow[]): void {
    this.#firstDirty.push(...rows.slice(0, FIRST - this.#firstDirty.length));
  }

  failed(_lane: number, error: ErrorReport): void {
    this.#fail(errorFromReport(error));
  }

  #fail(e: SyncError): void {
    this.#failure ??= e;
    this.#onFail?.(this.#failure);
    this.#wake?.();
  }

  // ---- the run ----

  /** Resolves at the end of input, or after a clean stop; all that was read is committed then. */
  async run(lanes: readonly LaneHost[], planner: SplitPlanner): Promise<'finished' | 'stopped'> {
    this.#lanes = lanes;
    const queue = new SplitQueue({
      planner,
      lanes,
      again: this.#p.restored.open,
      epoch: this.#epoch,
      signal: this.#p.signal,
      changed: () => this.#wake?.(),
      fail: (e) => {
        this.#fail(e);
      },
    });
    this.#queue = queue;
    for (const lane of lanes) lane.start(this.#epoch);
    for (;;) {
      const trigger = await this.#next(queue);
      if (trigger === 'stop') queue.stop();
      const last = trigger === 'end' || trigger === 'stop';
      const passed = await this.#runEpoch(queue, last, trigger);
      if (passed && last) return passed.end ? 'finished' : 'stopped';
    }
  }

  async #next(queue: SplitQueue): Promise<Trigger> {
    const { intervalMs, minPauseMs } = this.#p.settings.checkpoint;
    for (;;) {
      // Answers that are under way in microtasks first: a planner that is about to say 'end' is not waiting for a commit.
      await macrotask();
      if (this.#failure) throw this.#failure;
      if (queue.atEnd) return 'end';
      if (this.#p.stop.aborted) return 'stop';
      if (queue.waitsForCommit) return 'commit-wanted';
      if (this.#wanted >= this.#epoch) return 'lane';
      // The first interval counts from the start of the run; minPause is between two epochs only.
      const pause = this.#lastEnd > this.#lastStart ? minPauseMs : 0;
      const due = Math.max(this.#lastStart + intervalMs, this.#lastEnd + pause) - performance.now();
      if (due <= 0) return 'interval';
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(due, 0x7fff_ffff));
        this.#wake = (): void => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = null;
    }
  }

  /**
   * Null: the barrier was withdrawn, and nothing of the epoch is committed. `end`: nothing was left to read when the
   * barrier passed. Asked later it would be wrong: a lane reads on past its barrier, and that is not committed.
   */
  async #runEpoch(queue: SplitQueue, last: boolean, trigger: Trigger): Promise<{ readonly end: boolean } | null> {
    const { points, store, settings, run, log } = this.#p;
    const n = this.#epoch;
    const began = performance.now();
    this.#lastStart = began;
    const limitMs = trigger === 'stop' ? this.#p.stopTimeoutMs : settings.checkpoint.timeoutMs;
    const reports = await this.#barriers(queue, n, limitMs, trigger);
    if (!reports) return null;

    const passed = performance.now();
    // 1 → snapshot: at the start of a macrotask nothing of `next` is under way (see SplitQueue.snapshot).
    await macrotask();
    this.#throwIfFailed();
    const end = queue.atEnd;
    const stopping = trigger === 'stop';
    const alters = !stopping && reports.some((r) => r.alters);
    // The writer may also owe rows of earlier epochs, to be shown now or, if nothing follows, at last.
    const owed = reports.some((r) => r.unfinished === 'now' || (last && r.unfinished === 'later'));
    if (!owed && !reports.some((r) => r.changed)) {
      // What the limit is judged by was committed before anybody knew that it was the last.
      this.#checkDirty(this.#committed, last);
      if (alters) await this.#alter(n);
      if (!stopping) await this.#takeBack(n);
      queue.enterAll();
      this.#lastEnd = performance.now();
      return { end };
    }
    const snapshot = queue.snapshot(n);
    this.#epoch = n + 1;
    queue.enter(n + 1);

    // 2. prepare in all lanes
    const prepares = Promise.all(this.#lanes.map((l) => l.prepare(n, alters, last)));
    const records = await this.#inTime(limitMs - (performance.now() - began), prepares);
    if (typeof records === 'string')
      throw records === 'stop' || stopping ? stopTimeout(this.#p.stopTimeoutMs) : prepareTimeout(n);
    this.#checkDirty(addCounters(this.#p.restored.base, ...records.map((r) => r.counters.to)), last);

    // 3. one durable file, created exclusively
    const checkpoint = this.#checkpointOf(n, snapshot, records, end);
    await this.#makeDurable(checkpoint);
    points.hit('ckpt.after');

    // 4. commit; 5. outcome
    await store.assertNewest(run.attempt);
    await Promise.all(this.#lanes.map((l) => l.commit(n, stopping || alters)));
    const heldMs = Math.round(performance.now() - passed);
    points.hit('outcome.before');
    await store.putOutcome({
      format: STATE_FORMAT,
      epoch: n,
      attempt: run.attempt,
      lanes: Object.fromEntries(records.map((r) => [r.lane, 'committed' as const])),
      by: 'commit',
    });
    this.#undo = n + 1;
    this.#epochs++;
    this.#committed = addCounters(this.#p.restored.base, ...records.map((r) => r.counters.to));
    points.hit('outcome.after');
    if (alters) {
      await this.#alter(n);
      await Promise.all(this.#lanes.map((l) => l.release(n)));
    }

    // 6. tell planner and reader; 7. prune
    const splits = records.flatMap((r) => r.splits);
    queue.committed(splits);
    await this.#p.reader.checkpointed?.(positionsOf(checkpoint.open, splits));
    points.hit('committed.after');
    await store.assertNewest(run.attempt);
    await store.prune(settings.checkpoint.numRetained);
    points.hit('prune.after');
    this.#timeouts = 0;
    this.#lastEnd = performance.now();
    const ms = Math.round(this.#lastEnd - began);
    log.debug({ epoch: n, trigger, ms, heldMs, rows: this.#committed.written }, `epoch ${String(n)} committed`);
    return { end };
  }

  /** The epoch grows. What lanes wanted of the one after it they say again, if they still want it. */
  async #takeBack(n: number): Promise<void> {
    this.#wanted = 0;
    await Promise.all(this.#lanes.map((l) => l.cancel(n)));
  }

  /** One lane after the other: two may change the same table. */
  async #alter(n: number): Promise<void> {
    for (const lane of this.#lanes) await lane.alter(n);
  }

  /** Null: withdrawn, the epoch grows. */
  async #barriers(
    queue: SplitQueue,
    n: number,
    limitMs: number,
    trigger: Trigger,
  ): Promise<readonly BarrierReport[] | null> {
    this.#throwIfFailed();
    const all = Promise.all(this.#lanes.map((l) => l.barrier(n)));
    // A failure elsewhere (the planner, another lane) need not wait for a barrier that may never pass.
    const failed = new Promise<never>((_, reject) => (this.#onFail = reject));
    all.catch(() => undefined); // a withdrawn barrier never resolves, but the lane may still fail
    let gone: 'late' | 'stop';
    try {
      const reports = await this.#inTime(limitMs, Promise.race([all, failed]));
      if (typeof reports !== 'string') return reports;
      gone = reports;
    } finally {
      this.#onFail = null;
    }
    this.#throwIfFailed();
    // Where this ends the attempt nothing is taken back: a lane that is stuck could not answer. A barrier that ran out of
    // its own time while a stop came is a late barrier: the stop has time left for another.
    if (gone === 'stop' || trigger === 'stop') throw stopTimeout(this.#p.stopTimeoutMs);
    const { tolerableFailed, timeoutMs } = this.#p.settings.checkpoint;
    if (++this.#timeouts > tolerableFailed) {
      throw barrierTimeout(n, timeoutMs);
    }
    await this.#takeBack(n);
    queue.enterAll();
    this.#p.log.warn(
      { epoch: n, timeouts: this.#timeouts },
      'a checkpoint timed out and is tolerated; the epoch grows',
    );
    this.#lastEnd = performance.now();
    return null;
  }

  /** A word: why it was too late. The work itself goes on. */
  async #inTime<T>(ms: number, work: Promise<T>): Promise<T | 'late' | 'stop'> {
    const done = new AbortController();
    try {
      return await Promise.race([work, tooLate(ms, this.#p.stop, this.#p.stopTimeoutMs, done.signal)]);
    } finally {
      done.abort();
    }
  }

  #throwIfFailed(): void {
    if (this.#failure) throw this.#failure;
  }

  #checkDirty(total: Counters, last: boolean): void {
    this.#p.limit.check(total.read, total.dirty, this.#p.bounded, last);
  }

  #checkpointOf(
    n: number,
    snapshot: { readonly planner: JsonValue; readonly open: readonly OpenSplit[] },
    records: readonly LaneRecord[],
    end: boolean,
  ): Checkpoint {
    return {
      format: STATE_FORMAT,
      kind: 'epoch',
      runId: this.#p.run.runId,
      attempt: this.#p.run.attempt,
      epoch: n,
      at: Date.now(),
      fingerprint: this.#p.fingerprint,
      positions: this.#p.reader.positions.format,
      planner: snapshot.planner,
      replay: { committed: [], reopened: [] },
      open: openAfter(snapshot.open, records),
      base: this.#p.restored.base,
      epochs: this.#epochs,
      lanes: records,
      end,
    };
  }

  async #makeDurable(c: Checkpoint): Promise<void> {
    const { store, run, points } = this.#p;
    points.hit('ckpt.before');
    await store.assertNewest(run.attempt);
    let made: boolean;
    try {
      made = await store.putCheckpoint(c);
    } catch (e) {
      // The name may be there although its durability could not be confirmed: then recovery must find what it names.
      const there = await store.checkpoint(c.epoch).catch(() => c);
      if (there?.attempt === run.attempt) this.#undo = null;
      throw toSyncError(e, 'STATE_IO');
    }
    if (!made) {
      throw new SyncError('FENCED', `another start of the job has written checkpoint ${String(c.epoch)}`, {
        place: store.dir,
      });
    }
    this.#undo = null;
    this.#checkpoint = { epoch: c.epoch, at: c.at };
  }
}
