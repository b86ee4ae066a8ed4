import { SyncError } from 'syncx/plugin-api';
import type { KafkaClient, Topic, TopicPartition } from '../client/kafka-client.js';
import { assertThere, lookAtTopics } from '../topics-there.js';
import type { ReaderOptions } from '../reader-options.js';
import { topicNames } from './check-options.js';

/** @throws SyncError SOURCE_CHANGED where the brokers are of another cluster: its offsets are of other records. */
export async function assertCluster(client: KafkaClient, then: string | null, signal: AbortSignal): Promise<void> {
  const { cluster } = await client.metadata([], signal);
  if (then === null || cluster === null || cluster === then) return;
  throw new SyncError('SOURCE_CHANGED', `the brokers are of the cluster ${cluster}, and the run reads from ${then}`, {
    place: 'brokers',
    hint: 'Name brokers of the cluster that the run began with, or start a new one with --fresh.',
  });
}

/** All partitions of the job's topics, as they are now. @throws SyncError SOURCE_MISSING where a topic is not there. */
export async function partitionsOf(
  client: KafkaClient,
  o: ReaderOptions,
  signal: AbortSignal,
): Promise<readonly TopicPartition[]> {
  const names = topicNames(o);
  const { topics } = await lookAtTopics(client, names, signal);
  const wanted = names === null ? topics.filter((t) => isWanted(t, o.topicPattern ?? '')) : topics;
  if (wanted.length === 0) {
    throw new SyncError('SOURCE_MISSING', `no topic matches ${o.topicPattern ?? ''}`, {
      place: o.topicPattern ?? '',
      blame: 'config',
      hint: 'Check topicPattern, and that the user may DESCRIBE the topics.',
    });
  }
  for (const t of wanted) assertThere(t, 'source');
  return wanted.flatMap((t) => t.partitions.map(({ partition }) => ({ topic: t.topic, partition })));
}

const isWanted = (t: Topic, pattern: string): boolean => !t.internal && new RegExp(`^(?:${pattern})$`).test(t.topic);
