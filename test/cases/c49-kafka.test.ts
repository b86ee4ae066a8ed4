/** C49: more partitions while the job runs, a second copy of the job, kill -9, and who owns the offsets. */
import assert from 'node:assert/strict';
import { kafkaTest } from '../support/kafka.js';
import { kafkaToFile } from '../support/kafka-job.js';
import { startSync, sync, until } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const ten = (name: string, partition: number) =>
  Array.from({ length: 10 }, (_, i) => ({ partition, value: `${name}${String(i)}` }));
const messages = (...names: readonly string[]): readonly string[] =>
  names.flatMap((n) => ten(n, 0).map(({ value }) => JSON.stringify({ message: value }))).sort();

kafkaTest('C49: new partitions are read from their first record; offsets are the job’s own', async (kafka) => {
  await using topic = await kafka.topic();
  const group = `${topic.name}-group`;
  using ws = new Workspace();
  const reader = { topic: topic.name, groupId: group, mode: 'latest-offset', bounded: 'no', partitionDiscovery: 500 };
  const job = kafkaToFile(ws, kafka, reader, { checkpoint: { interval: 200 } });
  const args = ['run', job.path, '--output', 'json'];
  const first = startSync(args, { cwd: ws.dir });
  await until('it has begun', async () => {
    if (job.lines().length > 0) return true;
    await topic.send([{ value: 'first' }]); // latest-offset: what was sent before it began is not read
    return false;
  });
  const begun = job.lines().length;
  assert.ok(begun > 0);
  await topic.send(ten('a', 0));
  await topic.addPartitions(3);
  await topic.send([...ten('b', 1), ...ten('c', 2)]);
  const rows = (): readonly string[] => job.lines().filter((l) => !l.includes('first'));
  await until('all three partitions are read', () => rows().length >= 30);
  assert.deepEqual(rows(), messages('a', 'b', 'c'));

  const second = await sync(args, { cwd: ws.dir });
  assert.equal(second.code, 4, 'the second copy of the job finds it running');

  first.child.kill('SIGKILL');
  await first.done;
  // Tools may set the group's offsets as they like: the job goes on behind its own checkpoint.
  await until('the group can be set', async () => {
    await kafka.setGroupOffset(group, topic.name, 1, 0);
    return true;
  });
  await topic.send([...ten('d', 0), ...ten('e', 1), ...ten('f', 2)]);
  const third = startSync(args, { cwd: ws.dir });
  await until('what came meanwhile is read', () => rows().length >= 60);
  third.child.kill('SIGTERM');
  assert.equal((await third.done).code, 143);
  assert.deepEqual(rows(), messages('a', 'b', 'c', 'd', 'e', 'f'));
  const offsets = (await kafka.groupOffsets(group)).map((o) => o.offset).sort();
  assert.equal(offsets.length, 3);
  assert.deepEqual(offsets.slice(0, 2), [20, 20]);
});
