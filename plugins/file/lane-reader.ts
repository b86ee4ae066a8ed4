import {
  BatchBuilder,
  type BatchTarget,
  type LaneContext,
  type LaneReader,
  type Position,
  type ReadItem,
  type Split,
} from 'syncx/plugin-api';
import { orAborted } from 'syncx/plugin-kit';
import { readSplitSpec, STDIN_SPLIT, type FileSplit } from './file-split.js';
import { STDIN } from './file-list.js';
import type { FileSpec } from './file-spec.js';
import { SplitReading, codecOf, pointOf, type BegunFile, type ReadingOptions } from './split-reading.js';

/** What constant columns add to the rows of a small file mostly fits, too. */
const LEAST_BATCH_BYTES = 16 << 10;

const START: Position = { offset: 0, line: 1 };
const LIVE: FileSplit = { spec: { path: STDIN, size: 0, mtimeNs: '', ino: '' }, range: null, columns: null };

/** Buffers for batches are made at the target's size; thousands of small files would make gigabytes of them. */
function batchTargetFor(o: ReadingOptions, { spec, range }: FileSplit, most: BatchTarget): BatchTarget {
  if (codecOf(o, spec.path) !== 'none') return most;
  const size = range === null ? spec.size : range.to - range.from.offset;
  return { ...most, bytes: Math.min(most.bytes, Math.max(LEAST_BATCH_BYTES, size * 2)) };
}

/** A call, as the compiler takes a property that was false before an `await` for false after it. */
const stopped = (signal: AbortSignal): boolean => signal.aborted;

/** For `catch`: null once the signal is aborted; `read` ends quietly then. */
const unlessStopped =
  (signal: AbortSignal) =>
  (e: unknown): null => {
    if (signal.aborted) return null;
    throw e;
  };

/** Reads files one after another. */
export class FileLaneReader implements LaneReader {
  readonly #options: ReadingOptions;
  readonly #lane: LaneContext;
  readonly #columns: readonly string[] | null;
  readonly #takeBegun: (spec: FileSpec) => BegunFile | null;
  readonly #queue: { readonly split: Split; readonly from: Position | null }[] = [];
  readonly #held = new Set<string>();
  #open: SplitReading | null = null;
  #wake: (() => void) | null = null;

  constructor(
    options: ReadingOptions,
    lane: LaneContext,
    columns: readonly string[] | null,
    takeBegun: (spec: FileSpec) => BegunFile | null,
  ) {
    this.#takeBegun = takeBegun;
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
    const part = live ? LIVE : readSplitSpec(split);
    const { spec, range } = part;
    const target = live ? this.#lane.batch : batchTargetFor(this.#options, part, this.#lane.batch);
    const start = range?.from ?? null;
    const opening = SplitReading.open(
      this.#options,
      spec,
      pointOf(from) ?? start,
      target,
      part.columns ?? this.#columns,
      range === null ? this.#takeBegun(spec) : null,
      range?.to ?? null,
    );
    // An input that has said nothing yet must not keep an abort waiting.
    const reading = await (live ? orAborted(opening, signal).catch(unlessStopped(signal)) : opening);
    if (stopped(signal)) {
      await reading?.close();
      return;
    }
    this.#open = reading;
    let position: Position = from ?? (start === null ? START : { ...start });
    if (reading !== null) {
      const { decoder } = reading;
      const builder = new BatchBuilder(decoder.schema, target);
      // A plain file's bytes are counted by position: what is read ahead, or again after a resume, is not counted twice.
      const counted = (): number => (reading.plain ? decoder.point.offset : reading.consumed);
      const begun = pointOf(from) ?? start;
      let before = begun === null ? 0 : reading.plain ? begun.offset : counted();
      for (let ended = false; !ended && !signal.aborted;) {
        const state = decoder.decode(builder);
        ended = state === 'end';
        if (!builder.empty && (state !== 'hungry' || live)) {
          position = { ...decoder.point };
          const bytes = counted() - before;
          before = counted();
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
    await orAborted(reading.fill(), signal).catch(unlessStopped(signal));
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
