/** C44: the record to go on with is no longer on the broker. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { kafkaTest, type Kafka, type OwnTopic } from '../support/kafka.js';
import { kafkaToFile, type KafkaJob } from '../support/kafka-job.js';
import { startSync, sync, until, type SyncResult } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const values = (from: number, n: number) => Array.from({ length: n }, (_, i) => ({ value: String(from + i) }));
const SETTING = { checkpoint: { interval: 200 } };

/** The job has read and committed 0 to 99; its next record is 100. */
async function stoppedAt100(ws: Workspace, kafka: Kafka, topic: string): Promise<KafkaJob> {
  const job = kafkaToFile(ws, kafka, { topic, bounded: 'no' }, SETTING);
  const run = startSync(['run', job.path, '--output', 'json'], { cwd: ws.dir });
  await until('100 rows are published', () => job.lines().length === 100);
  run.child.kill('SIGTERM');
  const r = await run.done;
  assert.equal(r.code, 143, r.stderr);
  return job;
}

/** The same job again, with another policy. */
async function goOn(ws: Workspace, job: KafkaJob, offsetGone: string, rows: number): Promise<SyncResult> {
  const text = readFileSync(job.path, 'utf8');
  ws.write('job.json', text.replace(/"bounded":"no"/, `"bounded":"no","offsetGone":"${offsetGone}"`));
  const run = startSync(['run', job.path, '--output', 'json'], { cwd: ws.dir });
  await until(`${String(rows)} rows are published`, () => job.lines().length >= rows);
  run.child.kill('SIGTERM');
  return run.done;
}

async function withGap(kafka: Kafka, topic: OwnTopic): Promise<void> {
  await topic.send(values(100, 100));
  await topic.deleteRecords(0, 150);
  void kafka;
}

kafkaTest('C44: by default it fails, naming what is wanted and what is there; the state stays', async (kafka) => {
  await using topic = await kafka.topic();
  await topic.send(values(0, 100));
  using ws = new Workspace();
  const job = await stoppedAt100(ws, kafka, topic.name);
  await withGap(kafka, topic);
  for (let i = 0; i < 2; i++) {
    const r = await sync(['run', job.path, '--output', 'json'], { cwd: ws.dir });
    assert.notEqual(r.code, 0);
    assert.equal(r.summary?.error?.code, 'SOURCE_MISSING', r.stderr);
    assert.match(r.summary.error.message, new RegExp(`${topic.name}-0 .*100.*150 to 200`));
  }
  assert.equal(job.lines().length, 100);
});

for (const [policy, rows] of [
  ['earliest', 150],
  ['latest', 101],
] as const) {
  kafkaTest(`C44: offsetGone ${policy}`, async (kafka) => {
    await using topic = await kafka.topic();
    await topic.send(values(0, 100));
    using ws = new Workspace();
    const job = await stoppedAt100(ws, kafka, topic.name);
    await withGap(kafka, topic);
    const going = goOn(ws, job, policy, rows);
    if (policy === 'latest') {
      await until('it goes on', async () => {
        await topic.send([{ value: 'late' }]);
        return job.lines().length > 100;
      });
    }
    const r = await going;
    const gone = policy === 'earliest' ? /50 records \(100-149\) are gone/g : /\d+ records \(100-\d+\) are gone/g;
    assert.equal([...r.stderr.matchAll(gone)].length, 1, r.stderr);
    assert.equal([...r.stderr.matchAll(/goes on at offset/g)].length, 1, r.stderr);
    const lines = new Set(job.lines());
    assert.equal(lines.has('{"message":"150"}'), policy === 'earliest');
    assert.equal(lines.has('{"message":"199"}'), policy === 'earliest');
  });
}

kafkaTest('C44: a topic that was made anew is loud', async (kafka) => {
  const topic = await kafka.topic();
  await topic.send(values(0, 100));
  using ws = new Workspace();
  const job = await stoppedAt100(ws, kafka, topic.name);
  await kafka.deleteTopic(topic.name);
  await using again = await kafka.topic({ name: topic.name });
  await again.send(values(0, 10));
  const r = await sync(['run', job.path, '--output', 'json'], { cwd: ws.dir });
  assert.notEqual(r.code, 0);
  assert.equal(r.summary?.error?.code, 'SOURCE_MISSING', r.stderr);
  assert.match(r.summary.error.message, /100.*0 to 10/);
});
