/** A run is not gone on with at another cluster, where the same offsets are of other records. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { kafkaTest, openKafka } from '../support/kafka.js';
import { kafkaToFile } from '../support/kafka-job.js';
import { ownServer } from '../support/own-server.js';
import { sync } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

kafkaTest('brokers of another cluster are refused, those of the same one taken', async (kafka) => {
  await using topic = await kafka.topic();
  await topic.send(Array.from({ length: 10 }, (_, i) => ({ value: String(i) })));
  await using server = await ownServer('kafka');
  await using other = openKafka(server.url);
  await using twin = await other.topic({ name: topic.name });
  await twin.send(Array.from({ length: 20 }, (_, i) => ({ value: `other ${String(i)}` })));

  using ws = new Workspace();
  const job = kafkaToFile(ws, kafka, { topic: topic.name });
  const args = ['run', job.path, '--output', 'json'];
  assert.equal((await sync(args, { cwd: ws.dir, failpoint: 'ckpt.after' })).signal, 'SIGKILL');
  const text = readFileSync(job.path, 'utf8');
  const at = (brokers: string): string => ws.write('job.json', text.replace(kafka.brokers, brokers));

  at(other.brokers);
  const refused = await sync(args, { cwd: ws.dir });
  assert.equal(refused.code, 4, refused.stderr);
  assert.equal(refused.summary?.error?.code, 'SOURCE_CHANGED');

  at(`${kafka.brokers},${kafka.brokers}`);
  const done = await sync(args, { cwd: ws.dir });
  assert.equal(done.code, 0, done.stderr);
  assert.deepEqual(
    job.lines(),
    Array.from({ length: 10 }, (_, i) => `{"message":"${String(i)}"}`),
  );
});
