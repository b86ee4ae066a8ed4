/** What is looked up of a topic before it is written. */
import { SyncError } from 'syncx/plugin-api';
import { brokerErrorName } from '../client/broker-errors.js';
import type { KafkaClient, Topic } from '../client/kafka-client.js';
import { assertThere, lookAtTopics } from '../topics-there.js';

export interface WriteTopic {
  readonly topic: string;
  readonly partitions: number;
  /** Bytes of a batch that it takes. */
  readonly maxBatchBytes: number;
}

/** max.message.bytes where the broker does not say: its own default. */
const DEFAULT_MAX_BYTES = 1_048_588;

/**
 * @param fixed Partition that all records go to; null: any.
 * @throws SyncError SINK_IO where it is not there, or may not be written; JOB_INVALID where it lacks the partition.
 */
export async function lookUpTopic(
  client: KafkaClient,
  topic: string,
  fixed: number | null,
  signal: AbortSignal,
): Promise<WriteTopic> {
  const { partitions } = await writableTopic(client, topic, signal);
  assertPartition(topic, partitions.length, fixed);
  return { topic, partitions: partitions.length, maxBatchBytes: await maxBytes(client, topic, signal) };
}

/** @throws SyncError SINK_IO where it is not there, or may not be written. */
export async function writableTopic(client: KafkaClient, topic: string, signal: AbortSignal): Promise<Topic> {
  const found = await thereIs(client, topic, signal);
  assertRight(found, 'WRITE', 'Grant it.');
  return found;
}

/** @throws SyncError SINK_IO where the topic cannot keep the markers of exactly-once. */
export async function assertMarkerTopic(client: KafkaClient, topic: string, signal: AbortSignal): Promise<void> {
  const found = await thereIs(client, topic, signal);
  assertRight(found, 'READ', 'Grant it: exactly-once needs READ, for the marker of each checkpoint.');
}

/** @throws SyncError JOB_INVALID */
export function assertPartition(topic: string, partitions: number, fixed: number | null): void {
  if (fixed === null || fixed < partitions) return;
  const message = `${topic} has no partition ${String(fixed)}, but ${String(partitions)} from 0 on`;
  throw new SyncError('JOB_INVALID', message, { place: 'writer.parameter.partition', blame: 'config' });
}

async function thereIs(client: KafkaClient, name: string, signal: AbortSignal): Promise<Topic> {
  const { topics } = await lookAtTopics(client, [name], signal, { rights: true });
  const topic = topics[0] ?? { topic: name, id: null, error: null, internal: false, partitions: [], rights: null };
  assertThere(topic, 'sink');
  return topic;
}

function assertRight({ topic, rights }: Topic, right: string, hint: string): void {
  if (rights === null || rights.has(right)) return;
  throw new SyncError('SINK_IO', `the user has no right to ${right} on the topic ${topic}`, {
    place: topic,
    retry: 'never',
    blame: 'config',
    hint,
  });
}

async function maxBytes(client: KafkaClient, topic: string, signal: AbortSignal): Promise<number> {
  try {
    const configs = await client.topicConfigs(topic, signal);
    return Number(configs.get('max.message.bytes') ?? DEFAULT_MAX_BYTES);
  } catch (e) {
    if (brokerErrorName(e) !== 'TOPIC_AUTHORIZATION_FAILED') throw e;
    return DEFAULT_MAX_BYTES; // the user may write, and not see the settings
  }
}
