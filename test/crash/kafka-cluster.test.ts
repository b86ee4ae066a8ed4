/** Brokers of a cluster are killed -9 under a copy of a topic: leaders and coordinators move, and each record is there once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Growth, copyJob, ended, stopWhenCopied } from '../support/kafka-growth.js';
import { kafkaCluster } from '../support/kafka-cluster.js';
import { testServer } from '../support/services.js';
import { startSync, until, type SyncProcess } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const skip =
  testServer('kafka') === null ? 'no server: SYNC_KAFKA_BROKERS is not set; see install/services/README.md' : false;

test('three brokers: two are killed in turn and come back, and so is the job', { skip }, async () => {
  await using cluster = await kafkaCluster();
  const { kafka, brokers } = cluster;
  const from = await kafka.topic({ partitions: 3 });
  const to = await kafka.topic({ partitions: 3 });
  assert.deepEqual([...(await kafka.leaders(from.name))].sort(), [1, 2, 3], 'each broker leads a partition');
  await using growth = await Growth.of(kafka, from, 3);
  using ws = new Workspace();
  const args = copyJob(ws, { brokers }, { from: from.name, to: to.name }, 1);
  const copied = async (): Promise<number> => (await to.records()).length;
  const goesOn = async (run: SyncProcess, step: string): Promise<void> => {
    const before = growth.sent;
    await growth.send(300);
    await until(step, async () => ended(run) || (await copied()) > before, 60_000);
    assert.equal(ended(run), false, (ended(run) ? await run.done : null)?.stderr);
  };
  const first = startSync(args, { cwd: ws.dir });
  await goesOn(first, 'records are copied');
  for (const node of [2, 3]) {
    await growth.send(300); // under way while it goes
    await cluster.kill9(node);
    await goesOn(first, `records are copied without broker ${String(node)}`);
    await cluster.start(node);
    await goesOn(first, `records are copied with broker ${String(node)} again`);
  }
  // The job, too, with a broker that is away and a transaction that is not ended.
  await growth.send(300);
  await cluster.kill9(2);
  first.child.kill('SIGKILL');
  await first.done;
  const second = startSync(args, { cwd: ws.dir });
  await goesOn(second, 'the next start copies without broker 2');
  const r = await stopWhenCopied(growth, second, () => to.records());
  assert.equal(r.summary?.delivery, 'exactly-once');
  const committed = await to.read();
  growth.assertCopy(committed.records, { ordered: true });
  assert.deepEqual(committed.ends, (await to.read({ isolation: 'read_uncommitted' })).ends, 'a transaction is open');
});
