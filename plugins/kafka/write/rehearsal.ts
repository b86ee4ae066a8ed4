/** What exactly-once needs of the brokers beside the topics: asked before any row is read, where later it would cost an epoch. */
import { SyncError, isSyncError, type RunIdentity } from 'syncx/plugin-api';
import { brokerErrorName } from '../client/broker-errors.js';
import type { KafkaClient } from '../client/kafka-client.js';
import { groupOf, transactionalIdOf } from './epoch-marker.js';

/**
 * A transaction of the first lane with its marker's group and nothing else, aborted. Rights and limits are the brokers' to tell, for
 * the very requests that come later.
 * @throws SyncError JOB_INVALID where the brokers allow no transaction that long; SINK_IO where a right is missing.
 */
export async function rehearse(
  client: KafkaClient,
  run: RunIdentity,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const transactionalId = transactionalIdOf(run.runId, 0, run.attempt);
  try {
    const { producerId, epoch } = await client.initProducerId(transactionalId, timeoutMs, signal);
    const ids = { transactionalId, producerId, epoch };
    await client.addOffsetsToTxn(ids, groupOf(run.runId, 0), signal);
    await client.endTxn(ids, false, signal);
  } catch (e) {
    throw (await tooLong(client, e, timeoutMs, signal)) ?? withPrefix(e);
  }
}

/** As {@link rehearse}, for a look only: less is found, and nothing is left at the brokers. */
export async function askAhead(client: KafkaClient, timeoutMs: number, signal: AbortSignal): Promise<void> {
  try {
    await client.describeTransaction(transactionalIdOf('plan', 0, 0), signal);
    await client.offsetFetch(groupOf('plan', 0), [], { stable: false }, signal);
  } catch (e) {
    throw withPrefix(e);
  }
  const most = await mostMs(client, signal);
  if (most !== null && timeoutMs > most) throw notThatLong(timeoutMs, most);
}

const LIMIT = 'transaction.max.timeout.ms';

async function tooLong(client: KafkaClient, e: unknown, timeoutMs: number, signal: AbortSignal): Promise<Error | null> {
  if (brokerErrorName(e) !== 'INVALID_TRANSACTION_TIMEOUT') return null;
  return notThatLong(timeoutMs, await mostMs(client, signal));
}

/** Null: the user may not see it. */
async function mostMs(client: KafkaClient, signal: AbortSignal): Promise<number | null> {
  try {
    return Number((await client.brokerConfigs(signal)).get(LIMIT) ?? Number.NaN) || null;
  } catch (e) {
    if (brokerErrorName(e) === 'CLUSTER_AUTHORIZATION_FAILED') return null;
    throw e;
  }
}

function notThatLong(timeoutMs: number, most: number | null): SyncError {
  const limit = most === null ? LIMIT : `${LIMIT} ${String(most)}`;
  const message = `transactionTimeout is ${String(timeoutMs)} ms, and the brokers allow less (${limit})`;
  return new SyncError('JOB_INVALID', message, {
    place: 'writer.parameter.transactionTimeout',
    blame: 'config',
    hint: `Lower transactionTimeout, or raise ${LIMIT} of the brokers.`,
  });
}

/** Names have the run's id in them: a right on one of them alone would not last. */
const OPTIONS: readonly (readonly [word: string, option: string])[] = [
  ['TRANSACTIONAL_ID_AUTHORIZATION_FAILED', '--operation Write --transactional-id sync-'],
  ['GROUP_AUTHORIZATION_FAILED', '--operation Read --group sync-'],
];

function withPrefix(e: unknown): unknown {
  const option = OPTIONS.find(([word]) => word === brokerErrorName(e))?.[1];
  if (option === undefined || !isSyncError(e)) return e;
  return new SyncError(e.code, e.message, {
    ...(e.place === undefined ? {} : { place: e.place }),
    cause: e.cause,
    retry: e.retry,
    blame: e.blame,
    hint: `Exactly-once needs it: kafka-acls --add ${option} --resource-pattern-type prefixed --allow-principal User:…`,
  });
}
