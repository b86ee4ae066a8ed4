/** Topics, offsets, fetch and produce against the real broker. */
import assert from 'node:assert/strict';
import { isSyncError } from 'syncx/plugin-api';
import { brokerErrorName } from '../client/broker-errors.js';
import type { FetchOptions, FetchedPartition, KafkaClient, ProducedPartition } from '../client/kafka-client.js';
import { batchesIn, handMadeBatch } from './hand-made-batch.js';
import { never, onKafka } from './kafka-servers.js';

const T0 = 1_700_000_000_000;
const ACKED = { acks: -1, timeoutMs: 5000, transactionalId: null } as const;
const NOW: FetchOptions = { maxWaitMs: 0, minBytes: 0, maxBytes: 1 << 20, committedOnly: true };

async function produce(
  client: KafkaClient,
  topic: string,
  partition: number,
  batch: Buffer,
): Promise<ProducedPartition> {
  const node = await client.leaderOf({ topic, partition }, never);
  const [p] = await client.produce(node, [{ topic, partition, batch }], ACKED, never);
  assert.ok(p);
  return p;
}

async function fetchFrom(
  client: KafkaClient,
  topic: string,
  offset: number,
  o: Partial<FetchOptions> = {},
  signal = never,
): Promise<FetchedPartition> {
  const node = await client.leaderOf({ topic, partition: 0 }, never);
  const [p] = await client.fetch(node, [{ topic, partition: 0, offset, maxBytes: 1 << 20 }], { ...NOW, ...o }, signal);
  assert.ok(p);
  return p;
}

onKafka(
  'metadata: partitions with leaders, rights where asked for, a missing topic has its error and is not made',
  async (b) => {
    const topic = await b.topic(3);
    const missing = b.fresh();
    const { brokers, topics } = await b.client.metadata([topic, missing], never, { rights: true });
    assert.deepEqual(
      brokers.map((x) => x.port),
      [b.address.port],
    );
    const found = topics.find((t) => t.topic === topic);
    assert.deepEqual(
      found?.partitions,
      [0, 1, 2].map((partition) => ({ partition, leader: brokers[0]?.node })),
    );
    assert.ok(found.rights?.has('READ') && found.rights.has('WRITE'));
    assert.equal(topics.find((t) => t.topic === missing)?.error, 'UNKNOWN_TOPIC_OR_PARTITION');
    const all = await b.client.metadata(null, never);
    const names = all.topics.map((t) => t.topic);
    assert.ok(names.includes(topic) && !names.includes(missing));
    assert.equal(all.topics[0]?.rights, null);
  },
);

onKafka('produce and fetch carry a batch byte for byte, but for the offset that the broker writes', async (b) => {
  const topic = await b.topic();
  const batch = handMadeBatch(['a', 'b', 'ü'], T0);
  assert.deepEqual(await produce(b.client, topic, 0, batch), {
    topic,
    partition: 0,
    error: null,
    reason: null,
    baseOffset: 0,
    logAppendTime: null,
  });
  assert.equal((await produce(b.client, topic, 0, batch)).baseOffset, 3);
  const fetched = await fetchFrom(b.client, topic, 0);
  assert.deepEqual([fetched.highWatermark, fetched.lastStableOffset, fetched.logStartOffset], [6, 6, 0]);
  const [first, second] = batchesIn(fetched.records);
  assert.deepEqual([first?.baseOffset, second?.baseOffset], [0, 3]);
  for (const got of [first, second]) {
    // Offset and leader epoch stand before what the checksum is over.
    assert.deepEqual(got?.bytes.subarray(16), batch.subarray(16));
  }
});

onKafka('partitions of several topics in one produce and one fetch, one of them unknown', async (b) => {
  const [one, two] = [await b.topic(2), await b.topic()];
  const node = await b.client.leaderOf({ topic: one, partition: 0 }, never);
  const parts = [
    { topic: one, partition: 1 },
    { topic: two, partition: 0 },
    { topic: two, partition: 7 },
    { topic: one, partition: 0 },
  ];
  const batch = handMadeBatch(['x'], T0);
  const produced = await b.client.produce(
    node,
    parts.map((p) => ({ ...p, batch })),
    ACKED,
    never,
  );
  const of = (topic: string, partition: number) => produced.find((p) => p.topic === topic && p.partition === partition);
  assert.equal(produced.length, 4);
  assert.deepEqual([of(one, 0)?.error, of(one, 1)?.error, of(two, 0)?.error], [null, null, null]);
  assert.equal(of(two, 7)?.error, 'UNKNOWN_TOPIC_OR_PARTITION');
  const fetched = await b.client.fetch(
    node,
    parts.map((p) => ({ ...p, offset: 0, maxBytes: 1000 })),
    NOW,
    never,
  );
  assert.deepEqual(
    fetched
      .map((p) => `${p.topic}-${String(p.partition)} ${p.error ?? ''}${String(batchesIn(p.records).length)}`)
      .sort(),
    [`${one}-0 1`, `${one}-1 1`, `${two}-0 1`, `${two}-7 UNKNOWN_TOPIC_OR_PARTITION0`].sort(),
  );
});

