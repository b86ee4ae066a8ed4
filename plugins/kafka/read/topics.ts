import { SyncError } from 'syncx/plugin-api';
import type { KafkaClient, Topic, TopicPartition } from '../client/kafka-client.js';
import { assertThere, lookAtTopics } from '../topics-there.js';
import type { ReaderOptions } from '../reader-options.js';
import { topicNames } from './check-options.js';

export interface TopicsNow {
  readonly topics: readonly Topic[];
  /** Id of the cluster; null: it does not say. */
  readonly cluster: string | null;
}

/** The job's topics as they are now; those that are not there have their `error`. */
export async function topicsNow(client: KafkaClient, o: ReaderOptions, signal: AbortSignal): Promise<TopicsNow> {
  const names = topicNames(o);
  const { topics, cluster } = await lookAtTopics(client, names, signal);
  return { topics: names === null ? topics.filter((t) => isWanted(t, o.topicPattern ?? '')) : topics, cluster };
}

/** @throws SyncError SOURCE_CHANGED where the brokers are of another cluster: its offsets are of other records. */
export function assertCluster({ cluster }: TopicsNow, then: string | null): void {
  if (then === null || cluster === null || cluster === then) return;
  throw new SyncError('SOURCE_CHANGED', `the brokers are of the cluster ${cluster}, and the run reads from ${then}`, {
    place: 'brokers',
    hint: 'Name brokers of the cluster that the run began with, or start a new one with --fresh.',
  });
}

export interface TopicPartitionNow extends TopicPartition {
  readonly topicId: string | null;
}

/** All partitions of the topics. @throws SyncError SOURCE_MISSING where a topic is not there. */
export function partitionsOf({ topics }: TopicsNow, o: ReaderOptions): readonly TopicPartitionNow[] {
  if (topics.length === 0) {
    throw new SyncError('SOURCE_MISSING', `no topic matches ${o.topicPattern ?? ''}`, {
      place: o.topicPattern ?? '',
      blame: 'config',
      hint: 'Check topicPattern, and that the user may DESCRIBE the topics.',
    });
  }
  for (const t of topics) assertThere(t, 'source');
  return topics.flatMap(({ topic, id, partitions }) =>
    partitions.map(({ partition }) => ({ topic, topicId: id, partition })),
  );
}

export const idsOf = (topics: readonly Topic[]): Readonly<Record<string, string | null>> =>
  Object.fromEntries(topics.map((t) => [t.topic, t.id]));

export function madeAnew(topic: string, was: string, is: string): SyncError {
  return new SyncError('SOURCE_CHANGED', `the topic ${topic} was made anew: its id was ${was} and is ${is}`, {
    place: topic,
    hint: 'Its offsets are of other records now. Start a new run with --fresh, or let offsetGone say where to go on: earliest or latest.',
  });
}

const isWanted = (t: Topic, pattern: string): boolean => !t.internal && new RegExp(`^(?:${pattern})$`).test(t.topic);
