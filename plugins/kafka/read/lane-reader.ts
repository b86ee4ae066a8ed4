import {
  SOURCE_LAG,
  SyncError,
  type Gauge,
  type LaneContext,
  type LaneReader,
  type Position,
  type ReadItem,
  type RowBatch,
  type Split,
} from 'syncx/plugin-api';
import { Wake } from 'syncx/plugin-kit';
import type { FetchedPartition, KafkaClient } from '../client/kafka-client.js';
import { Fetches } from './fetches.js';
import { PartitionReading } from './partition-reading.js';
import type { RecordRows } from './rows/record-rows.js';
import { offsetOf, specOf, topicIdOf, type PartitionSpec } from './split-spec.js';
import { madeAnew } from './topics.js';

export interface LaneReading {
  readonly committedOnly: boolean;
  /** What to do where the record to go on with is no longer there. */
  readonly whenGone: 'fail' | 'earliest' | 'latest';
  /** Ids of the topics when the lanes began, by name; null, or none: not known. */
  readonly topicIds: Readonly<Record<string, string | null>>;
  rows(topic: string, partition: number): RecordRows;
}

/** In place of an answer, where the topic is another one than the offset is of. */
const RENEWED = 'INCONSISTENT_TOPIC_ID';
const NOTHING = { highWatermark: -1, lastStableOffset: -1, logStartOffset: -1, aborted: [], records: Buffer.alloc(0) };

/** How often the lag is told while there is something to read. */
const LAG_MS = 250;

/** A call, as the compiler takes a property that was false before an `await` for false after it. */
const stopped = (signal: AbortSignal): boolean => signal.aborted;

/** What a broker has sent of one partition, and the batches of it that are made one after the other. */
interface Answer {
  readonly of: PartitionReading;
  readonly fetched: FetchedPartition;
  /** The first one after a failure: while that lasted the topic may have been made anew, and have grown past the offset. */
  readonly doubtful: boolean;
  batches: AsyncIterator<RowBatch> | null;
  /** Made, and not delivered: the partition was held meanwhile. */
  made: RowBatch | null;
}

/**
 * Reads the partitions that were assigned, all of them at once. Answers wait until their rows are wanted, so that memory is
 * bounded by the brokers and a slow writer pauses all fetches.
 */
export class KafkaLaneReader implements LaneReader {
  readonly #client: KafkaClient;
  readonly #lane: LaneContext;
  readonly #o: LaneReading;
  readonly #partitions = new Map<string, PartitionReading>();
  readonly #answers: Answer[] = [];
  readonly #wake = new Wake();
  readonly #closing = new AbortController();
  readonly #fetches: Fetches;
  readonly #lag: Gauge;
  #lagTold = 0;

