import type { SyncError } from 'syncx/plugin-api';
import { brokerError, type Side } from './broker-errors.js';
import type { TopicPartition } from './kafka-client.js';

/** `topic-0` */
export const showPartition = (at: TopicPartition): string => `${at.topic}-${String(at.partition)}`;

/** A partition's error of {@link KafkaClient.fetch} or {@link KafkaClient.produce} as a SyncError. */
export function partitionError(side: Side, at: TopicPartition, error: string, reason: string | null = null): SyncError {
  const [api, doing] = side === 'source' ? ['Fetch', 'fetch from'] : ['Produce', 'produce to'];
  const place = showPartition(at);
  return brokerError(error, reason, { side, api, doing: `${doing} ${place}`, place, resource: at.topic });
}
