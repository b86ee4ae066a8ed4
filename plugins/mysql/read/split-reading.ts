import { setTimeout as sleep } from 'node:timers/promises';
import { SyncError, isSyncError, type LaneContext, type Position, type RowBatch } from 'syncx/plugin-api';
import type { Wake } from 'syncx/plugin-kit';
import { isConnectionLost } from '../connect/mysql-errors.js';
import type { Session } from '../connect/session.js';
import type { LaneOptions } from './lane-options.js';
import { chosenScan, type Scan } from './pinned-scan.js';
import type { ReadShape } from './read-shape.js';
import { selectSql } from './select-sql.js';
import type { Shape, SplitPosition, SplitSpec } from './split-spec.js';
import { SplitStream } from './split-stream.js';

/** What a lane lends to those who read its splits. */
export interface ReadingParts {
  readonly options: LaneOptions;
  readonly lane: LaneContext;
  readonly wake: Wake;
  held(splitId: string): boolean;
  /** An open one; another one where the last was lost. */
  session(connection: number, signal: AbortSignal): Promise<Session>;
}

/** Tries in a row to get a lost connection back: the waits before them in ms. */
const RECONNECT_MS: readonly number[] = [0, 500, 1000, 2000, 4000, 8000];

/** Rows go through a batch of this size while it is in the processor's cache; of 1 MiB they take a sixth more time. */
const BATCH_BYTES = 512 << 10;

/** A call, as the compiler takes a property that was false before an `await` for false after it. */
const stopped = (signal: AbortSignal): boolean => signal.aborted;

/** Reads the rows of a split by one SELECT, and by another from the last row on where the connection breaks. */
export class SplitReading {
  readonly #p: ReadingParts;
  readonly #splitId: string;
  readonly #shape: Shape;
  readonly #read: ReadShape;

  constructor(parts: ReadingParts, splitId: string, shape: Shape, read: ReadShape) {
    this.#p = parts;
    this.#splitId = splitId;
    this.#shape = shape;
    this.#read = read;
  }

  /**
   * Batches behind `from`, with positions as `show` makes them; ends quietly on abort.
   * @returns the position of the last row; null: there was none, and no `from`.
   */
  async *rows(
    spec: SplitSpec,
    from: SplitPosition | null,
    show: (p: SplitPosition) => Position,
    signal: AbortSignal,
  ): AsyncGenerator<RowBatch, SplitPosition | null> {
    const at = { position: from };
    for (let tries = 0; !stopped(signal); tries++) {
      const before = at.position;
      try {
        yield* this.#attempt(spec, at, show, signal);
        return at.position;
      } catch (e) {
        if (stopped(signal)) return at.position;
        if (at.position !== before) tries = 0; // it came further: the next loss is another one
        await this.mayReconnect(e, tries, signal);
      }
    }
    return at.position;
  }

  /** One SELECT from `at.position` on, which is moved with every batch that is handed out. */
  async *#attempt(
    spec: SplitSpec,
    at: { position: SplitPosition | null },
    show: (p: SplitPosition) => Position,
    signal: AbortSignal,
  ): AsyncGenerator<RowBatch> {
    const { options, lane, wake } = this.#p;
    const { position } = at;
    const after = position !== null && 'key' in position && position.key.length > 0 ? position.key : null;
    const counted = position !== null && 'rows' in position && position.rows > 0 ? position : null;
    const session = await this.#p.session(this.#shape.connection, signal);
    const scan = counted === null ? await this.#chosenScan(session, spec) : counted.scan;
    const sql = selectSql(this.#read, this.#shape, spec, options.where, after, scan);
    const batch = { ...lane.batch, bytes: Math.min(lane.batch.bytes, BATCH_BYTES) };
    const streaming = { splitId: this.#splitId, zeroDate: options.zeroDate, batch, counted, scan };
    const stream = await SplitStream.open(this.#read, session, sql, streaming, wake);
    while (!stopped(signal)) {
      if (this.#p.held(this.#splitId)) {
        await wake.wait();
        continue;
      }
      const next = stream.next();
      if (next === 'end') return;
      if (next === null) await wake.wait();
      else {
        const { position: reached, batch } = next;
        at.position = reached;
        yield { ...batch, position: show(reached) };
      }
    }
  }

  /** Of rows with an order of their own it is left to the server. */
  async #chosenScan(session: Session, spec: SplitSpec): Promise<Scan | undefined> {
    if (this.#read.key.length > 0) return undefined;
    const sql = selectSql(this.#read, this.#shape, spec, this.#p.options.where, null);
    return chosenScan(session, this.#shape, sql);
  }

  /** Waits before the next try. @throws `e` where another try is of no use, or there were enough. */
  async mayReconnect(e: unknown, tries: number, signal: AbortSignal): Promise<void> {
    const { name } = this.#read;
    const wait = RECONNECT_MS[tries];
    if (!isConnectionLost(e) || wait === undefined) throw e;
    if (this.#p.options.consistent) {
      throw new SyncError(
        'SOURCE_IO',
        `the connection broke while ${name} was read from a snapshot, which is gone with it`,
        {
          cause: e,
          place: name,
          retry: 'never',
          hint: 'Run the job again: it goes on where nothing was written since. Else start anew with --fresh, or read without `consistent`.',
        },
      );
    }
    const error = isSyncError(e) ? e.message : String(e);
    const message = `the connection broke; reading of ${name} goes on behind the last row`;
    this.#p.lane.log.warn({ table: name, attempt: tries + 1, error }, message);
    await sleep(wait, undefined, { signal }).catch(() => undefined);
  }
}
