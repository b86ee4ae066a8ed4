import { toSyncError, type Logger } from 'syncx/plugin-api';
import type { KafkaClient } from '../client/kafka-client.js';

export interface TopicGrowthParts {
  readonly client: KafkaClient;
  /** How old what is known of topics may be (ms). */
  readonly maxAgeMs: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Looks now and then whether topics that are written have more partitions, as Java's producer does (metadata.max.age.ms). */
export class TopicGrowth {
  readonly #p: TopicGrowthParts;
  #looked = performance.now();

  constructor(parts: TopicGrowthParts) {
    this.#p = parts;
  }

  get due(): boolean {
    return performance.now() - this.#looked >= this.#p.maxAgeMs;
  }

  /**
   * Of topics that have more partitions than is known: how many. Due where what is known is old.
   * `known`: by topic. A failure is no trouble of the rows: it is asked again later.
   */
  async grown(known: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>> {
    const { client, log, signal } = this.#p;
    this.#looked = performance.now();
    if (known.size === 0) return new Map();
    try {
      const { topics } = await client.metadata([...known.keys()], signal);
      const more = topics.filter((t) => t.error === null && t.partitions.length > (known.get(t.topic) ?? 0));
      for (const t of more) {
        const fields = { topic: t.topic, partitions: t.partitions.length, before: known.get(t.topic) ?? 0 };
        log.info(fields, `${t.topic} has ${String(t.partitions.length)} partitions now; records go to all of them`);
      }
      return new Map(more.map((t) => [t.topic, t.partitions.length]));
    } catch (e) {
      signal.throwIfAborted();
      log.debug({ error: toSyncError(e).message }, 'the brokers did not say whether topics have grown');
      return new Map();
    }
  }
}
