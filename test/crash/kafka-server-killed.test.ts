/** The only broker is killed -9 under a copy of a topic, and comes back: the job goes on by itself, exactly once. */
import assert from 'node:assert/strict';
import { openKafka } from '../support/kafka.js';
import { Growth, copyJob, ended, stopWhenCopied } from '../support/kafka-growth.js';
import { ownServer } from '../support/own-server.js';
import { testServer } from '../support/services.js';
import { test } from 'node:test';
import { isStopped, startSync, until } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const skip =
  testServer('kafka') === null ? 'no server: SYNC_KAFKA_BROKERS is not set; see install/services/README.md' : false;

/** So that a broker that was killed is taken back at once. */
const QUICK = ['broker.session.timeout.ms=1000', 'broker.heartbeat.interval.ms=200'];

test('the broker is killed in mid-transaction, and between prepare and commit', { skip }, async () => {
  await using server = await ownServer('kafka', QUICK);
  await using kafka = openKafka(server.url);
  const from = await kafka.topic({ partitions: 3 });
  const to = await kafka.topic({ partitions: 2 });
  await using growth = await Growth.of(kafka, from, 3);
  using ws = new Workspace();
  const args = copyJob(ws, kafka, { from: from.name, to: to.name }, 1);
  for (const point of ['kafka.marker#2', 'ckpt.after#2']) {
    const run = startSync(args, { cwd: ws.dir, failpoint: `${point}=stop` });
    const pid = run.child.pid ?? 0;
    await until(`it stops at ${point}`, async () => {
      await growth.send();
      return isStopped(pid) || ended(run);
    });
    await server.kill9();
    process.kill(pid, 'SIGCONT');
    await server.start();
    await growth.send();
    const r = await stopWhenCopied(growth, run, () => to.records());
    assert.equal(r.summary?.delivery, 'exactly-once');
  }
  const committed = await to.read();
  growth.assertCopy(committed.records, { ordered: true });
  assert.deepEqual(committed.ends, (await to.read({ isolation: 'read_uncommitted' })).ends, 'a transaction is open');
});
