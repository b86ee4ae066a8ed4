/** Topics that are not there, made: `createTopic`. */
import type { KafkaClient } from '../client/kafka-client.js';
import type { WriterOptions } from '../writer-options.js';

export type NewTopics = NonNullable<WriterOptions['createTopic']>;

/** Those of the names that no topic has. */
export async function missingTopics(
  client: KafkaClient,
  names: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  const { topics } = await client.metadata(names, signal);
  return new Set(topics.filter((t) => t.error === 'UNKNOWN_TOPIC_OR_PARTITION').map((t) => t.topic));
}

/** One that somebody else makes meanwhile is as good. @throws SyncError SINK_IO, JOB_INVALID with the brokers' reason. */
export async function createMissing(
  client: KafkaClient,
  names: readonly string[],
  how: NewTopics,
  signal: AbortSignal,
): Promise<void> {
  const missing = await missingTopics(client, names, signal);
  const configs = Object.fromEntries(Object.entries(how.configs).map(([k, v]) => [k, String(v)]));
  const topics = [...missing].map((topic) => ({
    topic,
    partitions: how.partitions ?? -1,
    replicas: how.replicationFactor ?? -1,
    configs,
  }));
  await client.createTopics(topics, signal);
}

/** For a plan. */
export function showNewTopic(how: NewTopics): string {
  const parts =
    how.partitions === undefined ? 'as many partitions as the brokers set' : count(how.partitions, 'partition');
  const configs = Object.entries(how.configs).map(([k, v]) => `${k}=${String(v)}`);
  const copies = how.replicationFactor === undefined ? [] : [count(how.replicationFactor, 'replica')];
  return `it is created with ${[parts, ...copies, ...configs].join(', ')}`;
}

const count = (n: number, what: string): string => `${String(n)} ${what}${n === 1 ? '' : 's'}`;
