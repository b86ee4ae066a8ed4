/** A look at the topics of a job, for both sides. */
import { Backoff } from './client/backoff.js';
import { brokerError, type Side } from './client/broker-errors.js';
import type { KafkaClient, Metadata, Topic } from './client/kafka-client.js';

/** A topic that was made a moment ago is unknown to some brokers for a while. */
const NEW_MS = 1000;
const UNKNOWN = 'UNKNOWN_TOPIC_OR_PARTITION';

/** As {@link KafkaClient.metadata}; topics that are unknown are looked for again before it is said. */
export async function lookAtTopics(
  client: KafkaClient,
  names: readonly string[] | null,
  signal: AbortSignal,
  o: { readonly rights?: boolean } = {},
): Promise<Metadata> {
  const backoff = new Backoff(NEW_MS, signal);
  for (;;) {
    const found = await client.metadata(names, signal, o);
    if (!found.topics.some((t) => t.error === UNKNOWN) || !(await backoff.pause())) return found;
  }
}

/** @throws SyncError SOURCE_MISSING (source), SINK_IO (sink) where it is not there; SOURCE_IO, SINK_IO where we may not see it. */
export function assertThere({ topic, error, partitions }: Topic, side: Side): void {
  const word = error ?? (partitions.length === 0 ? UNKNOWN : null);
  if (word === null) return;
  const doing = `${side === 'source' ? 'read' : 'write to'} topic ${topic}`;
  throw brokerError(word, null, { side, api: 'Metadata', doing, place: topic, resource: topic });
}
