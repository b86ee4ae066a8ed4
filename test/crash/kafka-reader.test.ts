/** Jobs that read topics are killed with -9 inside of partitions; each record is in the target once. */
import assert from 'node:assert/strict';
import { kafkaTest } from '../support/kafka.js';
import { assertDone, kafkaToFile, runKafka } from '../support/kafka-job.js';
import { sync } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const POINTS = [
  'planner.after',
  'lanes.opened',
  'write.after#2',
  'prepare.after#2',
  'ckpt.before#2',
  'ckpt.after#2',
  'commit.data#2',
  'outcome.before#2',
  'write.after#4',
];

for (const channel of [1, 2]) {
  kafkaTest(`killed at any step over ${String(channel)} lanes, the next starts read what is left`, async (kafka, t) => {
    await using topic = await kafka.topic({ partitions: 3 });
    const producer = await kafka.producer({ 'transactional.id': `${topic.name}-tx`, 'compression.type': 'lz4' });
    await producer.init();
    const expected: string[] = [];
    // Batches and aborted transactions between each other, so that positions fall on all kinds of places.
    for (let n = 0; n < 12; n++) {
      await producer.begin();
      const records = Array.from({ length: 50 }, (_, i) => ({ partition: i % 3, value: `${String(n)}-${String(i)}` }));
      await producer.send(topic.name, records);
      if (n % 4 === 1) await producer.abort();
      else {
        await producer.commit();
        expected.push(...records.map(({ value }) => JSON.stringify({ message: value })));
      }
    }
    await producer[Symbol.asyncDispose]();
    expected.sort();
    for (const point of POINTS) {
      await t.test(point, async () => {
        using ws = new Workspace();
        // Slow enough for several epochs.
        const setting = { speed: { channel, record: 500 }, checkpoint: { interval: 30 } };
        const job = kafkaToFile(ws, kafka, { topic: topic.name }, setting);
        const args = ['run', job.path, '--output', 'json'];
        for (let start = 0; start < 3; start++) {
          const killed = await sync(args, { cwd: ws.dir, failpoint: point });
          if (start === 0) assert.equal(killed.signal, 'SIGKILL', `${point} was not reached: ${killed.stderr}`);
          if (killed.signal === null) break; // so little was left that it came to its end
        }
        if (job.lines().length < expected.length) assertDone(await runKafka(ws, job), expected.length);
        assert.deepEqual(job.lines(), expected);
      });
    }
  });
}
