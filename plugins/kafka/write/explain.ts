/** For `sync plan`: the topics as they are. */
import type { PlanTarget, WriterFacts } from 'syncx/plugin-api';
import type { KafkaClient } from '../client/kafka-client.js';
import { markerTopicOf, wantedColumns, type WriterOptions } from '../writer-options.js';
import { showNewTopic } from './create-topics.js';
import { isTopicTemplate } from './topic-names.js';
import { writableTopic } from './write-topics.js';

/** @param missing Topics that will be made. @throws SyncError as `begin`. */
export async function explainWriter(
  client: KafkaClient,
  o: WriterOptions,
  missing: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<WriterFacts> {
  const { topic } = o;
  const byTable = isTopicTemplate(topic);
  const names = wantedColumns(o)?.join(', ') ?? 'all columns';
  const exactly = o.semantic === 'exactly-once';
  const apart = exactly && markerTopicOf(o) !== topic;
  return {
    writes: [
      `records of ${byTable ? 'topics' : 'topic'} ${topic}, ${o.codec}, of ${names}`,
      ...(apart ? [`the markers of checkpoints, as offsets of groups at topic ${markerTopicOf(o)}`] : []),
    ],
    target: byTable
      ? topicsToCome(o)
      : missing.has(topic)
        ? { place: `topic ${topic}`, state: 'missing', holds: null, effect: toBeMade(o) }
        : await targetOf(client, topic, signal),
    columns: null,
    losses: [],
    whyDelivery: exactly ? null : 'semantic is at-least-once unless it says exactly-once',
    problems: [],
  };
}

const toBeMade = ({ createTopic }: WriterOptions): string => (createTopic ? showNewTopic(createTopic) : '');

const topicsToCome = (o: WriterOptions): PlanTarget => ({
  place: `topics ${o.topic}`,
  state: 'unknown',
  holds: null,
  effect: `each is looked at when its first row comes${o.createTopic ? `; where it is missing ${toBeMade(o)}` : ''}; records are added`,
});

async function targetOf(client: KafkaClient, topic: string, signal: AbortSignal): Promise<PlanTarget> {
  const { partitions } = await writableTopic(client, topic, signal);
  const at = (which: 'earliest' | 'latest') =>
    client.listOffsets(
      partitions.map(({ partition }) => ({ topic, partition, at: which })),
      'uncommitted',
      signal,
    );
  const [first, last] = [await at('earliest'), await at('latest')];
  const held = last.reduce((n, l, i) => n + (l.offset ?? 0) - (first[i]?.offset ?? 0), 0);
  return {
    place: `topic ${topic}`,
    state: held === 0 ? 'empty' : 'filled',
    holds: `up to ${held.toLocaleString('en-US')} records in ${String(partitions.length)} partitions`,
    effect: 'they stay; records are added',
  };
}
