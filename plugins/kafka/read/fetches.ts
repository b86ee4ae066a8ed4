import { toSyncError, type LaneContext } from 'syncx/plugin-api';
import type { Wake } from 'syncx/plugin-kit';
import { isStaleLeader } from '../client/broker-errors.js';
import type { FetchedPartition, KafkaClient } from '../client/kafka-client.js';
import { partitionError } from '../client/partition-error.js';
import type { PartitionReading } from './partition-reading.js';

/** How long a broker may wait for records. */
const WAIT_MS = 500;
/** Of an answer of one broker. */
const ANSWER_BYTES = 8 << 20;
/** Before a partition without a leader is asked for again; it doubles, up to the last. */
const PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** Failures in a row after which a job does not hope for the partition any longer. */
const MOST_FAILURES = 30;

export interface FetchesParts {
  readonly client: KafkaClient;
  readonly log: LaneContext['log'];
  readonly committedOnly: boolean;
  /** Rung when something has come, or gone wrong. */
  readonly wake: Wake;
  /** An answer with records, or with the broker's word. */
  answered(of: PartitionReading, fetched: FetchedPartition): void;
}

/**
 * Asks brokers for records: of each one fetch is under way, for all partitions that it leads and that have room. None waits for
 * records of some partitions while another one, which it must leave out, is about to have room.
 */
export class Fetches {
  readonly #p: FetchesParts;
  /** Nodes that are being asked. */
  readonly #asking = new Set<number>();
  /** Topics whose leaders are being looked for. */
  readonly #looking = new Set<string>();
  /** By topic and partition, of all partitions of the topics: those that are assigned later need not be looked for. */
  readonly #leaders = new Map<string, Map<number, number>>();
  #failure: unknown = null;

  constructor(parts: FetchesParts) {
    this.#p = parts;
  }

  /** @throws what ends the reading. */
  throwIfFailed(): void {
    if (this.#failure !== null) throw this.#failure as Error;
  }

  /** Starts what may be started. @param now ms of `performance.now`. */
  ask(partitions: Iterable<PartitionReading>, now: number, signal: AbortSignal): void {
    const led = new Map<number, PartitionReading[]>();
    const lost = new Map<string, PartitionReading[]>();
    /** Nodes of partitions that wait for the lane to read what has come. */
    const full = new Set<number>();
    for (const p of partitions) {
      p.leader ??= this.#leaders.get(p.spec.topic)?.get(p.spec.partition) ?? null;
      if (p.full && p.leader !== null) full.add(p.leader);
      if (!p.mayAsk(now)) continue;
      if (p.leader === null) put(lost, p.spec.topic, p);
      else put(led, p.leader, p);
    }
    for (const [topic, of] of lost)
      if (!this.#looking.has(topic)) this.#start(of, this.#look(topic, of, signal), signal);
    for (const [node, of] of led) {
      if (this.#asking.has(node) || (full.has(node) && of.every((p) => p.idle))) continue;
      // More partitions may be assigned a moment after the first ones.
      const atOnce = full.has(node) || of.some((p) => p.fresh);
      this.#start(of, this.#fetch(node, of, atOnce ? 0 : WAIT_MS, signal), signal);
    }
  }

  #start(of: readonly PartitionReading[], asked: Promise<void>, signal: AbortSignal): void {
    for (const p of of) p.asking = true;
    void asked
      .catch((e: unknown) => {
        if (!signal.aborted) this.#unheard(of, e);
      })
      .finally(() => {
        for (const p of of) p.asking = false;
        this.#p.wake.ring();
      });
  }

  /** One that has no leader now holds up none that has one. */
  async #look(topic: string, of: readonly PartitionReading[], signal: AbortSignal): Promise<void> {
    this.#looking.add(topic);
    try {
      const { topics } = await this.#p.client.metadata([topic], signal);
      const [found] = topics;
      const led = (found?.partitions ?? []).filter(({ leader }) => leader >= 0);
      const leaders = new Map(led.map(({ partition, leader }) => [partition, leader]));
      this.#leaders.set(topic, leaders);
      for (const p of of) {
        if (!leaders.has(p.spec.partition))
          this.#stale(p, found?.error ?? (found === undefined ? 'UNKNOWN_TOPIC_OR_PARTITION' : 'LEADER_NOT_AVAILABLE'));
      }
    } finally {
      this.#looking.delete(topic);
    }
  }

  async #fetch(node: number, of: readonly PartitionReading[], maxWaitMs: number, signal: AbortSignal): Promise<void> {
    this.#asking.add(node);
    try {
      const jumps = of.map((p) => p.jumps);
      const queries = of.map((p) => ({ ...p.spec, offset: p.fetchOffset, maxBytes: p.maxBytes }));
      const maxBytes = Math.max(ANSWER_BYTES, ...of.map((p) => p.maxBytes));
      const { committedOnly, client } = this.#p;
      const answer = await client.fetch(node, queries, { maxWaitMs, minBytes: 1, maxBytes, committedOnly }, signal);
      const bytes = answer.reduce((n, f) => n + f.records.length, 0);
      // Of a large answer the broker may have left something out.
      const whole = bytes * 2 < maxBytes;
      const byName = new Map(answer.map((f) => [`${f.topic} ${String(f.partition)}`, f]));
      for (const [i, p] of of.entries()) {
        if (p.jumps !== jumps[i]) continue;
        p.fresh = false;
        const fetched = byName.get(`${p.spec.topic} ${String(p.spec.partition)}`);
        if (fetched === undefined) continue;
        p.sees(fetched);
        if (fetched.error === null && fetched.records.length === 0) {
          p.idle = whole;
          p.failures = 0;
          continue;
        }
        p.idle = false;
        p.answered(fetched);
        this.#p.answered(p, fetched);
      }
    } finally {
      this.#asking.delete(node);
    }
  }

  /** No answer came. A broker that is away for a while is waited for. */
  #unheard(of: readonly PartitionReading[], e: unknown): void {
    const error = toSyncError(e, 'SOURCE_IO');
    for (const p of of) {
      this.#forget(p);
      if (error.retry === 'never' || ++p.failures > MOST_FAILURES) this.#failure ??= error;
      else this.#pause(p, error.message);
    }
  }

  #stale(p: PartitionReading, word: string): void {
    try {
      this.failed(p, word);
    } catch (e) {
      this.#failure ??= e;
    }
  }

  /** The leader has moved, or there is none for now. @throws SyncError where that is not so, or too often. */
  failed(p: PartitionReading, word: string): void {
    this.#forget(p);
    p.failures++;
    if (isStaleLeader(word) && p.failures <= MOST_FAILURES) this.#pause(p, word);
    else throw partitionError('source', p.spec, word);
  }

  #forget(p: PartitionReading): void {
    p.leader = null;
    p.doubtful = true;
    this.#leaders.get(p.spec.topic)?.delete(p.spec.partition);
  }

  #pause(p: PartitionReading, why: string): void {
    p.notBefore = performance.now() + Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** (p.failures - 1));
    const fields = { partition: p.name, error: why };
    if (p.failures === 1) this.#p.log.info(fields, `${p.name} cannot be read just now: ${why}`);
    else this.#p.log.debug(fields, `${p.name} still cannot be read`);
  }
}

function put<K>(map: Map<K, PartitionReading[]>, key: K, p: PartitionReading): void {
  const of = map.get(key);
  if (of === undefined) map.set(key, [p]);
  else of.push(p);
}
