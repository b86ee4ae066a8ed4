/** C49: more partitions while the job runs, a second copy of the job, kill -9, and who owns the offsets. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
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

kafkaTest('C49: members of another tool in the group do not stop the job, nor take records from it', async (kafka) => {
  await using topic = await kafka.topic({ partitions: 2 });
  const group = `${topic.name}-group`;
  await topic.send([...ten('a', 0), ...ten('a', 1)]);
  // It commits as it ends, when a signal comes.
  const other = spawn('kcat', ['-b', kafka.brokers, '-G', group, '-u', '-X', 'auto.offset.reset=earliest', topic.name]);
  try {
    let seen = 0;
    other.stdout.on('data', (d: Buffer) => (seen += d.toString().split('\n').length - 1));
    await until('the other tool is a member', () => seen === 20);
    using ws = new Workspace();
    const reader = { topic: topic.name, groupId: group, mode: 'earliest-offset', bounded: 'no' };
    const job = kafkaToFile(ws, kafka, reader, { checkpoint: { interval: 50 } });
    const run = startSync(['run', job.path, '--output', 'json'], { cwd: ws.dir });
    await until('all is read', () => job.lines().length === 20);
    await topic.send([...ten('b', 0), ...ten('b', 1)]);
    await until('what came is read by both', () => job.lines().length === 40 && seen === 40);
    other.kill('SIGTERM');
    await once(other, 'exit');
    await topic.send(ten('c', 0));
    const offset = async (): Promise<number> =>
      (await kafka.groupOffsets(group)).find((o) => o.partition === 0)?.offset ?? -1;
    await until('the group has the offsets of the job', async () => (await offset()) === 30);
    run.child.kill('SIGTERM');
    const r = await run.done;
    assert.equal(r.code, 143, r.stderr);
    assert.deepEqual(job.lines(), messages('a', 'a', 'b', 'b', 'c'));
    assert.equal(r.stderr.split('offsets are not told to the group').length, 2, 'it is said once');
  } finally {
    other.kill('SIGKILL');
  }
});
