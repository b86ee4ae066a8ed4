/** How the partitions of one lane share its fetches: none waits for what another one has not. */
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { SyncError, type LaneContext, type ReadItem } from 'syncx/plugin-api';
import type { KafkaClient } from '../client/kafka-client.js';
import { KafkaLaneReader } from '../read/lane-reader.js';
import { RawRows } from '../read/rows/raw-rows.js';
import { TimeCell } from '../read/rows/time-cell.js';
import { splitIdOf, splitOf } from '../read/split-spec.js';
import { BatchWriter, NO_PRODUCER } from '../wire/batch-writer.js';
import { never, onKafka, type TestBroker } from './kafka-servers.js';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined };

/** Batches of one row. */
function laneReader(client: KafkaClient): KafkaLaneReader {
  const metrics = { gauge: () => ({ set: () => undefined }) };
  const lane = { batch: { bytes: 1 << 20, rows: 1 }, log: silent, metrics, signal: never } as unknown as LaneContext;
  return new KafkaLaneReader(client, lane, {
    committedOnly: true,
    whenGone: 'fail',
    topicIds: {},
    rows: (topic, partition) => new RawRows({ topic, partition: String(partition), time: new TimeCell() }),
  });
}

const fetchingBy = (client: KafkaClient, fetch: KafkaClient['fetch']): KafkaClient =>
  new Proxy(client, {
    get: (of, name) => (name === 'fetch' ? fetch : (Reflect.get(of, name) as (...a: unknown[]) => unknown).bind(of)),
  });

async function send(b: TestBroker, topic: string, partition: number, records: number): Promise<void> {
  const writer = new BatchWriter({ codec: 'none' });
  for (let i = 0; i < records; i++) writer.append(0, null, Buffer.from(String(i)), null);
  const batch = await writer.finish(NO_PRODUCER);
  const node = await b.client.leaderOf({ topic, partition }, never);
  const o = { acks: -1, timeoutMs: 10_000, transactionalId: null } as const;
  await b.client.produce(node, [{ topic, partition, batch }], o, never);
}

const assign = (reader: KafkaLaneReader, topic: string, partition: number): void => {
  reader.assign(splitOf({ topic, topicId: null, partition, start: 0, stop: null }), null);
};

async function within20s<T>(item: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => setTimeout(reject, 20_000, new Error('no item in 20 s')).unref());
  return Promise.race([item, late]);
}

const placeOf = (item: ReadItem): string =>
  `${item.splitId} ${item.is === 'batch' ? JSON.stringify(item.position) : item.is}`;

onKafka('a partition that is held in the middle of an answer lets the others be read', async (b) => {
  const topic = await b.topic(2);
  for (const p of [0, 1]) await send(b, topic, p, 3);
  await using reader = laneReader(b.open());
  for (const p of [0, 1]) assign(reader, topic, p);
  const items = reader.read(never);
  const next = async (): Promise<ReadItem> => {
    const { value } = await within20s(items.next());
    assert.ok(value !== undefined);
    return value as ReadItem;
  };
  const first = await next();
  const held = first.splitId;
  const [other] = [0, 1].map((p) => splitIdOf(topic, p)).filter((id) => id !== held);
  reader.hold([held]);
  const meanwhile = [await next(), await next(), await next()].map(placeOf);
  assert.deepEqual(
    meanwhile,
    [1, 2, 3].map((offset) => `${String(other)} {"offset":${String(offset)}}`),
  );
  reader.release([held]);
  const rest = [first, await next(), await next()].map(placeOf);
  assert.deepEqual(
    rest,
    [1, 2, 3].map((offset) => `${held} {"offset":${String(offset)}}`),
  );
});

onKafka('no broker waits for records of the first partition while others are being assigned', async (b) => {
  const topic = await b.topic(2);
  await send(b, topic, 1, 1);
  const client = b.open();
  const fetches: { readonly partitions: readonly number[]; readonly maxWaitMs: number }[] = [];
  const spied = fetchingBy(client, (node, queries, o, signal) => {
    fetches.push({ partitions: queries.map((q) => q.partition), maxWaitMs: o.maxWaitMs });
    return client.fetch(node, queries, o, signal);
  });
  await using reader = laneReader(spied);
  assign(reader, topic, 0);
  const items = reader.read(never);
  const first = items.next();
  setImmediate(() => {
    assign(reader, topic, 1);
  });
  assert.equal(placeOf((await first).value as ReadItem), `${topic}-1 {"offset":1}`);
  const [asked] = fetches;
  assert.deepEqual([asked?.partitions[0], asked?.maxWaitMs], [0, 0]);
});

onKafka('a partition whose pause ends while the lane looks for something to do is fetched again', async (b) => {
  const topic = await b.topic(1);
  await send(b, topic, 0, 1);
  const client = b.open();
  let tries = 0;
  const broken = fetchingBy(client, (node, queries, o, signal) => {
    if (++tries === 1) throw new SyncError('SOURCE_IO', 'the broker is away', { retry: 'reconnect' });
    return client.fetch(node, queries, o, signal);
  });
  await using reader = laneReader(broken);
  assign(reader, topic, 0);
  // Each look at the clock takes longer than a good part of the pause, as on a machine that is busy.
  const real = performance.now.bind(performance);
  let looks = 0;
  const clock = mock.method(performance, 'now', () => real() + 60 * looks++);
  try {
    const item = await within20s(reader.read(never).next());
    assert.equal(placeOf(item.value as ReadItem), `${topic}-0 {"offset":1}`);
  } finally {
    clock.mock.restore();
  }
});
