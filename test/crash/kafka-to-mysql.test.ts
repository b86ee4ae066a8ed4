/** A topic into a table, exactly once: killed with -9 around the two commits, over lanes, while records come. */
import assert from 'node:assert/strict';
import { ownDatabase } from '../support/databases.js';
import { kafkaTest } from '../support/kafka.js';
import { KILLS_INTO_TABLES } from '../support/kafka-job.js';
import { mysqlWriter } from '../support/mysql-job.js';
import { testServer } from '../support/services.js';
import { startSync, until } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

kafkaTest('a stream into a table: killed at any step, each record is there once', async (kafka, t) => {
  const server = testServer('mariadb');
  if (server === null) {
    t.skip('no server: SYNC_MARIADB_URL is not set');
    return;
  }
  await using db = await ownDatabase(server.url);
  await db.query('create table t (id int, p int, o bigint) engine=InnoDB'); // without a key: doubles would stay
  await using topic = await kafka.topic({ partitions: 3 });
  using ws = new Workspace();
  const column = [
    { name: 'id', type: 'int' },
    { name: 'p', meta: 'partition' },
    { name: 'o', meta: 'offset' },
  ];
  const parameter = {
    brokers: kafka.brokers,
    topic: topic.name,
    mode: 'earliest-offset',
    bounded: 'no',
    codec: 'json',
    column,
  };
  const job = ws.job({
    job: {
      content: [
        { reader: { name: 'kafkareader', parameter }, writer: mysqlWriter(db, 't', { column: ['id', 'p', 'o'] }) },
      ],
      setting: { speed: { channel: 2 }, checkpoint: { interval: 100 } },
    },
  });
  const args = ['run', job, '--output', 'json'];
  let sent = 0;
  const send = async (): Promise<void> => {
    await topic.send(Array.from({ length: 30 }, (_, i) => ({ partition: i % 3, value: `{"id":${String(++sent)}}` })));
  };
  for (const failpoint of KILLS_INTO_TABLES) {
    const run = startSync(args, { cwd: ws.dir, failpoint });
    await until(`it is killed at ${failpoint}`, async () => {
      await send();
      return run.child.signalCode !== null || run.child.exitCode !== null;
    });
    assert.equal((await run.done).signal, 'SIGKILL', failpoint);
  }
  const last = startSync(args, { cwd: ws.dir });
  const rows = async (): Promise<number> => Number((await db.query('select count(*) from t'))[0]?.[0]);
  await until('all records are there', async () => (await rows()) >= sent);
  last.child.kill('SIGTERM');
  const r = await last.done;
  assert.equal(r.code, 143, r.stderr);
  const facts = await db.query('select count(*), count(distinct id), min(id), max(id), count(distinct p, o) from t');
  assert.deepEqual(facts, [[sent, sent, 1, sent, sent].map(String)]);
  assert.equal(r.summary?.delivery, 'exactly-once');
});
