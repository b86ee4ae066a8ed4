import {
  BatchBuilder,
  type LaneContext,
  type LaneReader,
  type Position,
  type ReadItem,
  type Split,
} from 'syncx/plugin-api';
import { specOfSplit, STDIN_SPLIT } from './planner.js';
import { STDIN } from './file-list.js';
import { SplitReading, pointOf, type ReadingOptions } from './split-reading.js';

const START: Position = { offset: 0, line: 1 };

/** A call, as the compiler takes a property that was false before an `await` for false after it. */
const stopped = (signal: AbortSignal): boolean => signal.aborted;

/** Reads files one after another. */
export class FileLaneReader implements LaneReader {
  readonly #options: ReadingOptions;
  readonly #lane: LaneContext;
  readonly #columns: readonly string[] | null;
  readonly #queue: { readonly split: Split; readonly from: Position | null }[] = [];
  readonly #held = new Set<string>();
  #open: SplitReading | null = null;
  #wake: (() => void) | null = null;

  constructor(options: ReadingOptions, lane: LaneContext, columns: readonly string[] | null) {
    this.#options = options;
    this.#lane = lane;
    this.#columns = columns;
  }

  assign(split: Split, from: Position | null): void {
    this.#queue.push({ split, from });
    this.#wake?.();
  }

  hold(splitIds: readonly string[]): void {
    for (const id of splitIds) this.#held.add(id);
  }

  release(splitIds: readonly string[]): void {
    for (const id of splitIds) this.#held.delete(id);
    this.#wake?.();
  }

  async *read(signal: AbortSignal): AsyncGenerator<ReadItem> {
    const onAbort = (): void => this.#wake?.();
    signal.addEventListener('abort', onAbort);
    try {
      while (!signal.aborted) {
        const next = this.#queue.find((q) => !this.#held.has(q.split.id));
        if (next === undefined) {
          await this.#woken();
          continue;
        }
        this.#queue.splice(this.#queue.indexOf(next), 1);
        yield* this.#readSplit(next.split, next.from, signal);
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      await this.#close();
    }
  }

  async *#readSplit(split: Split, from: Position | null, signal: AbortSignal): AsyncGenerator<ReadItem> {
    const live = split.id === STDIN_SPLIT.id;
    const spec = live ? { path: STDIN, size: 0, mtimeNs: '', ino: '' } : specOfSplit(split);
    const reading = await SplitReading.open(this.#options, spec, pointOf(from), this.#lane.batch, this.#columns);
    this.#open = reading;
    let position: Position = from ?? START;
    if (reading !== null) {
      const { decoder } = reading;
      const builder = new BatchBuilder(decoder.schema, this.#lane.batch);
      let consumed = 0;
      for (let ended = false; !ended && !signal.aborted;) {
        const state = decoder.decode(builder);
        ended = state === 'end';
        if (!builder.empty && (state !== 'hungry' || live)) {
          position = { ...decoder.point };
          const bytes = reading.consumed - consumed;
          consumed = reading.consumed;
          await this.#released(split.id, signal);
          if (stopped(signal)) return;
          yield builder.finish(split.id, position, bytes);
        }
        if (state === 'hungry') await (live ? this.#fillLive(reading, signal) : reading.fill());
        if (ended) position = { ...decoder.point };
      }
      await this.#close();
    }
    await this.#released(split.id, signal);
    if (!stopped(signal)) yield { is: 'splitEnd', splitId: split.id, position, outcome: null };
  }

  /** An input that says nothing must not keep an abort waiting. */
  async #fillLive(reading: SplitReading, signal: AbortSignal): Promise<void> {
    const filled = reading.fill();
    filled.catch(() => undefined); // told by the race, unless the abort was first
    let onAbort = (): void => undefined;
    const aborted = new Promise<void>((resolve) => (onAbort = resolve));
    signal.addEventListener('abort', onAbort);
    try {
      await Promise.race([filled, aborted]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #released(splitId: string, signal: AbortSignal): Promise<void> {
    while (this.#held.has(splitId) && !signal.aborted) await this.#woken();
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = null;
        resolve();
      };
    });
  }

  async #close(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    await open?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#wake?.();
    await this.#close();
  }
}
