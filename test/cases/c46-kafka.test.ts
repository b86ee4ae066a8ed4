/** C46: kill -9 around the two commits of the writer; the Java consumer sees each record once. */
import assert from 'node:assert/strict';
import { kafkaTest, type Kafka, type OwnTopic } from '../support/kafka.js';
import { zombieAt } from '../support/crash.js';
import { sync, until } from '../support/sync.js';
import { Workspace, tree } from '../support/workspace.js';

const ROWS = 10_000;
const FILES = 40;
/** So many a second that a slow machine has rows left for a fourth start, and each epoch has rows. */
const PACE = 2000;

function writeRows(ws: Workspace): void {
  for (let f = 0; f < FILES; f++) {
    const ids = Array.from({ length: ROWS / FILES }, (_, i) => `${String(f + i * FILES)}\n`);
    ws.write(`in/${String(f)}.csv`, ids.join(''));
  }
}

/** @param record rows a second; 0: no limit. */
function jobTo(ws: Workspace, kafka: Kafka, topic: string, channel: number, record: number): string {
  const reader = {
    name: 'filereader',
    parameter: { path: 'in', fileType: 'csv', column: [{ name: 'id', index: 0, type: 'int' }] },
  };
  const writer = {
    name: 'kafkawriter',
    parameter: { brokers: kafka.brokers, topic, semantic: 'exactly-once', keyColumns: ['id'] },
  };
  return ws.job({
    job: {
      content: [{ reader, writer }],
      setting: { speed: { channel, record }, checkpoint: { interval: 30, minPause: 0 } },
    },
  });
}

/** Each id once, in the order of its file within a partition; nothing is left open. */
async function assertExact(topic: OwnTopic, channel: number): Promise<void> {
  const committed = await topic.read();
  const ids = committed.records.map((r) => (JSON.parse(r.value?.toString() ?? '') as { id: number }).id);
  assert.equal(ids.length, ROWS);
  assert.equal(new Set(ids).size, ROWS);
  if (channel === 1) {
    const last = new Map<string, number>();
    for (const [i, r] of committed.records.entries()) {
      const id = ids[i] ?? 0;
      const lane = `${String(r.partition)} ${String(id % FILES)}`;
      assert.ok((last.get(lane) ?? -1) < id, `the record ${String(id)} came out of order`);
      last.set(lane, id);
    }
  }
  const all = await topic.read({ isolation: 'read_uncommitted' });
  assert.deepEqual(committed.ends, all.ends, 'a transaction is still open');
}

const SEQUENCES: readonly (readonly string[])[] = [
  // (a) sent, not prepared
  ['write.after#3'],
  ['kafka.marker#2'],
  // (b) prepared, the checkpoint not durable
  ['kafka.prepared#2'],
  ['ckpt.before#2'],
  // (c) the checkpoint durable, the transaction open
  ['ckpt.after#2'],
  ['kafka.committing#2'],
  // (d) committed, not noted
  ['kafka.committed#2'],
  ['outcome.before#2'],
  // (e) twice; an epoch may be without rows, and then without a transaction, but not at kafka.committing
  ['ckpt.after#2', 'ckpt.after'],
  ['kafka.committing#2', 'kafka.recovered'],
  ['kafka.committed#2', 'kafka.recovered', 'sweep.after', 'kafka.begun'],
];

for (const [partitions, channel] of [
  [1, 1],
  [3, 2],
] as const) {
  kafkaTest(`C46: ${String(partitions)} partitions, ${String(channel)} lanes`, async (kafka, t) => {
    for (const points of SEQUENCES) {
      await t.test(points.join(' then '), async () => {
        await using topic = await kafka.topic({ partitions });
        using ws = new Workspace();
        writeRows(ws);
        const job = jobTo(ws, kafka, topic.name, channel, PACE);
        const args = ['run', job, '--output', 'json'];
        for (const failpoint of points) {
          const r = await sync(args, { cwd: ws.dir, failpoint });
          assert.equal(r.signal, 'SIGKILL', `${failpoint} was not reached: ${r.stderr}`);
        }
        jobTo(ws, kafka, topic.name, channel, 0);
        const r = await sync(args, { cwd: ws.dir });
        assert.equal(r.code, 0, r.stderr);
        assert.deepEqual([r.summary?.written, r.summary?.delivery], [ROWS, 'exactly-once']);
        await assertExact(topic, channel);
      });
    }
  });
}

kafkaTest('C46: a transaction that the broker times out before its commit is written again, once', async (kafka) => {
  await using topic = await kafka.topic();
  using ws = new Workspace();
  ws.write('in/a.csv', Array.from({ length: 100 }, (_, i) => `${String(i)}\n`).join(''));
  const job = ws.job({
    job: {
      content: [
        {
          reader: {
            name: 'filereader',
            parameter: { path: 'in', fileType: 'csv', column: [{ name: 'id', index: 0 }] },
          },
          writer: {
            name: 'kafkawriter',
            parameter: {
              brokers: kafka.brokers,
              topic: topic.name,
              semantic: 'exactly-once',
              transactionTimeout: 1000,
            },
          },
        },
      ],
    },
  });
  const args = ['run', job, '--output', 'json'];
  assert.equal((await sync(args, { cwd: ws.dir, failpoint: 'ckpt.after' })).signal, 'SIGKILL');
  const attempt = tree(ws.path('state')).find((n) => n.endsWith('/attempt-1')) ?? '';
  const id = `sync-${attempt.split('/').at(-2) ?? ''}-0-1`;
  await until(
    'the broker has ended it',
    async () => {
      const [own] = (await kafka.transactions()).filter((x) => x.transactionalId === id);
      return own?.state === 'CompleteAbort';
    },
    60_000,
  );
  const r = await sync(args, { cwd: ws.dir });
  assert.equal(r.code, 0, r.stderr);
  const values = (await topic.records()).map((x) => x.value?.toString());
  assert.equal(values.length, 100);
  assert.equal(new Set(values).size, 100);
});

kafkaTest(
  'C46: a zombie that wakes when the next start has finished adds nothing, and leaves nothing open',
  async (kafka, t) => {
    const points = [
      'write.after#3',
      'kafka.begun#2',
      'kafka.marker#2',
      'kafka.prepared#2',
      'ckpt.before#2',
      'ckpt.after#2',
    ];
    for (const point of [...points, 'kafka.committed#2']) {
      await t.test(point, async () => {
        await using topic = await kafka.topic({ partitions: 2 });
        using ws = new Workspace();
        writeRows(ws);
        const job = jobTo(ws, kafka, topic.name, 1, PACE);
        await zombieAt(ws, { job }, point, async () => {
          jobTo(ws, kafka, topic.name, 1, 0);
          const r = await sync(['run', job, '--output', 'json'], { cwd: ws.dir });
          assert.equal(r.code, 0, r.stderr);
          await assertExact(topic, 1);
        });
        await assertExact(topic, 1);
      });
    }
  },
);
