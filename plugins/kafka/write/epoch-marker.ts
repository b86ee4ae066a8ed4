/**
 * What tells of a committed epoch: an offset that is committed inside of its transaction, of a group of the lane's own. The
 * offset is the epoch. Brokers forget offsets of groups that nobody uses after offsets.retention.minutes (7 days by default).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SyncError, type Committable, type JsonValue } from 'syncx/plugin-api';
import type { KafkaClient, TopicPartition, TxnIds } from '../client/kafka-client.js';

/** Of a lane. Names of groups and transactional ids begin alike, so that rights can be given by prefix. */
export const groupOf = (runId: string, lane: number): string => `sync-${runId}-${String(lane)}`;

/** Of a lane in one start: a later start never begins a transaction under an id whose outcome is not known. */
export const transactionalIdOf = (runId: string, lane: number, attempt: number): string =>
  `sync-${runId}-${String(lane)}-${String(attempt)}`;

/** What a checkpoint keeps of a transaction that is to be committed. */
export interface PreparedTransaction {
  readonly format: 1;
  readonly transactionalId: string;
  /** Digits. */
  readonly producerId: string;
  readonly producerEpoch: number;
  readonly group: string;
  /** Of the marker. */
  readonly topic: string;
  readonly epoch: number;
  /** ms since 1970. */
  readonly preparedAt: number;
}

export const idsOf = (p: PreparedTransaction): TxnIds => ({
  transactionalId: p.transactionalId,
  producerId: BigInt(p.producerId),
  epoch: p.producerEpoch,
});

/** @throws SyncError STATE_CORRUPT */
export function preparedOf(c: Committable): PreparedTransaction {
  const data = c.data as unknown as PreparedTransaction | null;
  if ((data as { readonly format?: JsonValue } | null)?.format === 1 && data !== null) return data;
  throw new SyncError('STATE_CORRUPT', 'a prepared transaction of Kafka has a form that this version does not know', {
    hint: 'Run the job with the version that wrote it.',
  });
}

const LOOK_AGAIN_MS = 5;

/** Its records are visible when it resolves: the broker answers before it has told all partitions of the end. */
export async function commitTransaction(client: KafkaClient, ids: TxnIds, signal: AbortSignal): Promise<void> {
  await client.endTxn(ids, true, signal);
  for (;;) {
    const now = await client.describeTransaction(ids.transactionalId, signal);
    if (now?.state !== 'PrepareCommit') return;
    await sleep(LOOK_AGAIN_MS, undefined, { signal });
  }
}

/** Markers stand at the first partition of one topic of the job, which is known without any row. */
export const markerPartition = (topic: string): TopicPartition => ({ topic, partition: 0 });

/**
 * The last epoch that the group tells of; null: none.
 * @param stable Wait for a transaction that is being ended.
 */
export async function readMarker(
  client: KafkaClient,
  group: string,
  topic: string,
  stable: boolean,
  signal: AbortSignal,
): Promise<number | null> {
  const [found] = await client.offsetFetch(group, [markerPartition(topic)], { stable }, signal);
  return found?.offset ?? null;
}
