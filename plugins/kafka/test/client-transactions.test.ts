/** Producer ids, transactions and group offsets against the real broker: the facts of the table in kafka-client.ts. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { isSyncError } from 'syncx/plugin-api';
import { brokerErrorName } from '../client/broker-errors.js';
import type { KafkaClient, TxnIds } from '../client/kafka-client.js';
import { batchesIn, handMadeBatch } from './hand-made-batch.js';
import { never, onKafka, type TestBroker } from './kafka-servers.js';

const T0 = 1_700_000_000_000;
const MINUTE = 60_000;
const STABLE = { stable: true };

/** The broker's word and our code. */
async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (e) {
    return isSyncError(e) ? `${e.code} ${brokerErrorName(e) ?? e.message}` : String(e);
  }
  return 'done';
}

async function begin(client: KafkaClient, transactionalId: string, timeoutMs = MINUTE): Promise<TxnIds> {
  return { transactionalId, ...(await client.initProducerId(transactionalId, timeoutMs, never)) };
}

async function send(
  client: KafkaClient,
  ids: TxnIds,
  topic: string,
  values: readonly string[],
  sequence = 0,
): Promise<string | null> {
  const at = { topic, partition: 0 };
  const batch = handMadeBatch(values, T0, { ...ids, sequence, transactional: true });
  const o = { acks: -1, timeoutMs: 5000, transactionalId: ids.transactionalId } as const;
  const [p] = await client.produce(await client.leaderOf(at, never), [{ ...at, batch }], o, never);
  assert.ok(p);
  return p.error;
}

async function addAndSend(client: KafkaClient, ids: TxnIds, topic: string, values: readonly string[]): Promise<void> {
  await client.addPartitionsToTxn(ids, [{ topic, partition: 0 }], never);
  assert.equal(await send(client, ids, topic, values), null);
}

async function stateOf(client: KafkaClient, ids: TxnIds) {
  const s = await client.describeTransaction(ids.transactionalId, never);
  return [s?.state, s?.producerId, s?.epoch];
}

async function seen(b: TestBroker, topic: string, committedOnly: boolean) {
  const at = { topic, partition: 0 };
  const o = { maxWaitMs: 0, minBytes: 0, maxBytes: 1 << 20, committedOnly };
  const [p] = await b.client.fetch(
    await b.client.leaderOf(at, never),
    [{ ...at, offset: 0, maxBytes: 1 << 20 }],
    o,
    never,
  );
  assert.ok(p && p.error === null);
  const data = batchesIn(p.records).filter((x) => !x.control);
  return { records: data.reduce((sum, x) => sum + x.count, 0), stable: p.lastStableOffset, aborted: p.aborted };
}

const latest = async (b: TestBroker, topic: string, isolation: 'committed' | 'uncommitted') =>
  (await b.client.listOffsets([{ topic, partition: 0, at: 'latest' }], isolation, never))[0]?.offset;