onKafka("acks 0 and 1; a batch that is too large; a compacted topic without keys: the broker's reason", async (b) => {
  const topic = await b.topic(1, { 'max.message.bytes': '1000' });
  const node = await b.client.leaderOf({ topic, partition: 0 }, never);
  const send = async (values: readonly string[], acks: 0 | 1) =>
    (
      await b.client.produce(
        node,
        [{ topic, partition: 0, batch: handMadeBatch(values, T0) }],
        { ...ACKED, acks },
        never,
      )
    )[0];
  assert.deepEqual(await send(['none'], 0), {
    topic,
    partition: 0,
    error: null,
    reason: null,
    baseOffset: -1,
    logAppendTime: null,
  });
  assert.equal((await send(['one'], 1))?.baseOffset, 1);
  assert.equal((await send(['x'.repeat(2000)], 1))?.error, 'MESSAGE_TOO_LARGE');
  const compacted = await b.topic(1, { 'cleanup.policy': 'compact' });
  const refused = await produce(b.client, compacted, 0, handMadeBatch(['no key'], T0));
  assert.equal(refused.error, 'INVALID_RECORD');
  assert.match(refused.reason ?? '', /key/);
});

onKafka('listOffsets: earliest, latest, by time, later than all, in the order of the queries', async (b) => {
  const topic = await b.topic(2);
  for (const i of [0, 1, 2])
    assert.equal((await produce(b.client, topic, 0, handMadeBatch([`v${String(i)}`], T0 + i * 1000))).error, null);
  const at = (partition: number, when: 'earliest' | 'latest' | number) => ({ topic, partition, at: when });
  const ask = async (...queries: ReturnType<typeof at>[]) =>
    (await b.client.listOffsets(queries, 'committed', never)).map((o) => o.offset);
  assert.deepEqual(await ask(at(1, 'latest'), at(0, 'earliest'), at(0, 'latest'), at(0, T0 + 1), at(0, T0 + 9999)), [
    0,
    0,
    3,
    1,
    null,
  ]);
  await b.client.deleteRecords([{ topic, partition: 0, before: 2 }], never);
  assert.deepEqual(await ask(at(0, 'earliest'), at(0, 'latest')), [2, 3]);
  const gone = await fetchFrom(b.client, topic, 1);
  assert.equal(gone.error, 'OFFSET_OUT_OF_RANGE');
  await assert.rejects(b.client.listOffsets([{ topic, partition: 9, at: 'latest' }], 'committed', never), (e) => {
    assert.ok(isSyncError(e) && e.code === 'SOURCE_MISSING' && e.place === `${topic}-9`, String(e));
    assert.equal(brokerErrorName(e), 'UNKNOWN_TOPIC_OR_PARTITION');
    return true;
  });
});

onKafka(
  'a fetch that waits holds up no other call, ends with new records, and an aborted one is no hindrance',
  async (b) => {
    const topic = await b.topic();
    const waiting = fetchFrom(b.client, topic, 0, { maxWaitMs: 60_000, minBytes: 1 });
    const began = performance.now();
    await b.client.listOffsets([{ topic, partition: 0, at: 'latest' }], 'committed', never);
    await produce(b.client, topic, 0, handMadeBatch(['a'], T0));
    assert.equal(batchesIn((await waiting).records).length, 1);
    assert.ok(performance.now() - began < 20_000);

    const stop = new AbortController();
    const aborted = fetchFrom(b.client, topic, 1, { maxWaitMs: 60_000, minBytes: 1 }, stop.signal);
    aborted.catch(() => undefined);
    await b.client.listOffsets([{ topic, partition: 0, at: 'latest' }], 'committed', never);
    const why = new Error('enough');
    stop.abort(why);
    await assert.rejects(aborted, why);
    assert.equal(batchesIn((await fetchFrom(b.client, topic, 0)).records).length, 1);
    assert.ok(performance.now() - began < 20_000);
  },
);

onKafka('many calls in flight on one connection arrive in order', async (b) => {
  const topic = await b.topic();
  const node = await b.client.leaderOf({ topic, partition: 0 }, never);
  const sent = Array.from({ length: 50 }, (_, i) => {
    const parts = [{ topic, partition: 0, batch: handMadeBatch([String(i)], T0) }];
    return b.client.produce(node, parts, ACKED, never);
  });
  const offsets = (await Promise.all(sent)).map(([p]) => p?.baseOffset);
  assert.deepEqual(
    offsets,
    Array.from({ length: 50 }, (_, i) => i),
  );
});

onKafka('topics: created twice, settings, more partitions, refused settings', async (b) => {
  const topic = await b.topic(1, { 'max.message.bytes': '12345' });
  await b.client.createTopics([{ topic, partitions: 1, replicas: 1, configs: {} }], never);
  assert.equal((await b.client.topicConfigs(topic, never)).get('max.message.bytes'), '12345');
  assert.match((await b.client.brokerConfigs(never)).get('transaction.max.timeout.ms') ?? '', /^\d+$/);
  await b.client.createPartitions(topic, 3, never);
  await b.client.createPartitions(topic, 3, never);
  assert.equal((await b.client.metadata([topic], never)).topics[0]?.partitions.length, 3);
  const bad = { topic: b.fresh(), partitions: 1, replicas: 5, configs: {} };
  await assert.rejects(b.client.createTopics([bad], never), /cannot create topic .*: INVALID_REPLICATION_FACTOR/);
  await assert.rejects(b.client.topicConfigs(b.fresh(), never), /UNKNOWN_TOPIC_OR_PARTITION/);
});
