/** `topic: "….${table}"`: each row goes to the topic that is named after its table. */
import assert from 'node:assert/strict';
import {
  BatchBuilder,
  internSchema,
  type Committable,
  type RowBatch,
  type Writer,
} from '../../src/plugin-api/index.js';
import { fillOptions, testContext, testLane, testRun } from '../../src/plugin-testkit/index.js';
import { writer } from '../../plugins/kafka/index.js';
import { ownDatabase, type OwnDatabase } from '../support/databases.js';
import { kafkaTest, type Kafka, type OwnTopic } from '../support/kafka.js';
import { jobFile, mysqlReader, runJob, type JobParts } from '../support/mysql-job.js';
import { testServer } from '../support/services.js';
import { sync } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const ROWS = 3000;

async function tables(names: readonly string[]): Promise<OwnDatabase | null> {
  const server = testServer('mariadb');
  if (server === null) return null;
  const db = await ownDatabase(server.url);
  const values = Array.from({ length: ROWS }, (_, i) => `(${String(i)})`).join();
  for (const name of names) {
    await db.query(`create table ${name} (id int primary key) engine=InnoDB`);
    await db.query(`insert into ${name} values ${values}`);
  }
  return db;
}

const jobOf = (
  kafka: Kafka,
  db: OwnDatabase,
  names: readonly string[],
  more: Readonly<Record<string, unknown>>,
): JobParts => ({
  reader: mysqlReader(db, names, { splitSize: 4096 }),
  writer: {
    name: 'kafkawriter',
    parameter: { brokers: kafka.brokers, topic: `sync-${db.name}-\${database}.\${table}`, keyColumns: ['id'], ...more },
  },
  setting: { speed: { channel: 2, record: 20_000 }, checkpoint: { interval: 30, minPause: 0 } },
});

const topicName = (db: OwnDatabase, table: string): string => `sync-${db.name}-${db.name}.${table}`;

const idsOf = async (topic: OwnTopic): Promise<readonly number[]> =>
  (await topic.records())
    .map((r) => (JSON.parse(r.value?.toString() ?? '') as { id: number }).id)
    .sort((a, b) => a - b);

const ALL = Array.from({ length: ROWS }, (_, i) => i);

kafkaTest(
  'exactly-once over topics of tables: killed around the commit, each row is in its topic once',
  async (kafka, t) => {
    const db = await tables(['orders', 'customers']);
    if (db === null) {
      t.skip('no server: SYNC_MARIADB_URL is not set');
      return;
    }
    await using _db = db;
    for (const points of [
      ['ckpt.after#2', 'ckpt.after'],
      ['kafka.committed#2', 'kafka.recovered'],
      ['kafka.prepared#2'],
    ]) {
      await using orders = await kafka.topic({ name: topicName(db, 'orders'), partitions: 3 });
      await using customers = await kafka.topic({ name: topicName(db, 'customers'), partitions: 1 });
      await using markers = await kafka.topic();
      using ws = new Workspace();
      const parts = jobOf(kafka, db, ['orders', 'customers'], { semantic: 'exactly-once', markerTopic: markers.name });
      const args = ['run', jobFile(ws, parts), '--output', 'json'];
      for (const failpoint of points) {
        const r = await sync(args, { cwd: ws.dir, failpoint });
        assert.equal(r.signal, 'SIGKILL', `${failpoint} was not reached: ${r.stderr}`);
      }
      const r = await sync(args, { cwd: ws.dir });
      assert.equal(r.code, 0, r.stderr);
      assert.deepEqual([r.summary?.written, r.summary?.delivery], [2 * ROWS, 'exactly-once']);
      assert.deepEqual(await idsOf(orders), ALL, points.join());
      assert.deepEqual(await idsOf(customers), ALL, points.join());
      for (const topic of [orders, customers]) {
        const { ends } = await topic.read();
        assert.deepEqual(
          (await topic.read({ isolation: 'read_uncommitted' })).ends,
          ends,
          'a transaction is still open',
        );
      }
      assert.deepEqual((await markers.read()).ends, { 0: 0 }, 'markers are offsets of groups, no records');
    }
  },
);

kafkaTest(
  'a table without a topic stops the job and names the topic; its rows are not lost in silence',
  async (kafka, t) => {
    const db = await tables(['a', 'b']);
    if (db === null) {
      t.skip('no server: SYNC_MARIADB_URL is not set');
      return;
    }
    await using _db = db;
    await using _a = await kafka.topic({ name: topicName(db, 'a') });
    using ws = new Workspace();
    const parts = jobOf(kafka, db, ['a', 'b'], {});
    const r = await runJob(ws, parts);
    assert.equal(r.code, 1, r.stderr);
    assert.deepEqual([r.summary?.error?.code, r.summary?.error?.place], ['SINK_IO', topicName(db, 'b')]);
    // The job goes on where it stopped once the topic is there.
    await using b = await kafka.topic({ name: topicName(db, 'b') });
    const again = await runJob(ws, parts);
    assert.equal(again.code, 0, again.stderr);
    assert.deepEqual([...new Set(await idsOf(b))], ALL);
  },
);

