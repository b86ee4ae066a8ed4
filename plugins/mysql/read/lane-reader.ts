import {
  SyncError,
  type LaneContext,
  type LaneReader,
  type Position,
  type ReadItem,
  type Split,
} from 'syncx/plugin-api';
import { Wake, orAborted } from 'syncx/plugin-kit';
import { openSession, type Session } from '../connect/session.js';
import { quoteText } from '../sql/names.js';
import type { LaneOptions } from './lane-options.js';
import { compareShape } from './plan/plan-shapes.js';
import { showShape } from './plan/shapes.js';
import { snapshotLock } from './plan/shared-plan.js';
import { PollReading, pollPosition } from './poll-reading.js';
import { positionJson, splitPosition } from './positions.js';
import { readShape, type ReadShape } from './read-shape.js';
import { splitSpecOf, type Shape, type SplitPosition, type SplitSpec } from './split-spec.js';
import { SplitReading, type ReadingParts } from './split-reading.js';
import { checkMark } from './table-mark.js';

/** A call, as the compiler takes a property that was false before an `await` for false after it. */
const stopped = (signal: AbortSignal): boolean => signal.aborted;

/** Reads bounded splits one after another, each with one SELECT in the order of its key; polled tables in turns. */
export class MysqlLaneReader implements LaneReader {
  readonly #options: LaneOptions;
  readonly #lane: LaneContext;
  readonly #shapes: readonly Shape[];
  readonly #read: (ReadShape | undefined)[] = [];
  readonly #sessions: (Session | undefined)[] = [];
  readonly #queue: { readonly split: Split; readonly from: Position | null }[] = [];
  readonly #polls: PollReading[] = [];
  readonly #held = new Set<string>();
  readonly #wake = new Wake();
  readonly #altered = new Set<Shape>();
  readonly #closing = new AbortController();

  constructor(options: LaneOptions, lane: LaneContext, shapes: readonly Shape[]) {
    this.#options = options;
    this.#lane = lane;
    this.#shapes = shapes;
  }