  constructor(client: KafkaClient, lane: LaneContext, options: LaneReading) {
    this.#client = client;
    this.#lane = lane;
    this.#o = options;
    this.#lag = lane.metrics.gauge(SOURCE_LAG);
    this.#fetches = new Fetches({
      client,
      log: lane.log,
      committedOnly: options.committedOnly,
      wake: this.#wake,
      answered: (of, fetched) => {
        this.#answers.push({ of, fetched, doubtful: of.doubtful, batches: null, made: null });
        of.doubtful &&= fetched.error !== null;
        // Behind the others in the next request: an answer may have no room for all.
        this.#partitions.delete(of.splitId);
        this.#partitions.set(of.splitId, of);
      },
    });
  }

  assign(split: Split, from: Position | null): void {
    const spec: PartitionSpec = specOf(split);
    const rows = this.#o.rows(spec.topic, spec.partition);
    const { committedOnly } = this.#o;
    const offset = from === null ? null : offsetOf(from);
    const reading = new PartitionReading(split.id, spec, offset, rows, { target: this.#lane.batch, committedOnly });
    this.#partitions.set(split.id, reading);
    const now = this.#o.topicIds[spec.topic] ?? null;
    reading.topicId = (from === null ? spec.topicId : topicIdOf(from)) ?? now;
    if (now !== null && reading.topicId !== now) this.#renewed(reading);
    this.#wake.ring();
  }

  #renewed(of: PartitionReading): void {
    const { topic, partition } = of.spec;
    const fetched = { topic, partition, error: RENEWED, ...NOTHING };
    of.answered(fetched);
    this.#answers.push({ of, fetched, doubtful: false, batches: null, made: null });
  }

  hold(splitIds: readonly string[]): void {
    this.#setHeld(splitIds, true);
  }

  release(splitIds: readonly string[]): void {
    this.#setHeld(splitIds, false);
    this.#wake.ring();
  }

  #setHeld(splitIds: readonly string[], held: boolean): void {
    for (const id of splitIds) {
      const reading = this.#partitions.get(id);
      if (reading !== undefined) reading.held = held;
    }
  }

  async *read(outer: AbortSignal): AsyncGenerator<ReadItem> {
    const signal = AbortSignal.any([outer, this.#closing.signal]);
    signal.addEventListener('abort', this.#wake.ring);
    try {
      while (!stopped(signal)) {
        const now = performance.now();
        this.#fetches.ask(this.#partitions.values(), now, signal);
        const answer = this.#answers.find((a) => !a.of.held);
        if (answer !== undefined) {
          const batch = await this.#nextOf(answer, signal);
          if (batch !== null && !stopped(signal)) yield batch;
          this.#tellLag(LAG_MS);
        } else {
          this.#tellLag(0);
          for (const p of this.#finished()) yield p.end();
          this.#fetches.throwIfFailed();
          await this.#wake.wait(this.#untilDue(now));
        }
      }
    } catch (e) {
      if (!stopped(signal)) throw e;
    } finally {
      signal.removeEventListener('abort', this.#wake.ring);
    }
  }

  /** Unless it was told less than so many ms ago. */
  #tellLag(ms: number): void {
    const now = performance.now();
    if (now - this.#lagTold < ms) return;
    this.#lagTold = now;
    let lag = 0;
    for (const p of this.#partitions.values()) lag += p.lag;
    this.#lag.set(lag);
  }

  #finished(): readonly PartitionReading[] {
    return [...this.#partitions.values()].filter((p) => p.done && !p.ended && !p.held && p.answers === 0);
  }

  /** Null: it is at its end, or its partition is held by now, and has its turn later. */
  async #nextOf(answer: Answer, signal: AbortSignal): Promise<RowBatch | null> {
    const { of, fetched } = answer;
    const isFirst = fetched.error === null && answer.batches === null;
    const renewed = isFirst && answer.doubtful && (await this.#isRenewed(of, signal));
    if (fetched.error === null && !renewed) {
      answer.batches ??= of.batches(fetched);
      if (answer.made === null) {
        const next = await answer.batches.next();
        if (next.done !== true) answer.made = next.value;
      }
      const batch = answer.made;
      if (batch !== null) {
        if (of.held) return null;
        answer.made = null;
        return batch;
      }
      of.failures = 0;
    } else {
      if (renewed || fetched.error === 'OFFSET_OUT_OF_RANGE' || fetched.error === RENEWED) await this.#gone(of, signal);
      else this.#fetches.failed(of, fetched.error ?? '');
      of.broken = false;
    }
    this.#answers.splice(this.#answers.indexOf(answer), 1);
    of.answers--;
    return null;
  }

  async #topicIdNow(topic: string, signal: AbortSignal): Promise<string | null> {
    return (await this.#client.metadata([topic], signal)).topics[0]?.id ?? null;
  }

  async #isRenewed(of: PartitionReading, signal: AbortSignal): Promise<boolean> {
    const now = await this.#topicIdNow(of.spec.topic, signal);
    return now !== null && of.topicId !== null && of.topicId !== now;
  }

  /** @throws SyncError SOURCE_MISSING, or SOURCE_CHANGED of a topic that was made anew, unless the job says where to go on. */
  async #gone(of: PartitionReading, signal: AbortSignal): Promise<void> {
    const { topic, partition } = of.spec;
    const isolation = this.#o.committedOnly ? 'committed' : 'uncommitted';
    const [first, last] = await this.#client.listOffsets(
      [
        { topic, partition, at: 'earliest' },
        { topic, partition, at: 'latest' },
      ],
      isolation,
      signal,
    );
    const [from, to] = [first?.offset ?? 0, last?.offset ?? 0];
    const wanted = of.offset;
    const id = await this.#topicIdNow(topic, signal);
    const anew = id !== null && of.topicId !== null && of.topicId !== id;
    const facts = { partition: of.name, wanted, from, to };
    const range = `there are ${String(from)} to ${String(to)}`;
    if (this.#o.whenGone === 'fail' && anew) throw madeAnew(topic, of.topicId ?? '', id);
    if (this.#o.whenGone === 'fail') {
      throw new SyncError('SOURCE_MISSING', `${of.name} has no record at offset ${String(wanted)}: ${range}`, {
        place: of.name,
        retry: 'never',
        hint: 'Records were deleted, or the topic was made anew. offsetGone says where to go on: earliest or latest.',
      });
    }
    const next = this.#o.whenGone === 'earliest' ? from : to;
    const lost = anew
      ? `the topic was made anew (its id was ${of.topicId ?? ''} and is ${id})`
      : next > wanted
        ? `${String(next - wanted)} records (${String(wanted)}-${String(next - 1)}) are gone`
        : `it was made anew`;
    this.#lane.log.warn(facts, `${of.name} goes on at offset ${String(next)}: ${lost}`);
    of.topicId = id;
    of.failures = 0;
    of.moveTo(next);
    // What else has come of it is from behind the offset that is given up.
    for (const a of this.#answers.filter((x) => x.of === of).slice(1)) {
      this.#answers.splice(this.#answers.indexOf(a), 1);
      of.answers--;
    }
  }

  /**
   * @param asked when partitions were asked for the last time: what has come due since then was not.
   * @returns undefined: only a ring changes anything.
   */
  #untilDue(asked: number): number | undefined {
    const waits = [...this.#partitions.values()].filter((p) => p.notBefore > asked).map((p) => p.notBefore - asked);
    return waits.length === 0 ? undefined : Math.ceil(Math.min(...waits));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#wake.ring();
    await this.#client[Symbol.asyncDispose]();
  }
}
