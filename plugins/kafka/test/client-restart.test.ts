/** A broker that is killed in the middle of a transaction, and comes back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSyncError } from 'syncx/plugin-api';
import { openKafkajsClient } from '../client/kafkajs-client.js';
import { batchesIn, handMadeBatch } from './hand-made-batch.js';
import { never, settingsFor } from './kafka-servers.js';
import { OwnBroker } from './own-broker.js';

const lib = process.env['SYNC_KAFKA_LIB'] ?? '';
const why = 'no server: SYNC_KAFKA_LIB is not set; see install/services/README.md';
const CI = !['', '0', 'false'].includes(process.env['CI'] ?? '');

/** Skipped, and said so, where there are no programs; in CI that fails. */
function onOwnKafka(name: string, body: () => Promise<void>): void {
  test(name, { skip: lib === '' && !CI ? why : false }, async () => {
    if (lib === '') throw new Error(why);
    await body();
  });
}

onOwnKafka(
  'kill -9 of the broker: fetch and produce fail at once, endTxn waits for it, and all goes on with the same client',
  async () => {
    await using broker = await OwnBroker.make(lib);
    await using client = openKafkajsClient(settingsFor([broker.at], { requestTimeoutMs: 60_000 }), 'sink');
    const topic = 'restart';
    const at = { topic, partition: 0 };
    await client.createTopics([{ topic, partitions: 1, replicas: 1, configs: {} }], never);
    const id = { transactionalId: 'tx', ...(await client.initProducerId('tx', 300_000, never)) };
    const node = await client.leaderOf(at, never);
    const batch = handMadeBatch(['a', 'b'], 1_700_000_000_000, { ...id, sequence: 0, transactional: true });
    await client.addPartitionsToTxn(id, [at], never);
    const o = { acks: -1, timeoutMs: 5000, transactionalId: 'tx' } as const;
    const [produced] = await client.produce(node, [{ ...at, batch }], o, never);
    assert.equal(produced?.error, null);
    await client.addOffsetsToTxn(id, 'g', never);
    await client.txnOffsetCommit(id, 'g', [{ ...at, offset: 7, metadata: 'm' }], never);

    const fetch = (maxWaitMs: number) =>
      client.fetch(
        node,
        [{ ...at, offset: 0, maxBytes: 1 << 20 }],
        { maxWaitMs, minBytes: 1, maxBytes: 1 << 20, committedOnly: true },
        never,
      );
    const waiting = fetch(50_000).catch((e: unknown) => e);
    await client.metadata([], never);
    const killed = performance.now();
    await broker.kill();
    const lost = await waiting;
    assert.ok(isSyncError(lost) && lost.code === 'SINK_IO' && lost.retry === 'reconnect', String(lost));
    const refused = await client.produce(node, [{ ...at, batch }], o, never).catch((e: unknown) => e);
    assert.ok(isSyncError(refused) && refused.retry === 'reconnect', String(refused));
    assert.ok(performance.now() - killed < 10_000);

    const ended = client.endTxn(id, true, never);
    await broker.start();
    await ended;
    assert.deepEqual(await client.offsetFetch('g', [at], { stable: true }, never), [
      { ...at, offset: 7, metadata: 'm' },
    ]);
    assert.equal(await client.leaderOf(at, never), node);
    for (;;) {
      const [p] = await fetch(5000);
      const data = batchesIn(p?.records ?? Buffer.alloc(0)).filter((x) => !x.control);
      if (p?.error !== null || data.length === 0) continue; // led again, and shown, a moment after the end
      assert.deepEqual(data[0]?.bytes.subarray(16), batch.subarray(16));
      break;
    }
  },
);

onOwnKafka('sessions that end: the client logs in again in time, and what is in flight stays in order', async () => {
  const sessionMs = 4000;
  await using broker = await OwnBroker.make(lib, { sessionMs });
  const sasl = () => ({ mechanism: 'PLAIN', username: 'sync', password: 'password' }) as const;
  await using client = openKafkajsClient(settingsFor([broker.sasl], { sasl }), 'sink');
  const at = { topic: 'sessions', partition: 0 };
  await client.createTopics([{ topic: at.topic, partitions: 1, replicas: 1, configs: {} }], never);
  const node = await client.leaderOf(at, never);
  const ids = await client.initProducerId(null, 60_000, never);
  const o = { acks: -1, timeoutMs: 5000, transactionalId: null } as const;
  let sequence = 0;
  const lane = async (): Promise<void> => {
    for (const end = performance.now() + 2.5 * sessionMs; performance.now() < end;) {
      const batch = handMadeBatch(['a'], 1_700_000_000_000, { ...ids, sequence: sequence++, transactional: false });
      const [p] = await client.produce(node, [{ ...at, batch }], o, never);
      assert.equal(p?.error, null);
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  const [latest] = await client.listOffsets([{ ...at, at: 'latest' }], 'uncommitted', never);
  assert.equal(latest?.offset, sequence);
});