  /** Under the planner's lock: from here on this lane's sessions see the database as it is now. */
  async openSnapshots(token: string): Promise<void> {
    for (const connection of new Set(this.#shapes.map((s) => s.connection))) {
      const session = await this.#session(connection, this.#lane.signal);
      await session.run('set session transaction isolation level repeatable read', 'open a snapshot');
      await session.run('start transaction with consistent snapshot', 'open a snapshot');
      // The planner lets writers go on once it sees the locks of all lanes.
      const name = snapshotLock(token, connection, this.#lane.lane, this.#lane.lanes);
      await session.query(`select get_lock(${quoteText(name)}, 0)`, 'open a snapshot');
    }
  }

  assign(split: Split, from: Position | null): void {
    this.#queue.push({ split, from });
    this.#wake.ring();
  }

  hold(splitIds: readonly string[]): void {
    for (const id of splitIds) this.#held.add(id);
  }

  release(splitIds: readonly string[]): void {
    for (const id of splitIds) this.#held.delete(id);
    this.#wake.ring();
  }

  async *read(outer: AbortSignal): AsyncGenerator<ReadItem> {
    const signal = AbortSignal.any([outer, this.#closing.signal]);
    const onAbort = (): void => {
      this.#destroySessions(); // a SELECT under way knows no abort
      this.#wake.ring();
    };
    signal.addEventListener('abort', onAbort);
    try {
      while (!stopped(signal)) {
        const next = this.#queue.find((q) => !this.#held.has(q.split.id));
        if (next !== undefined) {
          this.#queue.splice(this.#queue.indexOf(next), 1);
          if (next.split.bounded) yield* this.#readSplit(next.split, next.from, signal);
          else this.#polls.push(this.#pollOf(next.split, next.from));
          continue;
        }
        const poll = this.#duePoll();
        if (poll === null) await this.#wake.wait(this.#untilDue());
        else yield* poll.poll(signal);
      }
    } catch (e) {
      if (!stopped(signal)) throw e;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async *#readSplit(split: Split, from: Position | null, signal: AbortSignal): AsyncGenerator<ReadItem> {
    const { spec, shape, read } = this.#shapeOf(split);
    const reading = new SplitReading(this.#parts(), split.id, shape, read);
    const end = yield* reading.rows(spec, splitPosition(from), (p) => positionJson(p), signal);
    if (stopped(signal)) return;
    await this.#checkTable(reading, shape, signal);
    if (stopped(signal)) return;
    yield { is: 'splitEnd', splitId: split.id, position: positionJson(endPosition(read, end)), outcome: null };
  }

  /** At the end, as this split may be the last one of its table. */
  async #checkTable(reading: SplitReading, shape: Shape, signal: AbortSignal): Promise<void> {
    const { mark, database, table } = shape;
    if (mark === undefined || database === null || table === null) return;
    for (let tries = 0; !stopped(signal); tries++) {
      try {
        const session = await this.#session(shape.connection, signal);
        if ((await checkMark(session, { database, table }, mark)) === 'same') return;
        await compareShape(shape, session);
        this.#sayAltered(shape);
        return;
      } catch (e) {
        if (stopped(signal)) return;
        await reading.mayReconnect(e, tries, signal);
      }
    }
  }

  #sayAltered(shape: Shape): void {
    if (this.#altered.has(shape)) return;
    this.#altered.add(shape);
    const message = `the table ${showShape(shape)} was altered while it was read: taken for the same rows, as its definition is another one`;
    this.#lane.log.warn({ table: showShape(shape) }, message);
  }

  #pollOf(split: Split, from: Position | null): PollReading {
    const { spec, shape, read } = this.#shapeOf(split);
    const { window } = spec;
    if (window === null) throw new SyncError('INTERNAL', `the split ${split.id} has no end and no window`);
    return new PollReading(this.#parts(), split.id, spec, window, shape, read, pollPosition(from));
  }

  /** The one that is due longest. */
  #duePoll(): PollReading | null {
    const now = performance.now();
    const due = this.#polls.filter((p) => p.due <= now && !p.held);
    return due.sort((a, b) => a.due - b.due)[0] ?? null;
  }

  /** Undefined: only a ring changes anything. */
  #untilDue(): number | undefined {
    const waiting = this.#polls.filter((p) => !p.held).map((p) => p.due - performance.now());
    return waiting.length === 0 ? undefined : Math.max(1, Math.ceil(Math.min(...waiting)));
  }

  #shapeOf(split: Split): { readonly spec: SplitSpec; readonly shape: Shape; readonly read: ReadShape } {
    const spec = splitSpecOf(split);
    const shape = this.#shapes[spec.shape];
    if (shape === undefined) throw new SyncError('STATE_MISFIT', `the split ${split.id} is of no table of this job`);
    return { spec, shape, read: (this.#read[spec.shape] ??= readShape(shape)) };
  }

  #parts(): ReadingParts {
    return {
      options: this.#options,
      lane: this.#lane,
      wake: this.#wake,
      held: (splitId) => this.#held.has(splitId),
      session: (connection, signal) => this.#session(connection, signal),
    };
  }

  async #session(connection: number, signal: AbortSignal): Promise<Session> {
    const open = this.#sessions[connection];
    if (open !== undefined && !open.broken) return open;
    open?.destroy();
    const endpoints = this.#options.connections[connection] ?? [];
    const session = await orAborted(openSession(endpoints, { side: 'source' }, signal), signal);
    this.#sessions[connection] = session;
    return session;
  }

  #destroySessions(): void {
    for (const s of this.#sessions) s?.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#wake.ring();
    const sessions = this.#sessions.splice(0);
    for (const s of sessions) await s?.[Symbol.asyncDispose]();
  }
}

/** Where a split without rows ends there is no key; the empty one stands for its start. */
function endPosition(read: ReadShape, last: SplitPosition | null): SplitPosition {
  return last ?? (read.key.length > 0 ? { key: [] } : { rows: 0, hash: '' });
}
