/** C41: a bounded read of a topic whose last offsets are control records ends by itself. */
import assert from 'node:assert/strict';
import { kafkaTest, type Kafka, type OwnTopic, type Producer } from '../support/kafka.js';
import { assertDone, kafkaToFile, runKafka } from '../support/kafka-job.js';
import { Workspace } from '../support/workspace.js';

const numbers = (from: number, n: number) =>
  Array.from({ length: n }, (_, i) => ({ value: JSON.stringify({ id: from + i }) }));

/** 100 records committed (marker at 100), 10 aborted (101 to 110, marker 111). */
async function fill(kafka: Kafka, topic: OwnTopic): Promise<Producer> {
  const producer = await kafka.producer({ 'transactional.id': `${topic.name}-tx` });
  await producer.init();
  await producer.begin();
  await producer.send(topic.name, numbers(0, 100));
  await producer.commit();
  await producer.begin();
  await producer.send(topic.name, numbers(100, 10));
  await producer.abort();
  return producer;
}

const committed = Array.from({ length: 100 }, (_, i) => `{"id":${String(i)}}`).sort();
const READ = { codec: 'json', column: [{ name: 'id', type: 'bigint' }] };

kafkaTest('C41: an aborted transaction at the end', async (kafka) => {
  await using topic = await kafka.topic();
  await using _producer = await fill(kafka, topic);
  using ws = new Workspace();
  const job = kafkaToFile(ws, kafka, { topic: topic.name, groupId: `${topic.name}-group`, ...READ });
  const r = await runKafka(ws, job);
  assertDone(r, 100);
  assert.deepEqual(job.lines(), committed);
  assert.deepEqual(
    (await kafka.groupOffsets(`${topic.name}-group`)).map((o) => o.offset),
    [112],
    'the group is told the offset behind the marker',
  );
});

kafkaTest('C41: read_uncommitted has the aborted records too, and ends', async (kafka) => {
  await using topic = await kafka.topic();
  await using _producer = await fill(kafka, topic);
  using ws = new Workspace();
  const job = kafkaToFile(ws, kafka, { topic: topic.name, isolation: 'read_uncommitted', ...READ });
  assertDone(await runKafka(ws, job), 110);
  assert.equal(job.lines().length, 110);
});

kafkaTest('C41: an open transaction at the end is not waited for', async (kafka) => {
  await using topic = await kafka.topic();
  await using producer = await fill(kafka, topic);
  await producer.begin();
  await producer.send(topic.name, numbers(200, 5));
  using ws = new Workspace();
  const job = kafkaToFile(ws, kafka, { topic: topic.name, ...READ });
  assertDone(await runKafka(ws, job), 100);
  assert.deepEqual(job.lines(), committed);
});
