/** Polling: reads what has come above the last value, again and again, window by window. */
import type { JsonValue, Position, ReadItem, RowBatch } from 'syncx/plugin-api';
import { highest, rowsOfValue, type CursorTable } from './cursor/cursor-tables.js';
import { waitForTick, waitForWriters } from './cursor/open-transactions.js';
import { keyType } from './plan/key-predicate.js';
import type { Session } from '../connect/session.js';
import type { ReadShape } from './read-shape.js';
import { SplitReading, type ReadingParts } from './split-reading.js';
import type { CursorPoint, CursorWindow, Shape, SplitPosition, SplitSpec } from './split-spec.js';

/** A value of the column, and which or how many rows of it are read. `rows` null: none of them counts, as startLocation says. */
interface Edge extends CursorPoint {
  readonly rows: number | null;
}

/** All up to `done` is read, and of `window` the rows up to `at`; null: nothing is under way. */
export interface PollPosition {
  readonly done: Edge | null;
  readonly window: { readonly lower: CursorPoint | null; readonly upper: Edge } | null;
  readonly at: SplitPosition | null;
}

const pollJson = (p: PollPosition): Position => p as unknown as JsonValue;
export const pollPosition = (p: Position | null): PollPosition | null => p as unknown as PollPosition | null;

const sameEdge = (a: Edge | null, b: Edge): boolean => JSON.stringify(a) === JSON.stringify(b);
const pointOf = ({ value, keys }: Edge): CursorPoint => ({ value, keys });

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
    this.#table = { shape, column: window.column, rowKey: window.rowKey, where: parts.options.where };
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
      const { lower } = window;
      const spec = { ...this.#spec, window: { ...this.#window, lower, upper: pointOf(window.upper) } };
      yield* this.#rows.rows(spec, at, (p) => pollJson({ done, window, at: p }), signal);
      if (signal.aborted) return;
      this.#position = { done: window.upper, window: null, at: null };
      yield this.#reached();
    }
    this.due = performance.now() + this.#parts.options.polling.intervalMs;
  }

  async #look(signal: AbortSignal): Promise<PollPosition['window']> {
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
  async #next(signal: AbortSignal): Promise<PollPosition['window']> {
    const { done } = this.#position;
    const { options, lane } = this.#parts;
    const session = await this.#parts.session(this.#shape.connection, signal);
    const value = await highest(session, this.#table, done?.value ?? null);
    if (value === null || sameEdge(done, await this.#edgeAt(session, value))) return null;
    await waitForTick(session, keyType(this.#window.column), value, signal);
    await waitForWriters(session, options.polling.waitMs, lane.log, signal);
    const upper = await this.#edgeAt(session, value);
    return { lower: done === null ? null : await this.#above(session, done), upper };
  }

  async #edgeAt(session: Session, value: string): Promise<Edge> {
    return { value, ...(await rowsOfValue(session, this.#table, value)) };
  }

  /** Rows of the last value that cannot be told apart are read again if there are more of them now: better twice than never. */
  async #above(session: Session, done: Edge): Promise<CursorPoint> {
    if (done.keys !== null || done.rows === null) return pointOf(done);
    const now = await this.#edgeAt(session, done.value);
    if (now.rows === done.rows) return pointOf(done);
    const facts = { table: this.#table.shape.table, value: done.value, rows: now.rows };
    this.#parts.lane.log.warn(facts, 'rows of the last value are delivered again: no key tells the new ones apart');
    return { value: done.value, keys: [] };
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
