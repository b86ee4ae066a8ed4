import {
  SyncError,
  toSyncError,
  type LaneContext,
  type LaneReader,
  type Position,
  type ReadItem,
  type Split,
} from 'syncx/plugin-api';
import { Wake } from 'syncx/plugin-kit';
import { isStaleLeader } from '../client/broker-errors.js';
import type { FetchedPartition, KafkaClient } from '../client/kafka-client.js';
import { partitionError } from '../client/partition-error.js';
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

/** How long a broker may wait for records. */
const WAIT_MS = 500;
/** Of an answer of one broker. */
const ANSWER_BYTES = 8 << 20;
/** Before a partition without a leader is asked for again; it doubles, up to the last. */
const PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** Failures in a row after which a job does not hope for the partition any longer. */
const MOST_FAILURES = 30;

/** A call, as the compiler takes a property that was false before an `await` for false after it. */
const stopped = (signal: AbortSignal): boolean => signal.aborted;

/**
 * Reads the partitions that were assigned, all of them at once: of each broker one fetch is under way, whose answer waits
 * until its rows are wanted, so that memory is bounded by the brokers and a slow writer pauses all fetches.
 */
export class KafkaLaneReader implements LaneReader {
  readonly #client: KafkaClient;
  readonly #lane: LaneContext;
  readonly #o: LaneReading;
  readonly #partitions = new Map<string, PartitionReading>();
  /** Nodes that are being asked. */
  readonly #asking = new Set<number>();
  readonly #answers: { readonly of: PartitionReading; readonly fetched: FetchedPartition }[] = [];
  readonly #wake = new Wake();
  readonly #closing = new AbortController();
  #failure: unknown = null;

  constructor(client: KafkaClient, lane: LaneContext, options: LaneReading) {
    this.#client = client;
    this.#lane = lane;
    this.#o = options;
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
    this.#answers.push({ of, fetched });
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
        this.#ask(signal);
        const next = this.#answers.findIndex((a) => !a.of.held);
        const [answer] = next < 0 ? [] : this.#answers.splice(next, 1);
        if (answer !== undefined) yield* this.#deliver(answer.of, answer.fetched, signal);
        else {
          for (const p of this.#finished()) yield p.end();
          if (this.#failure !== null) throw this.#failure as Error;
          await this.#wake.wait(this.#untilDue());
        }
      }
    } catch (e) {
      if (!stopped(signal)) throw e;
    } finally {
      signal.removeEventListener('abort', this.#wake.ring);
    }
  }

  #finished(): readonly PartitionReading[] {
    return [...this.#partitions.values()].filter((p) => p.done && !p.ended && !p.held && p.answers === 0);
  }

  async *#deliver(of: PartitionReading, fetched: FetchedPartition, signal: AbortSignal): AsyncGenerator<ReadItem> {
    // While it failed the topic may have been made anew, and have grown past the offset.
    const renewed = fetched.error === null && of.failures > 0 && (await this.#isRenewed(of, signal));
    if (fetched.error === null && !renewed) {
      of.failures = 0;
      for await (const batch of of.batches(fetched)) {
        while (of.held && !stopped(signal)) await this.#wake.wait();
        if (stopped(signal)) return;
        yield batch;
      }
    } else {
      if (renewed || fetched.error === 'OFFSET_OUT_OF_RANGE' || fetched.error === RENEWED) await this.#gone(of, signal);
      else this.#failed(of, fetched.error ?? '');
      of.broken = false;
    }
    of.answers--;
  }

  /** Starts a fetch at each broker that leads one of the partitions that may be read, and is not being asked. */
  #ask(signal: AbortSignal): void {
    const now = performance.now();
    const ready = [...this.#partitions.values()].filter((p) => p.mayAsk(now));
    for (const p of ready) p.asking = true;
    if (ready.length > 0)
      void this.#askLeaders(ready, signal).catch((e: unknown) => {
        this.#unheard(ready, e, signal);
      });
  }

  async #askLeaders(ready: readonly PartitionReading[], signal: AbortSignal): Promise<void> {
    const led = new Map<number, PartitionReading[]>();
    for (const p of ready) {
      const node = await this.#client.leaderOf(p.spec, signal);
      const of = led.get(node);
      if (of === undefined) led.set(node, [p]);
      else of.push(p);
    }
    await Promise.all([...led].map(([node, of]) => this.#fetch(node, of, signal)));
  }

  async #fetch(node: number, of: readonly PartitionReading[], signal: AbortSignal): Promise<void> {
    if (this.#asking.has(node)) {
      for (const p of of) p.asking = false; // with the next one
      return;
    }
    this.#asking.add(node);
    try {
      const queries = of.map((p) => ({ ...p.spec, offset: p.fetchOffset, maxBytes: p.maxBytes }));
      const maxBytes = Math.max(ANSWER_BYTES, ...of.map((p) => p.maxBytes));
      const { committedOnly } = this.#o;
      const answer = await this.#client.fetch(
        node,
        queries,
        { maxWaitMs: WAIT_MS, minBytes: 1, maxBytes, committedOnly },
        signal,
      );
      for (const p of of) {
        const fetched = answer.find((f) => f.topic === p.spec.topic && f.partition === p.spec.partition);
        p.asking = false;
        if (fetched === undefined || (fetched.error === null && fetched.records.length === 0)) continue;
        p.answered(fetched);
        this.#answers.push({ of: p, fetched });
      }
    } finally {
      this.#asking.delete(node);
      this.#wake.ring();
    }
  }

  /** No answer came. A broker that is away for a while is waited for. */
  #unheard(of: readonly PartitionReading[], e: unknown, signal: AbortSignal): void {
    if (stopped(signal)) return;
    const error = toSyncError(e, 'SOURCE_IO');
    for (const p of of) {
      if (!p.asking) continue;
      p.asking = false;
      p.failures++;
      if (error.retry === 'never' || p.failures > MOST_FAILURES) this.#failure ??= error;
      else this.#pause(p, error.message);
    }
    this.#wake.ring();
  }

  /** The leader has moved, or there is none for now. */
  #failed(of: PartitionReading, word: string): void {
    of.failures++;
    if (isStaleLeader(word) && of.failures <= MOST_FAILURES) this.#pause(of, word);
    else throw partitionError('source', of.spec, word);
  }

  #pause(of: PartitionReading, why: string): void {
    of.notBefore = performance.now() + Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** (of.failures - 1));
    const fields = { partition: of.name, error: why };
    if (of.failures === 1) this.#lane.log.info(fields, `${of.name} cannot be read just now: ${why}`);
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
  }

  /** Undefined: only a ring changes anything. */
  #untilDue(): number | undefined {
    const now = performance.now();
    const waits = [...this.#partitions.values()].filter((p) => p.notBefore > now).map((p) => p.notBefore - now);
    return waits.length === 0 ? undefined : Math.max(1, Math.ceil(Math.min(...waits)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#wake.ring();
    await this.#client[Symbol.asyncDispose]();
  }
}
