import { setTimeout as sleep } from 'node:timers/promises';
import {
  SyncError,
  isSyncError,
  type LaneContext,
  type LaneReader,
  type Position,
  type ReadItem,
  type Split,
} from 'syncx/plugin-api';
import { Wake, orAborted } from 'syncx/plugin-kit';
import type { ZeroDate } from '../catalog/columns.js';
import { isConnectionLost } from '../connect/mysql-errors.js';
import { openSession, type Endpoint, type Session } from '../connect/session.js';
import { quoteText } from '../sql/names.js';
import { snapshotLock } from './plan/shared-plan.js';
import { readShape, type ReadShape } from './read-shape.js';
import { selectSql } from './select-sql.js';
import { splitSpecOf, type Shape, type SplitPosition, type SplitSpec } from './split-spec.js';
import { SplitStream } from './split-stream.js';

export interface LaneOptions {
  /** By entry of the option `connection`: alternates. */
  readonly connections: readonly (readonly Endpoint[])[];
  readonly where: string | null;
  readonly zeroDate: ZeroDate;
  /** All lanes see one state of the database; the planner holds the lock until every lane has begun. */
  readonly consistent: boolean;
}

/** Tries in a row to get a lost connection back, and the waits before them in ms. */
const RECONNECT_MS: readonly number[] = [0, 500, 1000, 2000, 4000, 8000];

/** A call, as the compiler takes a property that was false before an `await` for false after it. */
const stopped = (signal: AbortSignal): boolean => signal.aborted;

/** Reads splits one after another, each with one SELECT in the order of its key. */
export class MysqlLaneReader implements LaneReader {
  readonly #options: LaneOptions;
  readonly #lane: LaneContext;
  readonly #shapes: readonly Shape[];
  readonly #read: (ReadShape | undefined)[] = [];
  readonly #sessions: (Session | undefined)[] = [];
  readonly #queue: { readonly split: Split; readonly from: Position | null }[] = [];
  readonly #held = new Set<string>();
  readonly #wake = new Wake();
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
        if (next === undefined) {
          await this.#wake.wait();
          continue;
        }
        this.#queue.splice(this.#queue.indexOf(next), 1);
        yield* this.#readSplit(next.split, next.from as SplitPosition | null, signal);
      }
    } catch (e) {
      if (!stopped(signal)) throw e;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async *#readSplit(split: Split, from: SplitPosition | null, signal: AbortSignal): AsyncGenerator<ReadItem> {
    const spec = splitSpecOf(split);
    const shape = this.#shapes[spec.shape];
    if (shape === undefined) throw new SyncError('STATE_MISFIT', `the split ${split.id} is of no table of this job`);
    const read = (this.#read[spec.shape] ??= readShape(shape));
    let position = from;
    for (let tries = 0; !stopped(signal); tries++) {
      const stream: { position: SplitPosition | null } = { position };
      try {
        yield* this.#attempt(split.id, spec, shape, read, stream, signal);
        if (stopped(signal)) return;
        yield {
          is: 'splitEnd',
          splitId: split.id,
          position: endPosition(read, stream.position) as Position,
          outcome: null,
        };
        return;
      } catch (e) {
        if (stopped(signal)) return;
        if (stream.position !== position) tries = 0; // it came further: the next loss is another one
        position = stream.position;
        await this.#mayReconnect(e, read, tries, signal);
      }
    }
  }

  /** One SELECT from `at.position` on, which is moved with every batch that is handed out. */
  async *#attempt(
    splitId: string,
    spec: SplitSpec,
    shape: Shape,
    read: ReadShape,
    at: { position: SplitPosition | null },
    signal: AbortSignal,
  ): AsyncGenerator<ReadItem> {
    const { position } = at;
    const after = position !== null && 'key' in position && position.key.length > 0 ? position.key : null;
    const counted = position !== null && 'rows' in position && position.rows > 0 ? position : null;
    const session = await this.#session(shape.connection, signal);
    const sql = selectSql(read, shape, spec, this.#options.where, after);
    const { batch } = this.#lane;
    const options = { splitId, zeroDate: this.#options.zeroDate, batch, counted };
    const stream = await SplitStream.open(read, session, sql, options, this.#wake);
    while (!stopped(signal)) {
      if (this.#held.has(splitId)) {
        await this.#wake.wait();
        continue;
      }
      const next = stream.next();
      if (next === 'end') return;
      if (next === null) await this.#wake.wait();
      else {
        at.position = stream.position;
        yield next;
      }
    }
  }

  /** Waits before the next try. @throws `e` where another try is of no use, or there were enough. */
  async #mayReconnect(e: unknown, read: ReadShape, tries: number, signal: AbortSignal): Promise<void> {
    const wait = RECONNECT_MS[tries];
    if (!isConnectionLost(e) || wait === undefined) throw e;
    if (this.#options.consistent) {
      throw new SyncError(
        'SOURCE_IO',
        `the connection broke while ${read.name} was read from a snapshot, which is gone with it`,
        {
          cause: e,
          place: read.name,
          retry: 'never',
          hint: 'Start anew with --fresh, or read without `consistent`.',
        },
      );
    }
    const reason = isSyncError(e) ? e.message : String(e);
    this.#lane.log.warn(
      { table: read.name, attempt: tries + 1, error: reason },
      `the connection broke; reading of ${read.name} goes on behind the last row`,
    );
    await sleep(wait, undefined, { signal }).catch(() => undefined);
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
