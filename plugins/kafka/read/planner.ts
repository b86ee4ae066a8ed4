import { setTimeout as sleep } from 'node:timers/promises';
import { SyncError, isSyncError, type JsonValue, type Split, type SplitPlanner } from 'syncx/plugin-api';
import { splitIdOf, splitOf } from './split-spec.js';
import type { TopicPartitionNow } from './topics.js';

const FORMAT = 1;

/** What a checkpoint keeps of the plan: the partitions that are known, and those that no lane has yet. */
export interface KafkaPlan {
  readonly format: typeof FORMAT;
  /** Names, as `topic-0`. */
  readonly known: readonly string[];
  readonly waiting: readonly Split[];
  /** Id of the cluster; null: it does not say. */
  readonly cluster: string | null;
}

export const planOf = (splits: readonly Split[], cluster: string | null): KafkaPlan => ({
  format: FORMAT,
  known: splits.map((s) => s.id),
  waiting: splits,
  cluster,
});

/** @throws SyncError STATE_CORRUPT */
export function decodePlan(saved: JsonValue): KafkaPlan {
  const plan = saved as unknown as KafkaPlan | null;
  if ((plan as { readonly format?: unknown } | null)?.format === FORMAT && plan !== null) return plan;
  throw new SyncError('STATE_CORRUPT', `the plan of the Kafka reader is not of format ${String(FORMAT)}`, {
    hint: 'It was written by another version; go on with that version, or run with --fresh.',
  });
}

export interface Discovery {
  /** Between two looks for new partitions; null: none is looked for. */
  readonly intervalMs: number | null;
  /** All partitions that the job reads, as they are now. */
  partitions(signal: AbortSignal): Promise<readonly TopicPartitionNow[]>;
  found(partitions: readonly TopicPartitionNow[]): void;
  /** No broker can say just now. */
  failed(why: SyncError): void;
}

/** Hands out partitions, and in unbounded jobs those that are added later: from their first record. */
export class KafkaPlanner implements SplitPlanner {
  readonly #known: Set<string>;
  readonly #waiting: Split[];
  readonly #cluster: string | null;
  readonly #bounded: boolean;
  readonly #discovery: Discovery;
  #failing = false;

  constructor(plan: KafkaPlan, bounded: boolean, discovery: Discovery) {
    this.#known = new Set(plan.known);
    this.#waiting = [...plan.waiting];
    this.#cluster = plan.cluster;
    this.#bounded = bounded;
    this.#discovery = discovery;
  }

  async next(signal: AbortSignal): Promise<Split | 'end'> {
    const { intervalMs } = this.#discovery;
    for (;;) {
      signal.throwIfAborted();
      const split = this.#waiting.shift();
      if (split !== undefined) return split;
      if (this.#bounded || intervalMs === null) return 'end';
      await sleep(intervalMs, undefined, { signal });
      await this.#look(signal);
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const all = await this.#all(signal);
    const fresh = all.filter((p) => !this.#known.has(splitIdOf(p.topic, p.partition)));
    if (fresh.length === 0) return;
    for (const { topic, topicId, partition } of fresh) {
      const split = splitOf({ topic, topicId, partition, start: 0, stop: null });
      this.#known.add(split.id);
      this.#waiting.push(split);
    }
    this.#discovery.found(fresh);
  }

  /** Brokers that are away for a while are waited for; how long, the lanes say, which need them more. */
  async #all(signal: AbortSignal): Promise<readonly TopicPartitionNow[]> {
    try {
      const all = await this.#discovery.partitions(signal);
      this.#failing = false;
      return all;
    } catch (e) {
      signal.throwIfAborted();
      if (!isSyncError(e) || e.retry === 'never') throw e;
      if (!this.#failing) this.#discovery.failed(e);
      this.#failing = true;
      return [];
    }
  }

  finished(): void {
    // Nothing depends on it.
  }

  committed(): void {
    // Nothing depends on it.
  }

  reopen(): void {
    // The engine assigns it again.
  }

  snapshot(): JsonValue {
    const plan: KafkaPlan = {
      format: FORMAT,
      known: [...this.#known],
      waiting: [...this.#waiting],
      cluster: this.#cluster,
    };
    return plan as unknown as JsonValue;
  }

  remaining(): number | null {
    return this.#bounded ? this.#waiting.length : null;
  }
}