kafkaTest('exactly-once asks for a topic that is known before rows come', async (kafka) => {
  using ws = new Workspace();
  ws.write('in.csv', '1\n');
  const reader = {
    name: 'filereader',
    parameter: { path: 'in.csv', fileType: 'csv', column: [{ name: 'id', index: 0 }] },
  };
  const by = (more: Readonly<Record<string, unknown>>): JobParts => ({
    reader,
    writer: { name: 'kafkawriter', parameter: { brokers: kafka.brokers, topic: 'x.${table}', ...more } },
  });
  const unnamed = await runJob(ws, by({ semantic: 'exactly-once' }));
  assert.equal(unnamed.code, 2, unnamed.stderr);
  assert.match(unnamed.stderr, /markerTopic.*semantic exactly-once needs one topic for its markers/s);
  const other = await runJob(ws, by({ topic: 'x.$${schema}' }));
  assert.equal(other.code, 2, other.stderr);
  assert.match(other.stderr, /topic has `\$\{schema\}`/);
  const tableless = await runJob(ws, by({}));
  assert.equal(tableless.code, 2, tableless.stderr);
  assert.match(tableless.stderr, /the rows are of no table, so \$\{table\} in topic does not tell where they go/);
});

/** Rows of tables in turns, a section each, as changes come. */
function interleaved(tableNames: readonly string[], rows: number): RowBatch {
  const schemas = tableNames.map((t) => internSchema([{ name: 'id', type: { is: 'int32' } }], t));
  const [first] = schemas;
  assert.ok(first !== undefined);
  const builder = new BatchBuilder(first);
  for (let i = 0; i < rows; i++) {
    builder.startSection(schemas[i % schemas.length] ?? first);
    builder.appendText(String(i));
    builder.endRow();
  }
  return builder.finish('s', null, 0);
}

async function written(w: Writer, batch: RowBatch, epoch: number): Promise<readonly Committable[]> {
  const run = testRun();
  await w.begin(run);
  await using lane = await w.openLane(testLane(run), null);
  await lane.write(batch, testContext().signal);
  const { committables } = await lane.prepare(epoch);
  await lane.commit(epoch);
  return committables;
}

kafkaTest('one batch of rows of many tables: one transaction, each topic in order', async (kafka) => {
  await using first = await kafka.topic({ partitions: 2 });
  const base = first.name;
  const [second, third] = [
    await kafka.topic({ name: `${base}2` }),
    await kafka.topic({ name: `${base}3`, partitions: 5 }),
  ];
  await using _second = second;
  await using _third = third;
  const batch = interleaved(['db.', 'db.2', 'db.3'], 900);
  for (const [round, compression] of (['none', 'gzip', 'lz4'] as const).entries()) {
    const options = { brokers: kafka.brokers, topic: `${base}\${table}`, markerTopic: base, compression };
    const w = await writer.create(fillOptions(writer, { ...options, semantic: 'exactly-once' }), testContext());
    try {
      const committables = await written(w, batch, 1);
      assert.equal(committables.length, 1);
      assert.equal(committables[0]?.rows, 900);
    } finally {
      await w.close?.();
    }
    for (const [t, topic] of [first, second, third].entries()) {
      const ids = await idsOf(topic);
      const wanted = Array.from({ length: 300 }, (_, i) => i * 3 + t);
      assert.deepEqual(
        ids,
        wanted.flatMap((id) => Array.from({ length: round + 1 }, () => id)),
        `${compression} ${topic.name}`,
      );
    }
  }
});

kafkaTest('createTopic: topics that are missing are made, those of tables with their first row', async (kafka) => {
  const base = `sync-made-${testRun().runId}`;
  const options = {
    brokers: kafka.brokers,
    topic: `${base}.\${table}`,
    markerTopic: `${base}.markers`,
    semantic: 'exactly-once',
    createTopic: { partitions: 2, configs: { 'max.message.bytes': 5000 } },
  };
  const w = await writer.create(fillOptions(writer, options), testContext());
  const made = [`${base}.markers`, `${base}.a`, `${base}.b`];
  try {
    const facts = await w.explain?.(null, null);
    assert.match(
      facts?.target?.effect ?? '',
      /where it is missing it is created with 2 partitions, max\.message\.bytes=5000/,
    );
    await written(w, interleaved(['db.a', 'db.b'], 100), 1);
    for (const topic of made.slice(1)) {
      const { records, ends } = await kafka.read(topic);
      assert.deepEqual([records.length, Object.keys(ends)], [50, ['0', '1']]);
    }
    assert.deepEqual((await kafka.read(made[0] ?? '')).ends, { 0: 0, 1: 0 });
  } finally {
    await w.close?.();
    for (const topic of made) await kafka.deleteTopic(topic).catch(() => undefined);
  }
});

kafkaTest('createTopic: a job makes its topic and goes on with it', async (kafka) => {
  using ws = new Workspace();
  ws.write('in.csv', '1\n2\n');
  const topic = `sync-made-${testRun().runId}`;
  const parts: JobParts = {
    reader: { name: 'filereader', parameter: { path: 'in.csv', fileType: 'csv', column: [{ name: 'id', index: 0 }] } },
    writer: {
      name: 'kafkawriter',
      parameter: { brokers: kafka.brokers, topic, semantic: 'exactly-once', createTopic: { partitions: 3 } },
    },
  };
  const plan = await sync(['plan', jobFile(ws, parts)], { cwd: ws.dir });
  assert.equal(plan.code, 0, plan.stderr);
  assert.match(plan.stdout, /it is created with 3 partitions/);
  try {
    for (const count of [2, 4]) {
      const r = await runJob(ws, parts);
      assert.equal(r.code, 0, r.stderr);
      const { records, ends } = await kafka.read(topic);
      assert.deepEqual([records.length, Object.keys(ends).length], [count, 3]);
    }
  } finally {
    await kafka.deleteTopic(topic);
  }
});
