/** C43 and C48, writing: records pass through a copy byte for byte, by every codec, to the partitions that Java chooses. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { kafkaTest, type Kafka, type KafkaRecord } from '../support/kafka.js';
import { RECORDS } from '../support/kafka-job.js';
import { sync, type SyncResult } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

interface Parts {
  readonly from: string;
  readonly to: string;
  readonly reader?: object;
  readonly writer?: object;
}

async function copy(ws: Workspace, kafka: Kafka, { from, to, reader, writer }: Parts): Promise<SyncResult> {
  const { brokers } = kafka;
  const read = { brokers, topic: from, mode: 'earliest-offset', bounded: 'latest-at-start', codec: 'raw', ...reader };
  const content = [
    {
      reader: { name: 'kafkareader', parameter: read },
      writer: { name: 'kafkawriter', parameter: { brokers, topic: to, codec: 'raw', ...writer } },
    },
  ];
  const r = await sync(['run', ws.job({ job: { content } }), '--output', 'json'], { cwd: ws.dir });
  assert.equal(r.code, 0, r.stderr);
  return r;
}

const content = (records: readonly KafkaRecord[]) =>
  records.map(({ partition, offset, timestamp: at, key, value, headers }) => ({
    partition,
    offset,
    at,
    key,
    value,
    headers,
  }));

for (const semantic of ['at-least-once', 'exactly-once']) {
  kafkaTest(`C43: a copy of awkward records is equal byte for byte, ${semantic}`, async (kafka) => {
    await using from = await kafka.topic();
    await using to = await kafka.topic();
    await from.send(RECORDS);
    using ws = new Workspace();
    await copy(ws, kafka, { from: from.name, to: to.name, writer: { semantic } });
    assert.deepEqual(content(await to.records()), content(await from.records()));
  });
}

for (const compression of ['gzip', 'snappy', 'lz4', 'zstd']) {
  kafkaTest(
    `C48: what is written by ${compression} the Java consumer reads, also where the topic wants another`,
    async (kafka) => {
      await using from = await kafka.topic();
      const records = Array.from({ length: 500 }, (_, i) => ({
        key: String(i),
        value: `row ${String(i)} ${'x'.repeat(200)}`,
      }));
      await from.send(records);
      for (const config of [{}, { 'compression.type': compression === 'lz4' ? 'zstd' : 'lz4' }]) {
        await using to = await kafka.topic({ config });
        using ws = new Workspace();
        await copy(ws, kafka, { from: from.name, to: to.name, writer: { compression } });
        assert.deepEqual(content(await to.records()), content(await from.records()));
      }
    },
  );
}

kafkaTest('keys go to the partitions that Java’s producer chooses', async (kafka) => {
  await using java = await kafka.topic({ partitions: 7 });
  await using ours = await kafka.topic({ partitions: 7 });
  const keys = Array.from({ length: 300 }, (_, i) => 'é'.repeat(i % 5) + String(i * 7919));
  await java.send(keys.map((key) => ({ key, value: key })));
  using ws = new Workspace();
  await copy(ws, kafka, { from: java.name, to: ours.name });
  const where = (records: readonly KafkaRecord[]) =>
    records.map((r) => `${r.key?.toString() ?? ''} ${String(r.partition)}`).sort();
  assert.deepEqual(where(await ours.records()), where(await java.records()));
});

kafkaTest('a record that the topic does not take is dirty, with key and size; its neighbours arrive', async (kafka) => {
  await using from = await kafka.topic();
  await using to = await kafka.topic({ config: { 'max.message.bytes': '2000' } });
  await from.send([
    { key: 'a', value: 'x'.repeat(100) },
    { key: 'huge', value: 'x'.repeat(5000) },
    { key: 'b', value: 'x'.repeat(1500) },
  ]);
  using ws = new Workspace();
  const { brokers } = kafka;
  const job = ws.job({
    job: {
      content: [
        {
          reader: {
            name: 'kafkareader',
            parameter: { brokers, topic: from.name, mode: 'earliest-offset', bounded: 'latest-at-start', codec: 'raw' },
          },
          writer: { name: 'kafkawriter', parameter: { brokers, topic: to.name, codec: 'raw' } },
        },
      ],
      setting: { errorLimit: { record: 1 } },
    },
  });
  const r = await sync(['run', job, '--output', 'json'], { cwd: ws.dir });
  assert.equal(r.code, 0, r.stderr);
  assert.deepEqual([r.summary?.written, r.summary?.dirty], [2, 1]);
  const dirty = String(r.summary?.['dirtyFiles']);
  const told = readdirSync(dirty).map((n) => readFileSync(join(dirty, n), 'utf8'));
  assert.match(told.join(''), /of the key \\"huge\\" has up to 50\d\d bytes/);
  assert.deepEqual(
    (await to.records()).map((x) => x.key?.toString()),
    ['a', 'b'],
  );
});
