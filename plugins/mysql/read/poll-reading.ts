/** Polling: reads what has come above the last value, again and again, window by window. */
import type { JsonValue, Position, ReadItem, RowBatch } from 'syncx/plugin-api';
import { highest, type CursorTable } from './cursor/cursor-tables.js';
import { isNew, newestRows, type Newest } from './cursor/newest-rows.js';
import { waitForTick, waitForWriters } from './cursor/open-transactions.js';
import { keyType } from './plan/key-predicate.js';
import type { Session } from '../connect/session.js';
import type { ReadShape } from './read-shape.js';
import { SplitReading, type ReadingParts } from './split-reading.js';
import type { CursorFloor, CursorPoint, CursorWindow, Shape, SplitPosition, SplitSpec } from './split-spec.js';

/** `rows`: of a point without a tail, how many rows had the value; null: none of them counts, as startLocation says. */
interface Edge extends CursorPoint {
  readonly rows: number | null;
}

/** What lies above `done`; `again`: with the rows of its value. */
interface PollWindow {
  readonly again: boolean;
  readonly upper: Edge;
}

/** All up to `done` is read, and of `window` the rows up to `at`; null: nothing is under way. */
export interface PollPosition {
  readonly done: Edge | null;
  readonly window: PollWindow | null;
  readonly at: SplitPosition | null;
}

const pollJson = (p: PollPosition): Position => p as unknown as JsonValue;
export const pollPosition = (p: Position | null): PollPosition | null => p as unknown as PollPosition | null;

const pointOf = ({ value, own, tail }: Edge): CursorPoint => ({ value, own, tail });

/** Below it nothing is told apart. */
function floorOf(done: Edge | null): CursorFloor | null {
  if (done === null) return null;
  return done.tail === null ? { value: done.value, too: !done.own || done.rows !== null } : done.tail.floor;
}

export class PollReading {
  readonly #parts: ReadingParts;
  readonly #splitId: string;
  readonly #spec: SplitSpec;
  readonly #window: CursorWindow;
  readonly #table: CursorTable;
  readonly #shape: Shape;
  readonly #rows: SplitReading;
  #position: PollPosition;
  /** When the next poll is due, by performance.now(). */
  due = 0;

  constructor(
    parts: ReadingParts,
    splitId: string,
    spec: SplitSpec,
    window: CursorWindow,
    shape: Shape,
    read: ReadShape,
    from: PollPosition | null,
  ) {
    this.#parts = parts;
    this.#splitId = splitId;
    this.#spec = spec;
    this.#window = window;
    this.#shape = shape;
    this.#table = { shape, column: window.column, rowKey: window.rowKey, where: parts.options.where, end: null };
    this.#rows = new SplitReading(parts, splitId, shape, read);
    const { lower } = window;
    this.#position = from ?? { done: lower === null ? null : { ...lower, rows: null }, window: null, at: null };
  }

  get held(): boolean {
    return this.#parts.held(this.#splitId);
  }

  /** One poll: the rest of the window that was begun, or the next one. Ends quietly on abort. */
  async *poll(signal: AbortSignal): AsyncGenerator<ReadItem> {
    const { done, at } = this.#position;
    const window = this.#position.window ?? (await this.#look(signal));
    if (window !== null) {
      const lower = done === null ? null : window.again ? { ...pointOf(done), own: false } : pointOf(done);
      const spec = { ...this.#spec, window: { ...this.#window, lower, upper: pointOf(window.upper) } };
      yield* this.#rows.rows(spec, at, (p) => pollJson({ done, window, at: p }), signal);
      if (signal.aborted) return;
      this.#position = { done: window.upper, window: null, at: null };
      yield this.#reached();
    }
    this.due = performance.now() + this.#parts.options.polling.intervalMs;
  }

  async #look(signal: AbortSignal): Promise<PollWindow | null> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.#next(signal);
      } catch (e) {
        signal.throwIfAborted();
        await this.#rows.mayReconnect(e, tries, signal);
      }
    }
  }

  /** What has come since; null: nothing. */
  async #next(signal: AbortSignal): Promise<PollWindow | null> {
    const { done } = this.#position;
    const { options, lane } = this.#parts;
    const session = await this.#parts.session(this.#shape.connection, signal);
    const top = await highest(session, this.#table, done?.value ?? null);
    // Where the newest rows are gone, others may have come below them.
    const value = top ?? (done === null || done.tail === null ? null : done.value);
    if (value === null || (done !== null && !isNew(await this.#newest(session, value), done))) return null;
    await waitForTick(session, keyType(this.#window.column), value, signal);
    await waitForWriters(session, options.polling.waitMs, lane.log, signal);
    const upper = { ...(await this.#newest(session, value)), own: true };
    return { again: await this.#again(session), upper };
  }

  #newest(session: Session, value: string): Promise<Newest> {
    return newestRows(session, this.#table, value, floorOf(this.#position.done));
  }

  /** Rows of the last value that cannot be told apart are read again if there are more of them now: better twice than never. */
  async #again(session: Session): Promise<boolean> {
    const { done } = this.#position;
    if (done === null || done.tail !== null || done.rows === null) return false;
    const { rows } = await newestRows(session, this.#table, done.value, { value: done.value, too: true });
    if (rows === done.rows) return false;
    const facts = { table: this.#table.shape.table, value: done.value, rows };
    this.#parts.lane.log.warn(facts, 'rows of the last value are delivered again: no key tells the new ones apart');
    return true;
  }

  /** Progress without rows: a checkpoint may note that the window is read to its end. */
  #reached(): RowBatch {
    return {
      is: 'batch',
      splitId: this.#splitId,
      sections: [],
      rows: 0,
      data: new Uint8Array(0),
      ends: new Uint32Array(0),
      ops: null,
      position: pollJson(this.#position),
      eventTimes: null,
      rejected: null,
      sourceBytes: 0,
    };
  }
}
