/** C48: records that were compressed by every codec of the Java client, in one topic. */
import assert from 'node:assert/strict';
import { kafkaTest } from '../support/kafka.js';
import { assertDone, kafkaToFile, runKafka } from '../support/kafka-job.js';
import { Workspace } from '../support/workspace.js';

const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];

kafkaTest('C48: ten records by each codec', async (kafka) => {
  await using topic = await kafka.topic();
  for (const codec of CODECS) {
    const records = Array.from({ length: 10 }, (_, i) => ({ value: `${codec} ${String(i)} ${'x'.repeat(100)}` }));
    await topic.send(records, { 'compression.type': codec, 'linger.ms': '50' });
  }
  using ws = new Workspace();
  const job = kafkaToFile(ws, kafka, { topic: topic.name });
  assertDone(await runKafka(ws, job), 50);
  const expected = (await topic.records()).map((r) => JSON.stringify({ message: r.value?.toString() })).sort();
  assert.equal(expected.length, 50);
  assert.deepEqual(job.lines(), expected);
});
