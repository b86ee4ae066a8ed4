/** C44: the record to go on with is no longer on the broker. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Position, ReadItem, Reader } from '../../src/plugin-api/index.js';
import { fillOptions, testContext, testLane, testRun } from '../../src/plugin-testkit/index.js';
import { reader } from '../../plugins/kafka/index.js';
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

/** 200 records: the offset to go on with is there again, and is of another record. */
for (const records of [10, 200]) {
  kafkaTest(`C44: a topic that was made anew is loud, with ${String(records)} records in it`, async (kafka) => {
    const topic = await kafka.topic();
    await topic.send(values(0, 100));
    using ws = new Workspace();
    const job = await stoppedAt100(ws, kafka, topic.name);
    await kafka.deleteTopic(topic.name);
    await using again = await kafka.topic({ name: topic.name });
    await again.send(values(1000, records));
    const r = await sync(['run', job.path, '--output', 'json'], { cwd: ws.dir });
    assert.deepEqual([r.code, r.summary?.error?.code], [4, 'SOURCE_CHANGED'], r.stderr);
    const ids = /^the topic (\S+) was made anew: its id was (\S{22}) and is (\S{22})$/.exec(
      r.summary?.error?.message ?? '',
    );
    assert.equal(ids?.[1], topic.name);
    assert.notEqual(ids[2], ids[3]);
    assert.equal(job.lines().length, 100);

    const on = await goOn(ws, job, 'earliest', 100 + records);
    assert.match(on.stderr, /goes on at offset 0: the topic was made anew/);
    const fresh = job.lines().filter((l) => l.length > '{"message":"99"}'.length);
    assert.deepEqual(
      fresh,
      values(1000, records).map((v) => `{"message":"${v.value}"}`),
    );
  });
}

const readerOf = async (kafka: Kafka, topic: string): Promise<Reader> => {
  const options = { brokers: kafka.brokers, topic, mode: 'earliest-offset', partitionDiscovery: 20 };
  return reader.create(fillOptions(reader, options), testContext());
};

kafkaTest('C44: a topic that is made anew in mid-run is seen where new partitions are looked for', async (kafka) => {
  const topic = await kafka.topic();
  const r = await readerOf(kafka, topic.name);
  try {
    const { signal } = testContext();
    const planner = await r.planner(null);
    assert.notEqual(await planner.next(signal), 'end');
    await kafka.deleteTopic(topic.name);
    await using _again = await kafka.topic({ name: topic.name });
    await assert.rejects(planner.next(signal), { code: 'SOURCE_CHANGED' });
  } finally {
    await r.close?.();
  }
});

kafkaTest('C44: positions of older versions, which have no id of the topic, are gone on with', async (kafka) => {
  await using topic = await kafka.topic();
  await topic.send(values(0, 10));
  const r = await readerOf(kafka, topic.name);
  try {
    await r.planner({ format: 1, known: [`${topic.name}-0`], waiting: [], cluster: null });
    const split = {
      id: `${topic.name}-0`,
      bounded: true,
      spec: { format: 1, topic: topic.name, partition: 0, start: 0, stop: 10 },
      weight: null,
    };
    const first = async (from: Position): Promise<ReadItem | undefined> => {
      await using lane = await r.openLane(testLane(testRun()), r.shared?.() ?? null);
      lane.assign(split, from);
      for await (const item of lane.read(testContext().signal)) return item;
      return undefined;
    };
    const item = await first({ offset: 7 });
    assert.deepEqual([item?.is, item?.is === 'batch' ? item.rows : 0], ['batch', 3]);
    await assert.rejects(first({ offset: 7, topicId: 'AAAAAAAAAAAAAAAAAAAAAA' }), { code: 'SOURCE_CHANGED' });
  } finally {
    await r.close?.();
  }
});