/** Polls: what the broker does by itself, as timing out a transaction. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 20_000; !(await holds()); await wait(100)) {
    if (performance.now() > end) throw new Error(`never: ${what}`);
  }
}

onKafka('an open transaction holds the last stable offset; aborted ones are listed', async (b) => {
  const topic = await b.topic();
  const ids = await begin(b.client, b.fresh('tx'));
  await addAndSend(b.client, ids, topic, ['a', 'b']);
  assert.deepEqual([await latest(b, topic, 'committed'), await latest(b, topic, 'uncommitted')], [0, 2]);
  assert.deepEqual(await seen(b, topic, true), { records: 0, stable: 0, aborted: [] });
  assert.equal((await seen(b, topic, false)).records, 2);
  await b.client.endTxn(ids, false, never);
  await until('aborted', async () => (await latest(b, topic, 'committed')) === 3);
  assert.deepEqual((await seen(b, topic, true)).aborted, [{ producerId: ids.producerId, firstOffset: 0 }]);
  assert.equal(await refusal(b.client.endTxn(ids, false, never)), 'done');
  assert.deepEqual(await stateOf(b.client, ids), ['CompleteAbort', ids.producerId, ids.epoch]);
  assert.equal(await refusal(b.client.endTxn(ids, true, never)), 'SOURCE_IO INVALID_TXN_STATE');
  // The next transaction at once: CONCURRENT_TRANSACTIONS of the broker is waited for inside.
  await b.client.addPartitionsToTxn(ids, [{ topic, partition: 0 }], never);
  assert.equal(await send(b.client, ids, topic, ['c'], 2), null);
  await b.client.endTxn(ids, true, never);
  await until('committed', async () => (await latest(b, topic, 'committed')) === 5);
});

onKafka(
  'another client ends a transaction with saved ids, with its group offset, twice; abort is refused then',
  async (b) => {
    const topic = await b.topic();
    const group = b.fresh('g');
    const first = b.open('sink');
    const ids = await begin(first, b.fresh('tx'));
    await addAndSend(first, ids, topic, ['a', 'b', 'c']);
    await first.addOffsetsToTxn(ids, group, never);
    await first.txnOffsetCommit(ids, group, [{ topic, partition: 0, offset: 77, metadata: 'run-1' }], never);
    await first[Symbol.asyncDispose]();

    const second = b.open('sink');
    assert.equal((await second.describeTransaction(ids.transactionalId, never))?.state, 'Ongoing');
    const at = [{ topic, partition: 0 }];
    assert.equal((await second.offsetFetch(group, at, { stable: false }, never))[0]?.offset, null);
    const quick = b.open('sink', { requestTimeoutMs: 300 });
    assert.equal(await refusal(quick.offsetFetch(group, at, STABLE, never)), 'SINK_IO UNSTABLE_OFFSET_COMMIT');
    await second.endTxn(ids, true, never);
    assert.deepEqual(await second.offsetFetch(group, at, STABLE, never), [
      { topic, partition: 0, offset: 77, metadata: 'run-1' },
    ]);
    await until('committed', async () => (await seen(b, topic, true)).records === 3);
    await second.endTxn(ids, true, never);
    assert.equal(await refusal(second.endTxn(ids, false, never)), 'SINK_IO INVALID_TXN_STATE');
    assert.deepEqual(await stateOf(second, ids), ['CompleteCommit', ids.producerId, ids.epoch]);
  },
);

onKafka(
  'a transaction that the broker timed out: commit is refused, and its state tells that it was aborted',
  async (b) => {
    const topic = await b.topic();
    const ids = await begin(b.client, b.fresh('tx'), 500);
    await addAndSend(b.client, ids, topic, ['a']);
    await until('timed out', async () => (await latest(b, topic, 'committed')) === 2);
    assert.equal(await refusal(b.client.endTxn(ids, true, never)), 'FENCED PRODUCER_FENCED');
    assert.deepEqual(await stateOf(b.client, ids), ['CompleteAbort', ids.producerId, ids.epoch + 1]);
    assert.equal(await send(b.client, ids, topic, ['b'], 1), 'INVALID_PRODUCER_EPOCH');
  },
);

onKafka('wrong ids, a partition that was not added, a timeout that is too long, an id that nobody knows', async (b) => {
  const topic = await b.topic();
  const ids = await begin(b.client, b.fresh('tx'));
  const wrong = { ...ids, producerId: ids.producerId + 1000n };
  assert.equal(await refusal(b.client.endTxn(wrong, true, never)), 'FENCED INVALID_PRODUCER_ID_MAPPING');
  assert.equal(await refusal(b.client.endTxn({ ...ids, epoch: ids.epoch + 1 }, true, never)), 'FENCED PRODUCER_FENCED');
  assert.equal(await refusal(b.client.endTxn(ids, true, never)), 'SOURCE_IO INVALID_TXN_STATE');
  assert.equal(await refusal(begin(b.client, b.fresh('tx'), 86_400_000)), 'JOB_INVALID INVALID_TRANSACTION_TIMEOUT');
  const unknown = { ...ids, transactionalId: b.fresh('tx') };
  assert.equal(await refusal(b.client.endTxn(unknown, true, never)), 'FENCED INVALID_PRODUCER_ID_MAPPING');
  assert.equal(await b.client.describeTransaction(unknown.transactionalId, never), null);
  assert.equal(await send(b.client, ids, topic, ['a']), 'INVALID_TXN_STATE');
});

onKafka('idempotent: a batch that is sent twice is written once, a gap is refused', async (b) => {
  const topic = await b.topic();
  const at = { topic, partition: 0 };
  const ids = await b.client.initProducerId(null, MINUTE, never);
  const node = await b.client.leaderOf(at, never);
  const sendSequence = async (sequence: number) => {
    const batch = handMadeBatch(['a', 'b'], T0, { ...ids, sequence, transactional: false });
    const o = { acks: -1, timeoutMs: 5000, transactionalId: null } as const;
    const [p] = await b.client.produce(node, [{ ...at, batch }], o, never);
    return [p?.error, p?.baseOffset];
  };
  assert.deepEqual(await sendSequence(0), [null, 0]);
  assert.deepEqual(await sendSequence(0), [null, 0]);
  assert.deepEqual(await sendSequence(2), [null, 2]);
  assert.deepEqual(await sendSequence(9), ['OUT_OF_ORDER_SEQUENCE_NUMBER', -1]);
  assert.equal(await latest(b, topic, 'committed'), 4);
});

onKafka('offsets of a group without members: nothing committed is null, metadata stays', async (b) => {
  const topic = await b.topic(2);
  const group = b.fresh('g');
  const both = [0, 1].map((partition) => ({ topic, partition }));
  assert.deepEqual(
    (await b.client.offsetFetch(group, both, STABLE, never)).map((o) => o.offset),
    [null, null],
  );
  await b.client.offsetCommit(group, [{ topic, partition: 1, offset: 5, metadata: 'm' }], never);
  const [zero, one] = await b.client.offsetFetch(group, both, STABLE, never);
  assert.deepEqual([zero?.offset, one?.offset, one?.metadata], [null, 5, 'm']);
  const bad = b.client.offsetCommit(group, [{ topic: b.fresh(), partition: 0, offset: 1, metadata: null }], never);
  await assert.rejects(bad, /cannot commit offsets of group .* \(t-.*-0\): UNKNOWN_TOPIC_OR_PARTITION/);
});
